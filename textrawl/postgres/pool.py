"""A pool of connections to one Postgres server, and the ways to send it the statement of a call."""

import logging
import select
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import psycopg
from psycopg import sql
from psycopg.rows import args_row
from psycopg_pool import AsyncConnectionPool

from textrawl.postgres.connection import (
    Connection,
    compose_settings,
    detect_pooler,
    register_vectors,
)

logger = logging.getLogger("textrawl")

Row = TypeVar("Row")
Pool = AsyncConnectionPool[Connection]

_MOST_WAITING = 200  # calls that can wait for a connection; further calls get ServerBusy
_RECONNECT = 0.5  # seconds of failed attempts to connect, before the pool calls reconnect_failed
_CHECK = 500  # Postgres checks every 500 ms of a statement that its client is connected
_LONGEST_WAIT = 30_000  # milliseconds for a lock, even if the statement has a longer time limit

_LOGIN = {"autocommit": True, "application_name": "textrawl"}
# The end of everything that is committed. If `synchronous_commit` is off, a commit is acknowledged
# before it is flushed. Otherwise the flushed part is enough, and it reaches a standby sooner.
_END_OF_WAL = b"""
    select pg_wal_lsn_diff(case when current_setting('synchronous_commit') = 'off'
        then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end, '0/0')::bigint
"""
# The id of the cluster is the same on a primary and its standbys, and on no other servers. Another
# database has other memories, and another login can have other rights.
# The condition fails where a provider does not offer the positions in the WAL.
_SYSTEM = b"""
    select concat_ws(' ', system_identifier, (
               select oid from pg_database where datname = current_database()), session_user)
    from pg_control_system()
    where case when pg_is_in_recovery() then pg_last_wal_replay_lsn()
          else pg_current_wal_flush_lsn() end is not null
"""
# Each promotion begins a new timeline. A standby has none of its own.
_TIMELINE = b"""
    select case when pg_is_in_recovery() then 0
           else ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::integer end
"""
_NOT_OFFERED = (
    psycopg.errors.FeatureNotSupported,
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.InternalError_,
    psycopg.errors.UndefinedFunction,
)
_READS = b"""
    select p.proname::text from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace and n.nspname = 'textrawl'
    group by 1 having bool_and(p.provolatile <> 'v')
"""
_NO_END = b"select 0"
_POSITION = b"""
    select pg_is_in_recovery(),
           coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::bigint
"""


@dataclass(frozen=True)
class Statement(Generic[Row]):
    """A call of a SQL function, with the dataclass of its rows."""

    query: bytes
    row: type[Row]
    values: Mapping[str, object]


@dataclass(frozen=True)
class Position:
    """The state of a server. `replayed` is the end of the replayed WAL, 0 if it replays none."""

    in_recovery: bool
    replayed: int


class ServerPool:
    """The connections to one server. `timeout` is the time limit of a call in seconds.

    `connect_timeout` is the time limit of an attempt to connect to one of its hosts. With `learns`,
    the pool knows the functions that write nothing (`reads`), and the cluster, the database and the
    login of its connections (`system`).
    """

    def __init__(
        self,
        conninfo: str,
        *,
        timeout: float,
        connect_timeout: float,
        max_size: int,
        learns: bool = False,
    ) -> None:
        self._timeout, self._learns = timeout, learns
        self.reads: frozenset[str] = frozenset()
        self.system: str | None = None
        self._timelines: dict[str, int] = {}
        self._refused = ""
        self._set_limits = _write_limits(timeout)
        self._pool: Pool = AsyncConnectionPool(
            conninfo,
            connection_class=Connection,
            min_size=1,
            max_size=max_size,
            timeout=timeout,
            max_waiting=_MOST_WAITING,
            reconnect_timeout=_RECONNECT,
            reconnect_failed=_retry_for_waiting_calls,
            open=False,
            check=self._check_connection,
            configure=self._configure,
            kwargs=_LOGIN | {"connect_timeout": max(1, round(connect_timeout))},
            name="textrawl",
        )

    async def open(self) -> None:
        """Start to connect in the background. Only calls wait for a connection."""
        await self._pool.open()

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()

    async def renew(self) -> None:
        """Close all connections when they are free, so that later calls connect again."""
        await self._pool.drain()

    def count(self) -> dict[str, float]:
        """Return the current numbers of connections, unused connections and waiting calls."""
        stats = self._pool.get_stats()
        names = ("pool_size", "pool_available", "requests_waiting")
        return {name: float(stats.get(name, 0)) for name in names}

    @asynccontextmanager
    async def lend(self, timeout: float | None = None) -> AsyncGenerator[Connection]:
        """Lend a connection. Raises PoolTimeout after `timeout` seconds, TooManyRequests."""
        connection = await self._pool.getconn(timeout)
        try:
            yield connection
        finally:
            await self._pool.putconn(connection)

    async def run(self, statement: Statement[Row]) -> list[Row]:
        """Return the rows of `statement`."""
        async with self.lend() as connection:
            # Pass the columns by position: the query names them in the order of the fields.
            cursor = connection.cursor(row_factory=args_row(statement.row))
            if connection.pooled:
                # A pipeline is one round trip and one transaction, so the limits end with the call.
                async with connection.pipeline():
                    await connection.execute(self._set_limits)
                    await cursor.execute(statement.query, statement.values)
            else:
                await cursor.execute(statement.query, statement.values)
            return await cursor.fetchall()

    async def write(self, statement: Statement[Row]) -> tuple[list[Row], int]:
        """Return the rows of `statement` and the end of the WAL after its commit.

        This takes one round trip. The server commits at the first sync of the pipeline.
        """
        async with self.lend() as connection:
            cursor = connection.cursor(row_factory=args_row(statement.row))
            end = connection.cursor()
            async with connection.pipeline() as pipeline:
                if connection.pooled:
                    await connection.execute(self._set_limits)
                await cursor.execute(statement.query, statement.values)
                await pipeline.sync()
                await end.execute(_END_OF_WAL if self.system is not None else _NO_END)
            return await cursor.fetchall(), cast("tuple[int]", await end.fetchone())[0]

    async def find_end(self, timeout: float | None = None) -> int:
        """Return the end of the WAL of a primary, or 0 if the server does not offer it."""
        async with self.lend(timeout) as connection:
            return await find_end(connection) if self.system is not None else 0

    async def read(
        self, connection: Connection, statement: Statement[Row]
    ) -> tuple[Position, list[Row]]:
        """Return the position of a standby, and then the rows of `statement`.

        This takes one round trip. The rows are at least as new as the position.
        """
        position = connection.cursor()
        cursor = connection.cursor(row_factory=args_row(statement.row))
        async with connection.pipeline() as pipeline:
            await position.execute(_POSITION)
            if connection.pooled:
                # Stay in one transaction, because a pooler can have several servers.
                await connection.execute(self._set_limits)
            else:
                await pipeline.sync()
            await cursor.execute(statement.query, statement.values)
        row = cast("tuple[bool, int]", await position.fetchone())
        return Position(*row), await cursor.fetchall()

    async def _configure(self, connection: Connection) -> None:
        await detect_pooler(connection, **_choose_limits(self._timeout))
        await register_vectors(connection)
        if self._learns:
            rows = await (await connection.execute(_READS)).fetchall()
            self.reads = frozenset(str(name) for (name,) in rows)
            system = await find_system(connection)
            await self._refuse_former_primary(connection, system)
            self.system = system

    async def _refuse_former_primary(self, connection: Connection, system: str | None) -> None:
        """Raise OperationalError if another server has been promoted in its place."""
        if system is None:
            return
        timeline = await find_timeline(connection)
        if 0 < timeline < self._timelines.get(system, 0):
            address = f"{connection.info.host}:{connection.info.port}"
            if address != self._refused:  # log it once, not at each attempt
                self._refused = address
                logger.error("%s accepts writes, but another server was promoted: stop it", address)
            raise psycopg.OperationalError("a former primary")
        self._timelines[system] = max(timeline, self._timelines.get(system, 0))

    async def _check_connection(self, connection: Connection) -> None:
        """Raise psycopg.Error if Postgres has closed the connection, for example at a restart."""
        # No query is running, so readable bytes are a notice, or mean that Postgres has closed the
        # connection.
        if not _poll(connection.fileno()):
            return
        try:
            await AsyncConnectionPool.check_connection(connection)
        except psycopg.Error:
            # Drop all connections, because the others are closed too. The pool would check them
            # one by one, with growing pauses.
            await self._pool.drain()
            raise


async def find_end(connection: Connection) -> int:
    """Return the end of the WAL of a primary. Raises psycopg.Error on a standby."""
    row = await (await connection.execute(_END_OF_WAL)).fetchone()
    return cast("tuple[int]", row)[0]


async def find_system(connection: Connection) -> str | None:
    """Return the cluster, the database and the login, which a standby shares with its primary.

    Return None if the server does not offer its id or its position in the WAL.
    """
    try:
        row = await (await connection.execute(_SYSTEM)).fetchone()
    except _NOT_OFFERED:
        return None
    return row[0] if row else None


async def find_timeline(connection: Connection) -> int:
    """Return the timeline of a primary, or 0 if the server has none or does not offer it."""
    try:
        row = await (await connection.execute(_TIMELINE)).fetchone()
    except _NOT_OFFERED:
        return 0
    return cast("tuple[int]", row)[0]


async def find_position(connection: Connection) -> Position:
    """Return the position of a standby."""
    row = await (await connection.execute(_POSITION)).fetchone()
    return Position(*cast("tuple[bool, int]", row))


def _poll(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _choose_limits(timeout: float) -> dict[str, str]:
    """Return the settings of Postgres that limit the time of each call.

    The limit for a lock is shorter than the limit of the call, so the error can name the lock as
    the reason. Postgres checks the connection during a statement, because a cancelled call closes
    its connection.
    """
    milliseconds = round(timeout * 1000)
    waiting = min(max(milliseconds // 2, 1), _LONGEST_WAIT)
    return {
        "statement_timeout": str(milliseconds),
        "lock_timeout": str(waiting),
        "client_connection_check_interval": str(_CHECK),
    }


def _write_limits(timeout: float) -> bytes:
    """Return a statement that sets the limits for its transaction."""
    settings = compose_settings(_choose_limits(timeout), local=True)
    return sql.SQL("select {}").format(settings).as_bytes(None)


async def _retry_for_waiting_calls(pool: Pool) -> None:
    # The pool has given up, and without `check` it would connect again only at the next call.
    if pool.get_stats().get("requests_waiting"):
        await pool.check()
