"""Migrations of a database to the schema of this version.

Each migration is one transaction, and only one runs at a time. It drops views and functions, runs
the numbered files that the database has not recorded, and creates functions and views again.
Functions are dropped first, because Postgres refuses to change a column that a function reads.
If the functions of a database already match these files, nothing is changed. So most starts of a
server do not disturb other sessions.
"""

import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import LiteralString, cast

import anyio
import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo

from textrawl.errors import StartRefused
from textrawl.postgres.connection import (
    change,
    connect,
    is_distributed,
    make_password,
    write_verifier,
)
from textrawl.postgres.inspection import (
    describe_lock_holders,
    end_analyst_sessions,
    find_lock_holders,
)
from textrawl.postgres.migration_record import (
    REBUILT,
    compare_catalogue,
    describe_unfit,
    ensure_record,
    has_current_code,
    plan_migrations,
    require_current,
    write_record,
)
from textrawl.postgres.sql_files import (
    create_code,
    drop_code,
    read_folder,
)

APP_ROLE = "textrawl_app"
ANALYST_ROLE = "textrawl_analyst"
_OWNER_ROLE = "textrawl_owner"
OLDEST_POSTGRES = 16
OLDEST_PGVECTOR = (0, 8)
_MIGRATION_LOCK = "600s"  # longest wait for another migration; only the owner can hold this lock
_OTHER_LOCK = "5s"  # longest wait for any other lock, because meanwhile calls of servers wait too
_PAUSE = 1.0  # seconds between attempts, in which the waiting calls can run
_MOST_COLLISIONS = 4
# Errors if two migrations create the same schema, role or extension at the same time.
_COLLISIONS = (
    psycopg.errors.UniqueViolation,
    psycopg.errors.DuplicateObject,
    psycopg.errors.DuplicateSchema,
    psycopg.errors.InternalError_,  # "tuple concurrently updated"
)

_NO_EXTENSION = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.UndefinedFile,
    psycopg.errors.FeatureNotSupported,
)


@dataclass(frozen=True)
class MigrationReport:
    """The numbered files that a migration applied. `rebuilt` is true if it rebuilt functions."""

    applied: list[str]
    rebuilt: bool


async def migrate(
    conninfo: str,
    *,
    connect_timeout: float = 10,
    retry_limit: float = 60,
    of_node: bool = False,
    thorough: bool = False,
    rehearse: bool = False,
) -> MigrationReport:
    """Migrate the database at `conninfo`. Concurrent migrations wait for each other.

    `of_node` is true for one node of a distributed memory, whose nodes are migrated together. With
    `thorough`, also compare the catalogue of a database that is recorded as up to date, which takes
    a tenth of a second. With `rehearse`, roll everything back at the end.

    If sessions of analysts hold a needed lock for too long, end them if this login is allowed to.
    If other sessions hold it, retry the migration for `retry_limit` seconds.

    Raises StartRefused in these cases:

    - Postgres or pgvector is too old, pgvector is missing, or a privilege is missing.
    - The database was made by a newer version, or by a version from before the first release.
    - The tables are not those that the migrations of this version make.
    - Other views depend on the views of textrawl.
    - Other sessions hold a needed lock. The message names these sessions.
    - The memory is distributed, and this is not the migration of all its nodes.
    """
    async with await connect(conninfo, connect_timeout) as connection:
        await _check_server(connection)
        if not of_node and await is_distributed(connection):
            raise StartRefused(
                "This memory is distributed: run `textrawl migrate --distributed` as a superuser"
            )
        end, collisions = anyio.current_time() + retry_limit, 0
        while True:
            try:
                return await _attempt(connection, thorough=thorough, rehearse=rehearse)
            except _COLLISIONS:
                collisions += 1
                if collisions == _MOST_COLLISIONS:
                    raise
            except psycopg.errors.LockNotAvailable as error:
                holders = await find_lock_holders(connection)
                if anyio.current_time() > end:
                    reason = describe_lock_holders(holders)
                    raise StartRefused(f"The schema cannot be changed now: {reason}") from error
                await end_analyst_sessions(connection, holders)
                await anyio.sleep(_PAUSE)


async def _attempt(
    connection: AsyncConnection, *, thorough: bool, rehearse: bool
) -> MigrationReport:
    async with connection.transaction(force_rollback=rehearse):
        with _explain_faults():
            await _lock_migrations(connection)
            await change(connection, "set local lock_timeout = {}", sql.Literal(_OTHER_LOCK))
            schema = await _ensure_extension(connection)
            await _ensure_roles(connection)
            await _grant_connect(connection)
            await _set_owner_role(connection)
            return await _bring_up_to_date(connection, schema, thorough=thorough)


async def _lock_migrations(connection: AsyncConnection) -> None:
    """Wait until other migrations end. If there is no memory yet, `create schema` waits instead."""
    await change(connection, "set local lock_timeout = {}", sql.Literal(_MIGRATION_LOCK))
    if await _fetch(connection, "select 1 where to_regclass('textrawl.migration') is not null"):
        # Do not use an advisory lock, because every login could take it. Only the owner can lock
        # this table.
        await connection.execute("lock table textrawl.migration in share row exclusive mode")


@contextmanager
def _explain_faults() -> Generator[None]:
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise StartRefused(
            "This role may not create the schema of textrawl "
            f"({error.diag.message_primary}). Run `textrawl migrate` with a TEXTRAWL_DATABASE_URL "
            "of the database's owner, or grant this role `create` on the database"
        ) from error
    except psycopg.errors.DependentObjectsStillExist as error:
        raise StartRefused(
            "A migration rebuilds the views and functions of textrawl, but other objects depend on "
            f"them ({error.diag.message_detail}). Save the definitions of those objects "
            "(pg_get_viewdef), drop the objects, run `textrawl migrate`, and create them again"
        ) from error


async def check(conninfo: str, *, connect_timeout: float = 10, serving: bool = True) -> bool:
    """Raise StartRefused, with the command to run, unless the schema has this version.

    Return whether the memory is distributed.

    With `serving`, also refuse superusers, BYPASSRLS roles and the schema's owner.
    Raises DatabaseUnavailable if the database cannot be reached.
    """
    async with await connect(conninfo, connect_timeout) as connection:
        await _check_server(connection)
        try:
            await require_current(connection)
            if serving:
                await _check_role(connection)
            return await is_distributed(connection)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StartRefused(
                f"The role {connection.info.user} may not use the memory of this database: "
                f"as the owner of the memory, run `create role {APP_ROLE}`, `textrawl migrate` and "
                f"`grant {APP_ROLE} to {connection.info.user}`"
            ) from error


async def open_local_access(conninfo: str, actor: str) -> bytes:
    """Return a credential of `actor`, the user of this machine. `conninfo` is the owner's."""
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
            f"TEXTRAWL_DATABASE_URL logs in as {connection.info.user}, which is {row[0]}. "
            "Use that role only for `textrawl migrate` and other commands of an administrator, "
            "because row-level security does not apply to it. Servers log in as "
            f"{APP_ROLE}: `textrawl migrate --login` sets its first password, `alter role "
            f"{APP_ROLE} login password '...'` changes it"
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
        raise StartRefused(
            "The encoding of this database is not UTF8: create a database with encoding 'UTF8'"
        )


async def _ensure_extension(connection: AsyncConnection) -> str:
    """Return the schema of pgvector. If the extension is missing, try to create it."""
    query = """
        select n.nspname, e.extversion from pg_extension e
        join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'"""
    if (row := await _fetch(connection, query)) is None:
        try:
            async with connection.transaction():
                await connection.execute("create extension vector")
        except _NO_EXTENSION as error:
            raise StartRefused(
                "pgvector is missing: install version 0.8 or newer on the database server (hosted "
                "servers have it), then run `create extension vector` in this database as a "
                "superuser"
            ) from error
        row = await _fetch(connection, query)
    schema, version = cast("tuple[str, str]", row)
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < OLDEST_PGVECTOR:
        raise StartRefused(
            f"pgvector {version} is too old: textrawl needs 0.8 or newer. Install it on the "
            "database server, then run `alter extension vector update` as a superuser"
        )
    return schema


async def _ensure_roles(connection: AsyncConnection) -> None:
    """Create the roles that get grants, without login. An administrator enables their login."""
    for role in (APP_ROLE, ANALYST_ROLE):
        try:
            async with connection.transaction():
                await _create_role(connection, role)
        except (psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            continue  # the migration of another database has created it: databases share roles
        except psycopg.errors.InsufficientPrivilege as error:
            raise StartRefused(
                f"The role {role} does not exist and {connection.info.user} may not create it: as "
                f"a role with createrole run `create role {APP_ROLE} login password '...'; "
                f"create role {ANALYST_ROLE}`, then run `textrawl migrate` again"
            ) from error
    # The explorer runs the statements of people with this role. Without the grant it refuses them.
    with suppress(psycopg.errors.InsufficientPrivilege):
        async with connection.transaction():
            grant = "grant {} to {} with inherit false"
            await change(connection, grant, ANALYST_ROLE, APP_ROLE)


async def _grant_connect(connection: AsyncConnection) -> None:
    """Let both roles connect, because a database may refuse roles without this privilege."""
    query = "select has_database_privilege(%s, current_database(), 'connect')"
    for role in (APP_ROLE, ANALYST_ROLE):
        row = await (await connection.execute(query, (role,))).fetchone()
        if row == (False,):
            grant = "grant connect on database {} to {}"
            await change(connection, grant, connection.info.dbname, role)


async def _create_role(connection: AsyncConnection, role: str) -> None:
    cursor = await connection.execute("select from pg_roles where rolname = %s", (role,))
    if await cursor.fetchone() is None:
        await change(connection, "create role {} nologin", role)


async def enable_login(conninfo: str, *, connect_timeout: float = 10) -> str:
    """Give the login of servers its first password, and return the conninfo for servers.

    The database must be migrated. If the role can log in already, raise StartRefused and leave its
    password as it is.
    """
    async with await connect(conninfo, connect_timeout) as connection:
        row = await _fetch(
            connection,
            "select rolcanlogin, current_user::text from pg_roles where rolname = 'textrawl_app'",
        )
        can_log_in, user = cast("tuple[bool, str]", row)
        if can_log_in:
            raise StartRefused(
                f"{APP_ROLE} can log in already, and its password was not changed: run "
                f"`alter role {APP_ROLE} password '...'` to change it"
            )
        password = make_password()
        verifier = sql.Literal(write_verifier(password))
        try:
            await change(connection, "alter role {} login password {}", APP_ROLE, verifier)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StartRefused(
                f"{user} did not create {APP_ROLE} and may not change it: as an administrator run "
                f"`alter role {APP_ROLE} login password '...'`"
            ) from error
        # For some poolers, the login ends with the name of the project, as in postgres.abcdef.
        suffix = connection.info.user.removeprefix(user)
        login = APP_ROLE + (suffix if suffix.startswith(".") else "")
        return make_conninfo(conninfo, user=login, password=password)


async def _set_owner_role(connection: AsyncConnection) -> None:
    """As a superuser, switch to the memory's owner, and create this role if it does not exist.

    Functions run with the rights of their owner, so the owner must not be a superuser.
    """
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
        grant = "grant create on database {} to {}"
        await change(connection, grant, connection.info.dbname, owner)
    await change(connection, "set local role {}", owner)


async def _bring_up_to_date(
    connection: AsyncConnection, vector_schema: str, *, thorough: bool
) -> MigrationReport:
    await connection.execute("create schema if not exists textrawl")
    await change(connection, "set local search_path = textrawl, {}, pg_temp", vector_schema)
    await ensure_record(connection)
    plan = await plan_migrations(connection)
    # The tables of a distributed memory have other owners and triggers.
    thorough = thorough and not await is_distributed(connection)
    current = await has_current_code(connection)
    if current and not (plan.missing or plan.adopts):
        differences = await compare_catalogue(connection) if thorough else []
        if any(difference.kind not in REBUILT for difference in differences):
            raise StartRefused(describe_unfit(differences))
        if not differences:
            return MigrationReport([], rebuilt=False)
    files = read_folder("migrations")
    await drop_code(connection)
    for name in plan.missing:
        await connection.execute(files[name])
    await create_code(connection)
    await write_record(connection)
    if thorough and (differences := await compare_catalogue(connection)):
        raise StartRefused(describe_unfit(differences))
    return MigrationReport(plan.missing, rebuilt=True)
