"""Bringing a database to the schema of this version.

One transaction under an advisory lock: drop views and functions, run the numbered files that are
not recorded yet, create functions and views. Functions are rebuilt rather than altered because
their bodies are real dependencies: a column that one of them reads could not be changed under it.
A database whose functions are these very files is left alone, so that a start disturbs nobody.
"""

import hashlib
import re
from dataclasses import dataclass
from graphlib import TopologicalSorter
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import LiteralString, cast

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict

from textrawl.errors import DatabaseUnavailable, StartRefused

APP_ROLE = "textrawl_app"
OLDEST_POSTGRES = 16
OLDEST_PGVECTOR = (0, 8)
_LOCK = 0x7465787472  # "textr": the advisory lock that one migration at a time holds


# In refusals that pass by themselves:
_PASSING = ("too many", "remaining connection slots", "the database system is")


@dataclass(frozen=True)
class Report:
    """What a run did: names of the numbered files applied, and whether functions were rebuilt."""

    applied: list[str]
    rebuilt: bool


def _find_sql() -> Traversable:
    """The folder sql/: inside an installed package, beside the package in a checkout."""
    installed = resources.files("textrawl") / "sql"
    return installed if installed.is_dir() else Path(__file__).parents[1] / "sql"


def _read_folder(*names: str) -> dict[str, LiteralString]:
    """Files of sub-folders of sql/ by stem, in order of their names."""
    files = [file for name in names for file in (_find_sql() / name).iterdir()]
    texts = {
        file.name[:-4]: file.read_text("utf-8") for file in files if file.name.endswith(".sql")
    }
    # They ship with the package: as much literals as any string in this file.
    return cast("dict[str, LiteralString]", dict(sorted(texts.items())))


def _order(functions: dict[str, LiteralString]) -> list[str]:
    """Functions such that each comes after those its signature or body names."""
    graph = {
        name: {word for word in re.findall(r"textrawl\.(\w+)\(", text) if word in functions}
        - {name}
        for name, text in functions.items()
    }
    return list(TopologicalSorter(graph).static_order())


async def migrate(conninfo: str, *, connect_timeout: float = 10) -> Report:
    """Brings the database at `conninfo` up to date; several at once wait for each other.

    Raises StartRefused when Postgres or pgvector is too old or missing, a right is missing, or the
    database was made by a newer version of textrawl.
    """
    async with await connect(conninfo, connect_timeout) as connection:
        await _check_server(connection)
        async with connection.transaction():
            await connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
            try:
                schema = await _ensure_extension(connection)
                return await _bring_up_to_date(connection, schema)
            except psycopg.errors.InsufficientPrivilege as error:
                raise StartRefused(
                    "This role may not create the schema of textrawl "
                    f"({error.diag.message_primary}). Run `textrawl migrate` with a DATABASE_URL "
                    "of the database's owner, or grant it create on the database"
                ) from error


async def check(conninfo: str, *, connect_timeout: float = 10) -> None:
    """Raises StartRefused, saying what to run, unless the database is exactly up to date.

    Raises DatabaseUnavailable when it cannot be reached.
    """
    async with await connect(conninfo, connect_timeout) as connection:
        await _check_server(connection)
        try:
            await _check_schema(connection)
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
        raise StartRefused("The database is older than this textrawl: run `textrawl migrate`")
    if await _recorded_fingerprint(connection) != _fingerprint():
        raise StartRefused(
            "The database's functions are of another textrawl: run `textrawl migrate`"
        )


async def connect(conninfo: str, timeout: float) -> AsyncConnection:
    """A connection, waited for at most `timeout` seconds.

    Raises DatabaseUnavailable, caused by what libpq says, or StartRefused.
    """
    if not _is_readable(conninfo):
        # libpq repeats what it cannot read, which may be the password.
        raise StartRefused(
            "DATABASE_URL cannot be read: write postgresql://user:password@host:5432/database, "
            "with special characters of the password percent-encoded"
        )
    try:
        return await AsyncConnection.connect(
            conninfo,
            autocommit=True,
            connect_timeout=max(1, round(timeout)),
            application_name="textrawl migrate",
        )
    except psycopg.OperationalError as error:
        if refusal := _find_refusal(error):
            raise refusal from None
        raise DatabaseUnavailable(
            "Start Postgres, or check DATABASE_URL (host, port, database, user, password)"
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
    return StartRefused(f"Postgres answers, but refuses the login of DATABASE_URL: {reason}")


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
                "pgvector is missing: install it on the database server (0.8 or newer), then run "
                "`create extension vector` in this database as a superuser"
            ) from error
        found = await _fetch(connection, query)
    schema, version = cast("tuple[str, str]", found)
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < OLDEST_PGVECTOR:
        raise StartRefused(
            f"pgvector {version} is too old: textrawl needs 0.8 or newer. Install it on the "
            "database server, then run `alter extension vector update` as a superuser"
        )
    return schema


async def _bring_up_to_date(connection: AsyncConnection, vector_schema: str) -> Report:
    await connection.execute("create schema if not exists textrawl")
    await connection.execute(
        sql.SQL("set local search_path = textrawl, {}, pg_temp").format(
            sql.Identifier(vector_schema)
        )
    )
    await _ensure_records(connection)
    missing = await _missing_files(connection)
    if not missing and await _recorded_fingerprint(connection) == _fingerprint():
        return Report([], rebuilt=False)
    await _drop_code(connection)
    files = _read_folder("migrations")
    for name in missing:
        await connection.execute(files[name])
        await connection.execute("insert into migration (name) values (%s)", (name,))
    await _create_code(connection)
    return Report(missing, rebuilt=True)


async def _ensure_records(connection: AsyncConnection) -> None:
    if await _fetch(connection, "select 1 where to_regclass('textrawl.migration') is not null"):
        return
    await connection.execute("""
        comment on schema textrawl is
            'Shared memory for AI agents. Read the memory_* views; write through the functions.';
        create table migration (
            name text primary key, applied_at timestamptz not null default now());
        comment on table migration is 'Numbered schema files that were applied, and when.';
        create table code (
            singleton boolean primary key default true check (singleton),
            fingerprint text not null);
        comment on table code is 'Fingerprint of the function and view files now in the database.';
    """)


async def _missing_files(connection: AsyncConnection) -> list[str]:
    """Numbered files not applied yet, in order. Raises StartRefused when the database is newer."""
    cursor = await connection.execute("select name from textrawl.migration")
    recorded = {str(name) for (name,) in await cursor.fetchall()}
    files = _read_folder("migrations")
    if unknown := recorded - files.keys():
        raise StartRefused(
            f"The database was made by a newer textrawl (it has {max(unknown)}): upgrade textrawl"
        )
    return [name for name in files if name not in recorded]


def _fingerprint() -> str:
    texts = _read_folder("memory", "views")
    return hashlib.sha256("\0".join(f"{k}\0{v}" for k, v in texts.items()).encode()).hexdigest()


async def _recorded_fingerprint(connection: AsyncConnection) -> str | None:
    row = await _fetch(connection, "select fingerprint from textrawl.code")
    return str(row[0]) if row else None


async def _drop_code(connection: AsyncConnection) -> None:
    # One statement for all: they depend on each other, and on nothing else that may go with them.
    await connection.execute("""
        do $$
        declare
            names text;
        begin
            select string_agg(oid::regclass::text, ', ') into names from pg_class
            where relnamespace = 'textrawl'::regnamespace and relkind = 'v';
            if names is not null then
                execute 'drop view ' || names;
            end if;
            select string_agg(oid::regprocedure::text, ', ') into names from pg_proc
            where pronamespace = 'textrawl'::regnamespace;
            if names is not null then
                execute 'drop function ' || names;
            end if;
        end
        $$""")


async def _create_code(connection: AsyncConnection) -> None:
    functions = _read_folder("memory")
    for name in _order(functions):
        await connection.execute(functions[name])
    for view in _read_folder("views").values():
        await connection.execute(view)
    await connection.execute("revoke execute on all functions in schema textrawl from public")
    if await _fetch(connection, "select 1 from pg_roles where rolname = 'textrawl_app'"):
        await connection.execute("""
            grant usage on schema textrawl to textrawl_app;
            grant execute on all functions in schema textrawl to textrawl_app;
            grant select on migration, code to textrawl_app""")
    await connection.execute(
        """insert into code (fingerprint) values (%s)
           on conflict (singleton) do update set fingerprint = excluded.fingerprint""",
        (_fingerprint(),),
    )
