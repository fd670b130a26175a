"""Bringing a database to the schema of this version.

One transaction, one at a time: drop views and functions, run the numbered files that are
not recorded yet, create functions and views. Functions are rebuilt rather than altered because
their bodies are real dependencies: a column that one of them reads could not be changed under it.
A database whose functions are these very files is left alone, so that a start disturbs nobody.
"""

import re
from collections.abc import Generator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import LiteralString, cast

import anyio
import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from textrawl.errors import DatabaseUnavailable, SchemaOutdated, StartRefused
from textrawl.postgres.connection import Connection, find_pooler
from textrawl.postgres.lock_holders import describe_holders, end_analysts, find_holders
from textrawl.postgres.passwords import make_password, write_verifier
from textrawl.postgres.sql_files import (
    create_code,
    drop_code,
    find_missing,
    read_fingerprint,
    read_folder,
)

APP_ROLE = "textrawl_app"
ANALYST_ROLE = "textrawl_analyst"
_OWNER_ROLE = "textrawl_owner"
OLDEST_POSTGRES = 16
OLDEST_PGVECTOR = (0, 8)
_TURN = "600s"  # until another migration has ended; nobody but the owner can hold that lock
_LOCK = "5s"  # for any other lock: calls of servers wait behind it meanwhile
_PAUSE = 1.0  # seconds for those who waited behind an attempt
_MOST_COLLISIONS = 4
# Two at once make the same schema, role or extension in a database that has none.
_COLLISIONS = (
    psycopg.errors.UniqueViolation,
    psycopg.errors.DuplicateObject,
    psycopg.errors.DuplicateSchema,
    psycopg.errors.InternalError_,  # "tuple concurrently updated"
)

# In refusals that pass by themselves:
_PASSING = ("too many", "remaining connection slots", "the database system is")


@dataclass(frozen=True)
class Report:
    """What a run did: names of the numbered files applied, and whether functions were rebuilt."""

    applied: list[str]
    rebuilt: bool


async def migrate(conninfo: str, *, connect_timeout: float = 10, patience: float = 60) -> Report:
    """Brings the database at `conninfo` up to date; several at once wait for each other.

    What analysts hold for longer than a moment is taken from them, where this login may end their
    sessions; for others it tries again and again, `patience` seconds in all.

    Raises StartRefused when Postgres or pgvector is too old or missing, a right is missing, or the
    database was made by a newer version of textrawl or one from before the first release, or
    somebody's own views depend on ours, or others hold what it needs: it names them.
    """
    async with await connect(conninfo, connect_timeout) as connection:
        await _check_server(connection)
        end = anyio.current_time() + patience
        collisions = 0
        while True:
            try:
                return await _attempt(connection)
            except _COLLISIONS:
                collisions += 1
                if collisions == _MOST_COLLISIONS:
                    raise
            except psycopg.errors.LockNotAvailable as error:
                holders = await find_holders(connection)
                if anyio.current_time() > end:
                    told = describe_holders(holders)
                    raise StartRefused(f"The schema cannot be changed now: {told}") from error
                await end_analysts(connection, holders)
                await anyio.sleep(_PAUSE)


async def _attempt(connection: AsyncConnection) -> Report:
    async with connection.transaction():
        with _explain_faults():
            await _take_turn(connection)
            await connection.execute(sql.SQL("set local lock_timeout = {}").format(_LOCK))
            schema = await _ensure_extension(connection)
            await _ensure_roles(connection)
            await _let_connect(connection)
            await _become_owner(connection)
            return await _bring_up_to_date(connection, schema)


async def _take_turn(connection: AsyncConnection) -> None:
    """Waits for another migration; in a database without a memory, making the schema does that."""
    await connection.execute(sql.SQL("set local lock_timeout = {}").format(_TURN))
    if await _fetch(connection, "select 1 where to_regclass('textrawl.migration') is not null"):
        # No advisory lock: any login can take one. This table only the owner can lock.
        await connection.execute("lock table textrawl.migration in share row exclusive mode")


@contextmanager
def _explain_faults() -> Generator[None]:
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise StartRefused(
            "This role may not create the schema of textrawl "
            f"({error.diag.message_primary}). Run `textrawl migrate` with a TEXTRAWL_DATABASE_URL "
            "of the database's owner, or grant it create on the database"
        ) from error
    except psycopg.errors.DependentObjectsStillExist as error:
        raise StartRefused(
            "textrawl makes its views and functions anew, and others were built on them "
            f"({error.diag.message_detail}). Note what those are (pg_get_viewdef), drop them, run "
            "`textrawl migrate`, and make them again"
        ) from error


async def check(conninfo: str, *, connect_timeout: float = 10, serving: bool = True) -> None:
    """Raises StartRefused, saying what to run, unless the database is exactly up to date.

    So it does, where a server wants to serve from it, for a role that no wall in it would stop.
    Raises DatabaseUnavailable when it cannot be reached.
    """
    async with await connect(conninfo, connect_timeout) as connection:
        await _check_server(connection)
        try:
            await _check_schema(connection)
            if serving:
                await _check_role(connection)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StartRefused(
                f"The role {connection.info.user} may not use the memory of this database: "
                f"as its owner run `create role {APP_ROLE}`, `textrawl migrate` and "
                f"`grant {APP_ROLE} to {connection.info.user}`"
            ) from error


async def _check_schema(connection: AsyncConnection) -> None:
    row = await _fetch(connection, "select to_regclass('textrawl.migration') is not null")
    if not row or not row[0]:
        raise StartRefused("This database has no memory yet: run `textrawl migrate`")
    if await _missing_files(connection):
        raise SchemaOutdated("The database is older than this textrawl: run `textrawl migrate`")
    if await _recorded_fingerprint(connection) != read_fingerprint():
        raise SchemaOutdated(
            "The database's functions are of another textrawl: run `textrawl migrate`"
        )


async def open_local_access(conninfo: str, actor: str) -> bytes:
    """The credential of `actor`, on whose machine this memory is; `conninfo` is the owner's."""
    async with await connect(conninfo, 10) as connection:
        cursor = await connection.execute("select textrawl.open_local_access(%s)", (actor,))
        row = await cursor.fetchone()
    return cast("tuple[bytes]", row)[0]


async def _check_role(connection: AsyncConnection) -> None:
    query = """
        select case when rolsuper then 'a superuser'
                    when rolbypassrls then 'exempt from row security'
                    when pg_has_role(pg_roles.oid, nspowner, 'member')
                    then 'the owner of the memory' end
        from pg_roles, pg_namespace where rolname = current_user and nspname = 'textrawl'"""
    row = await _fetch(connection, query)
    if row and row[0]:
        raise StartRefused(
            f"TEXTRAWL_DATABASE_URL logs in as {connection.info.user}, which is {row[0]}: that is "
            "for `textrawl migrate` and other commands of an administrator. In a server a mistake "
            f"could then show one space to another. Let servers log in as {APP_ROLE}: `textrawl "
            f"migrate --login` gives it its first password, `alter role {APP_ROLE} login password "
            "'...'` another"
        )


async def connect(conninfo: str, timeout: float) -> Connection:
    """A connection, waited for at most `timeout` seconds, that knows of a pooler.

    Raises DatabaseUnavailable, caused by what libpq says, or StartRefused.
    """
    if not _is_readable(conninfo):
        # libpq repeats what it cannot read, which may be the password.
        raise StartRefused(
            "TEXTRAWL_DATABASE_URL cannot be read: write "
            "postgresql://user:password@host:5432/database, with special characters of the "
            "password percent-encoded"
        )
    try:
        async with AsyncExitStack() as stack:
            connection = await Connection.connect(
                conninfo,
                autocommit=True,
                connect_timeout=max(1, round(timeout)),
                application_name="textrawl migrate",
            )
            stack.push_async_callback(connection.close)
            await find_pooler(connection)  # it may find out only now that Postgres is away
            stack.pop_all()
            return connection
    except psycopg.OperationalError as error:
        if refusal := _find_refusal(error):
            raise refusal from None
        raise DatabaseUnavailable(
            "Start Postgres, or check TEXTRAWL_DATABASE_URL (host, port, database, user, password)"
        ) from error


def _is_readable(conninfo: str) -> bool:
    """Whether no piece of a password that was not encoded is taken for something else."""
    try:
        given = conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError:
        return False
    ports = str(given.get("port") or "").split(",")
    places = f"{given.get('host')}{given.get('dbname')}"
    return "@" not in places and all(port.isdecimal() for port in ports if port)


def _find_refusal(error: psycopg.OperationalError) -> StartRefused | None:
    """Why waiting for Postgres would not help; None if it might."""
    # Not by PQping, which would hold up every thread of this process while it waits.
    _, fatal, told = str(error).rpartition("FATAL:")
    if not fatal or any(words in told for words in _PASSING):
        return None
    reason = told.strip().splitlines()[0]
    return StartRefused(
        f"Postgres answers, but refuses the login of TEXTRAWL_DATABASE_URL: {reason}"
    )


async def _fetch(connection: AsyncConnection, query: LiteralString) -> tuple[object, ...] | None:
    return await (await connection.execute(query)).fetchone()


async def _check_server(connection: AsyncConnection) -> None:
    version = connection.info.server_version // 10_000
    if version < OLDEST_POSTGRES:
        raise StartRefused(
            f"PostgreSQL {version} is too old: textrawl needs {OLDEST_POSTGRES} to 18"
        )
    row = await _fetch(connection, "show server_encoding")
    if row != ("UTF8",):
        raise StartRefused("The database's encoding is not UTF8: create one with encoding 'UTF8'")


async def _ensure_extension(connection: AsyncConnection) -> str:
    """The schema of pgvector, which is installed where that takes no more than asking."""
    query = """
        select n.nspname, e.extversion from pg_extension e
        join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'"""
    if (found := await _fetch(connection, query)) is None:
        try:
            async with connection.transaction():
                await connection.execute("create extension vector")
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFile,
                psycopg.errors.FeatureNotSupported) as error:  # fmt: skip
            raise StartRefused(
                "pgvector is missing: install it on the database server (0.8 or newer; hosted ones "
                "have it), then run `create extension vector` in this database as a superuser"
            ) from error
        found = await _fetch(connection, query)
    schema, version = cast("tuple[str, str]", found)
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < OLDEST_PGVECTOR:
        raise StartRefused(
            f"pgvector {version} is too old: textrawl needs 0.8 or newer. Install it on the "
            "database server, then run `alter extension vector update` as a superuser"
        )
    return schema


async def _ensure_roles(connection: AsyncConnection) -> None:
    """The roles that are granted something; whoever administers gives them logins."""
    for role in (APP_ROLE, ANALYST_ROLE):
        try:
            async with connection.transaction():
                await _create_role(connection, role)
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            continue  # roles belong to all databases: another's migration was quicker
        except psycopg.errors.InsufficientPrivilege as error:
            raise StartRefused(
                f"There is no role {role} and {connection.info.user} may not create it: as a role "
                f"with createrole run `create role {APP_ROLE} login password '...'; "
                f"create role {ANALYST_ROLE}`, then `textrawl migrate` again"
            ) from error


async def _let_connect(connection: AsyncConnection) -> None:
    """Let the two roles connect where not everybody may."""
    database = sql.Identifier(connection.info.dbname)
    for role in (APP_ROLE, ANALYST_ROLE):
        may = "select has_database_privilege(%s, current_database(), 'connect')"
        row = await (await connection.execute(may, (role,))).fetchone()
        if row == (False,):
            grant = sql.SQL("grant connect on database {} to {}")
            await connection.execute(grant.format(database, sql.Identifier(role)))


async def _create_role(connection: AsyncConnection, role: str) -> None:
    known = await connection.execute("select from pg_roles where rolname = %s", (role,))
    if await known.fetchone() is None:
        await connection.execute(sql.SQL("create role {} nologin").format(sql.Identifier(role)))


async def open_login(conninfo: str, *, connect_timeout: float = 10) -> str:
    """The conninfo for servers, whose login gets its first password, on a database that fits.

    Raises StartRefused where they can log in already: nobody's password is changed.
    """
    async with await connect(conninfo, connect_timeout) as connection:
        row = await _fetch(
            connection,
            "select rolcanlogin, current_user::text from pg_roles where rolname = 'textrawl_app'",
        )
        able, user = cast("tuple[bool, str]", row)
        if able:
            raise StartRefused(
                f"{APP_ROLE} can log in already, and its password is left as it is: run "
                f"`alter role {APP_ROLE} password '...'` to change it"
            )
        password = make_password()
        statement = sql.SQL("alter role {} login password {}").format(
            sql.Identifier(APP_ROLE), sql.Literal(write_verifier(password))
        )
        try:
            await connection.execute(statement)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StartRefused(
                f"{user} did not create {APP_ROLE} and may not change it: as an administrator run "
                f"`alter role {APP_ROLE} login password '...'`"
            ) from error
        # Some poolers are told by the login which project is meant: postgres.abcdef.
        suffix = connection.info.user.removeprefix(user)
        login = APP_ROLE + (suffix if suffix.startswith(".") else "")
        return make_conninfo(conninfo, user=login, password=password)


async def _become_owner(connection: AsyncConnection) -> None:
    """Lets the rest be done by the memory's owner, who is no superuser: functions run as theirs."""
    row = await _fetch(
        connection,
        """select (select nspowner::regrole::text from pg_namespace where nspname = 'textrawl'),
                  rolsuper from pg_roles where rolname = current_user""",
    )
    owner, superuser = cast("tuple[str | None, bool]", row)
    if not superuser:
        return
    if owner is None:
        owner = _OWNER_ROLE
        await _create_role(connection, owner)
        await connection.execute(
            sql.SQL("grant create on database {} to {}").format(
                sql.Identifier(connection.info.dbname), sql.Identifier(owner)
            )
        )
    await connection.execute(sql.SQL("set local role {}").format(sql.Identifier(owner)))


async def _bring_up_to_date(connection: AsyncConnection, vector_schema: str) -> Report:
    await connection.execute("create schema if not exists textrawl")
    await connection.execute(
        sql.SQL("set local search_path = textrawl, {}, pg_temp").format(
            sql.Identifier(vector_schema)
        )
    )
    await _ensure_records(connection)
    missing = await _missing_files(connection)
    if not missing and await _recorded_fingerprint(connection) == read_fingerprint():
        return Report([], rebuilt=False)
    await drop_code(connection)
    files = read_folder("migrations")
    for name in missing:
        await connection.execute(files[name])
        await connection.execute("insert into migration (name) values (%s)", (name,))
    await create_code(connection)
    return Report(missing, rebuilt=True)


async def _ensure_records(connection: AsyncConnection) -> None:
    if await _fetch(connection, "select 1 where to_regclass('textrawl.migration') is not null"):
        return
    await connection.execute("""
        comment on schema textrawl is
            'Shared memory for AI agents. Read the memory_* views; write through the functions.';
        create table migration (
            name text primary key, applied_at timestamptz not null default now());
        comment on table migration is 'Migrations that were applied: the numbered files of tables.';
        comment on column migration.name is 'Name of the file.';
        comment on column migration.applied_at is 'When it was applied.';
        create table code (
            singleton boolean primary key default true check (singleton),
            fingerprint text not null);
        comment on table code is 'Fingerprint of the functions and views in this database.';
        comment on column code.singleton is 'Always true, because the table has one row.';
        comment on column code.fingerprint is
            'SHA-256 of the files of functions, views and grants.';
    """)


async def _missing_files(connection: AsyncConnection) -> list[str]:
    """Return the migrations that the database does not have yet. Raises StartRefused."""
    cursor = await connection.execute("select name from textrawl.migration")
    return find_missing({str(name) for (name,) in await cursor.fetchall()}, "database")


async def _recorded_fingerprint(connection: AsyncConnection) -> str | None:
    row = await _fetch(connection, "select fingerprint from textrawl.code")
    return str(row[0]) if row else None
