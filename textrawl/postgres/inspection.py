"""Questions to a database before a memory is opened: versions, indexes, the rights of a login."""

import time
from dataclasses import dataclass, replace
from typing import LiteralString

import anyio

from textrawl.errors import StartRefused
from textrawl.postgres.catalogue import compare_catalogue
from textrawl.postgres.connection import Connection, connect, is_distributed
from textrawl.postgres.database import Database, compose, translate
from textrawl.postgres.migration_record import describe_unfit
from textrawl.postgres.pool import (
    find_end,
    find_followed_timeline,
    find_position,
    find_system,
    find_timeline,
)
from textrawl.postgres.sqlstates import DataRefused

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
_MAY_BE_ANALYST = "select pg_has_role(session_user, 'textrawl_analyst', 'set')"
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
