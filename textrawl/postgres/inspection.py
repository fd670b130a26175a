"""Questions to a database: versions, indexes, the rights of a login, and what its sessions do."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, LiteralString

import anyio
import psycopg
from psycopg import AsyncConnection

from textrawl.errors import ServerBusy, StartRefused
from textrawl.postgres.connection import Connection, OwnerLogin, connect, is_distributed
from textrawl.postgres.database import Database, compose, translate
from textrawl.postgres.migration_record import compare_catalogue, describe_unfit
from textrawl.postgres.pool import (
    find_end,
    find_followed_timeline,
    find_position,
    find_system,
    find_timeline,
)
from textrawl.postgres.sqlstates import DataRefused
from textrawl.scheduling import run_beside

_PGVECTOR = """
    select (select extversion from pg_extension where extname = 'vector'),
           (select default_version from pg_available_extensions where name = 'vector')
"""


_MODEL = "select name from textrawl.embedding_models() where status = 'active'"


# All vector indexes, including those that are missing.
_INDEXES = """
    select coalesce(c.relname, m.expected),
           case when c.oid is null then 'missing'
                when i.indisvalid then 'ready' else 'unfinished' end
    from (select 'embedding_' || model_id || '_vector_idx' as expected
          from textrawl.embedding_models() where status <> 'building') m
    full join (
        pg_class c
        join pg_am a on a.oid = c.relam and a.amname = 'hnsw'
        join pg_index i on i.indexrelid = c.oid and c.relnamespace = 'textrawl'::regnamespace
    ) on c.relname = m.expected
    order by 1
"""


_LAG_PAUSE = 0.005
# Servers may have this role only for the statements of the explorer.
_MAY_BE_ANALYST = """
    select pg_has_role(session_user, 'textrawl_analyst', 'set')
       and (textrawl.owns_memory() or not pg_has_role(session_user, 'textrawl_app', 'member'))
"""
# A session through a pooler cannot set options, so the login itself must be read-only.
_IS_READ_ONLY = """
    select current_setting('default_transaction_read_only')::boolean and not textrawl.owns_memory()
"""


@dataclass(frozen=True)
class Server:
    """A server, with its versions. `offered` is the version of pgvector that it can install."""

    postgres: str
    pgvector: str | None
    offered: str | None
    login: str = ""
    pooled: bool = False


async def inspect_server(conninfo: str, *, timeout: float) -> Server:
    """Return the versions of a server. Raises DatabaseUnavailable, StartRefused."""
    async with await connect(conninfo, timeout) as connection:
        row = await (await connection.execute(_PGVECTOR)).fetchone()
        version = connection.info.parameter_status("server_version") or "of unknown version"
        pgvector, offered = row or (None, None)
        return Server(
            version.split(" ")[0], pgvector, offered, connection.info.user, connection.pooled
        )


async def find_active_model(conninfo: str, *, timeout: float) -> str | None:
    """Return the name of a memory's active model, or None if it has no model yet.

    Raises DatabaseUnavailable, StartRefused.
    """
    async with await connect(conninfo, timeout) as connection:
        row = await (await connection.execute(_MODEL)).fetchone()
        return row[0] if row else None


async def find_vector_indexes(conninfo: str, *, timeout: float) -> dict[str, str]:
    """Return the state of each vector index by name: ready, unfinished or missing.

    An unfinished index is being built, or its build was interrupted.

    Raises DatabaseUnavailable, StartRefused.
    """
    async with await connect(conninfo, timeout) as connection:
        rows = await (await connection.execute(_INDEXES)).fetchall()
        return {str(name): str(state) for name, state in rows}


async def require_expected_schema(conninfo: str, *, timeout: float) -> None:
    """Raise StartRefused, with what differs, if the tables or functions are not as expected.

    A distributed memory is not compared, because its tables have other owners and triggers. Raises
    DatabaseUnavailable too.
    """
    async with await connect(conninfo, timeout) as connection:
        if await is_distributed(connection):
            return
        if differences := await compare_catalogue(connection):
            raise StartRefused(describe_unfit(differences))


async def rehearse(database: Database, function: LiteralString, **arguments: object) -> None:
    """Call a SQL function that writes, and roll it back. The memory must be on one Postgres.

    Raises TextrawlError.
    """
    query = compose("textrawl", function, ("entity_name",), tuple(arguments))
    try:
        with translate(function):
            async with database.lend() as connection, connection.transaction(force_rollback=True):
                await connection.execute(query, arguments)
    except DataRefused as refusal:
        raise refusal.explain() from refusal


async def require_analyst(conninfo: str, *, timeout: float) -> bool:
    """Require the login of an analyst. Return True if it connects through a pooler.

    Raises StartRefused for other logins, and for a login that could write through a pooler.
    """
    async with await connect(conninfo, timeout) as connection:
        login = connection.info.user
        if await (await connection.execute(_MAY_BE_ANALYST)).fetchone() != (True,):
            raise StartRefused(
                f"The login {login} is not an analyst: create one with `textrawl analyst "
                "create NAME --space SPACE`, then run `textrawl psql --as NAME`"
            )
        if connection.pooled and await (await connection.execute(_IS_READ_ONLY)).fetchone() != (
            True,
        ):
            raise StartRefused(
                f"TEXTRAWL_DATABASE_URL leads through a pooler, where {login} cannot be made "
                "read-only: run `textrawl psql --as NAME`, or use the address of Postgres itself"
            )
        return connection.pooled


async def is_pooled(conninfo: str, *, timeout: float) -> bool:
    """Return True if `conninfo` leads through a pooler.

    Raises DatabaseUnavailable, StartRefused.
    """
    async with await connect(conninfo, timeout) as connection:
        return connection.pooled


@dataclass(frozen=True)
class ServerPair:
    """A primary and a standby, by host and port.

    `related` is true if both have the same cluster, database and login. `follows` is true if the
    standby is known to have the timeline of the primary. `lag` is the time in seconds until the
    standby had replayed what the primary had at the start. It is None if that took too long.
    """

    primary: str
    standby: str
    related: bool
    in_recovery: bool
    follows: bool = False
    lag: float | None = None


async def compare_servers(
    primary: str, standby: str, *, timeout: float, most_lag: float
) -> ServerPair:
    """Compare a primary with its standby, and measure the lag for at most `most_lag` seconds.

    Raises DatabaseUnavailable, StartRefused.
    """
    async with await connect(standby, timeout) as reader, await connect(primary, timeout) as writer:
        system = await find_system(writer)
        pair = ServerPair(
            _name(writer),
            _name(reader),
            related=system is not None and system == await find_system(reader),
            in_recovery=(await find_position(reader)).in_recovery,
            follows=await find_timeline(writer) <= await find_followed_timeline(reader),
        )
        if not (pair.related and pair.in_recovery and pair.follows):
            return pair
        return replace(pair, lag=await _measure_lag(writer, reader, most_lag))


async def _measure_lag(writer: Connection, reader: Connection, most: float) -> float | None:
    began, end = time.monotonic(), await find_end(writer)
    with anyio.move_on_after(most):
        while True:
            if (await find_position(reader)).replayed >= end:
                return time.monotonic() - began
            await anyio.sleep(_LAG_PAUSE)
    return None


def _name(connection: Connection) -> str:
    return f"{connection.info.host}:{connection.info.port}"


Report = Callable[[str, int, int | None], object]
"""A function that gets a stage of the work, and how much of it is done of how much."""

_PAUSE = 0.5  # seconds between two looks
_COPIES = """
    select relid, tuples_processed from pg_stat_progress_copy where datname = current_database()
"""
_BUILDS = """
    select blocks_done, blocks_total from pg_stat_progress_create_index
    where datname = current_database() and blocks_total > 0
"""


def ignore(stage: str, done: int, total: int | None) -> None:
    """Show no progress."""


@asynccontextmanager
async def watch_copies(
    login: OwnerLogin, stage: str, total: int, report: Report
) -> AsyncGenerator[None]:
    """Report the progress of all copies in the database of `login` during the block.

    A table counts as far as it was seen, so the last rows of a table can be missing. Indexes are a
    stage of their own.
    """
    async with (
        await connect(login.conninfo, login.timeout) as connection,
        run_beside(partial(_look, connection, stage, total, report)),
    ):
        yield


async def _look(connection: Connection, stage: str, total: int, report: Report) -> None:
    seen = dict[int, int]()
    while True:
        copies = await connection.execute(_COPIES)
        if found := dict(await copies.fetchall()):
            seen |= found
            report(stage, min(sum(seen.values()), total), total)
        builds = await connection.execute(_BUILDS)
        for done, blocks in await builds.fetchall():
            report("Building indexes", done, blocks)
        await anyio.sleep(_PAUSE)


# Every login can read these columns, also for sessions of other roles.
_LOCKS = """
    select l.pid, l.virtualtransaction, a.usename::text, bool_and(l.mode = 'AccessShareLock')
    from pg_locks l
    join pg_stat_activity a on a.pid = l.pid
    where l.granted and l.pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())
      and l.relation in (select oid from pg_class where relnamespace = to_regnamespace('textrawl'))
    group by 1, 2, 3
"""
# A server that was never migrated does not have the role of analysts.
_END = """
    select pg_terminate_backend(a.pid)
    from pg_stat_activity a
    where a.pid = %s
      and exists (select from pg_locks l where l.pid = a.pid and l.virtualtransaction = %s)
      and exists (select from pg_roles r where r.rolname = 'textrawl_analyst'
                  and pg_has_role(a.usesysid, r.oid, 'member'))
      and not pg_has_role(a.usesysid, 'textrawl_app', 'member')
      and not pg_has_role(
          a.usesysid, (select nspowner from pg_namespace where nspname = 'textrawl'), 'member')
"""


@dataclass(frozen=True, order=True)
class LockHolder:
    """A transaction with locks on tables of the memory. `reads` is true if it only reads them."""

    pid: int
    transaction: str
    login: str
    reads: bool


async def find_lock_holders(connection: AsyncConnection[Any]) -> list[LockHolder]:
    """Return the transactions that hold locks for 0.5 s: writers, or readers if no writer does."""
    before = await _read_lock_holders(connection)
    await anyio.sleep(_PAUSE)
    holders = sorted(before & await _read_lock_holders(connection))
    return [holder for holder in holders if not holder.reads] or holders


async def _read_lock_holders(connection: AsyncConnection[Any]) -> set[LockHolder]:
    cursor = await connection.execute(_LOCKS)
    return {LockHolder(*row) for row in await cursor.fetchall()}


async def end_analyst_sessions(connection: AsyncConnection[Any], holders: list[LockHolder]) -> None:
    """End the sessions of analysts among `holders`, if this login is allowed to end them."""
    for holder in holders:
        with suppress(psycopg.errors.InsufficientPrivilege):
            await connection.execute(_END, (holder.pid, holder.transaction))


def describe_lock_holders(holders: list[LockHolder]) -> str:
    """Return a part of a message that names the sessions and says what to do."""
    if not holders:
        return "another session holds a lock that this command needs: run it again later"
    names = ", ".join(f"{holder.login} (process {holder.pid})" for holder in holders[:5])
    return (
        f"{names} holds a lock that this command needs: wait until it is released and run the "
        "command again, or end that session as an administrator with "
        f"`select pg_terminate_backend({holders[0].pid})`"
    )


@asynccontextmanager
async def name_lock_holders(conninfo: str, timeout: float) -> AsyncGenerator[None]:
    """Add the sessions that hold the lock to a ServerBusy that the `with` block raises."""
    try:
        yield
    except ServerBusy as error:
        async with await connect(conninfo, timeout) as connection:
            holders = await find_lock_holders(connection)
        if not holders:
            raise
        raise ServerBusy(f"{describe_lock_holders(holders)}; nothing was changed") from error
