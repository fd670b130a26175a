"""A pool of connections to one Postgres server, its position, and the probe of a primary."""

import logging
import math
import select
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar, cast
from weakref import WeakSet

import anyio
import psycopg
from psycopg import sql
from psycopg.rows import BaseRowFactory
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from textrawl.postgres.connection import (
    Connection,
    compose_settings,
    detect_pooler,
    put_first,
    register_vectors,
    split_hosts,
)

# The end of everything that is committed. If `synchronous_commit` is off, a commit is acknowledged
# before it is flushed. Otherwise the flushed part is enough, and it reaches a standby sooner.
END_OF_WAL = b"""
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
# The control file of a standby has the timelines of its last restartpoint and last flushed commit.
# Postgres tells only monitors which timeline a standby replays now.
_FOLLOWED = b"""
    select greatest((pg_control_checkpoint()).timeline_id,
                    (pg_control_recovery()).min_recovery_end_timeline)
"""
_NOT_OFFERED = (
    psycopg.errors.FeatureNotSupported,
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.InternalError_,
    psycopg.errors.UndefinedFunction,
)
POSITION = b"""
    select pg_is_in_recovery(),
           coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::bigint
"""


@dataclass(frozen=True)
class Position:
    """The state of a server. `replayed` is the end of the replayed WAL, 0 if it replays none."""

    in_recovery: bool
    replayed: int


async def find_end(connection: Connection) -> int:
    """Return the end of the WAL of a primary. Raises psycopg.Error on a standby."""
    row = await (await connection.execute(END_OF_WAL)).fetchone()
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
    return await _find_number(connection, _TIMELINE)


async def find_followed_timeline(connection: Connection) -> int:
    """Return the last timeline that a standby is known to replay, or 0 if nobody can know it.

    After a promotion, the new timeline is known at the next restartpoint at the latest.
    """
    return await _find_number(connection, _FOLLOWED)


async def _find_number(connection: Connection, query: bytes) -> int:
    try:
        row = await (await connection.execute(query)).fetchone()
    except _NOT_OFFERED:
        return 0
    return cast("tuple[int]", row)[0]


async def find_position(connection: Connection) -> Position:
    """Return the position of a standby."""
    row = await (await connection.execute(POSITION)).fetchone()
    return Position(*cast("tuple[bool, int]", row))


logger = logging.getLogger("textrawl")

Row = TypeVar("Row")
Pool = AsyncConnectionPool[Connection]

_MOST_WAITING = 200  # calls that can wait for a connection; further calls get ServerBusy
_RECONNECT = 0.5  # seconds of failed attempts to connect, before the pool gives up
_CHECK = 500  # Postgres checks every 500 ms of a statement that its client is connected
_RETURN = 1.0  # seconds for the rollback of a connection before it is closed instead
_LONGEST_WAIT = 30_000  # milliseconds for a lock, even if the statement has a longer time limit

_LOGIN = {"autocommit": True, "application_name": "textrawl"}
_READS = b"""
    select p.proname::text from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace and n.nspname = 'textrawl'
    group by 1 having bool_and(p.provolatile <> 'v')
"""
_NO_END = b"select 0"


@dataclass(frozen=True)
class Statement(Generic[Row]):
    """A call of a SQL function, and the way to make a row of its columns.

    A `short` statement can use the reserve of the pool.
    """

    query: bytes
    factory: BaseRowFactory[Row]
    values: Mapping[str, object]
    short: bool = False


class ServerPool:
    """The connections to one server. `timeout` is the time limit of a call in seconds.

    `connect_timeout` is the time limit of an attempt to connect to one of its hosts. With `learns`,
    the pool knows the functions that write nothing (`reads`), and the cluster, the database and the
    login of its connections (`system`). It then has a reserve: one connection more than `max_size`,
    for short statements. Otherwise long calls that use all connections look like a server that does
    not answer.
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
        self._places = anyio.Semaphore(max_size, fast_acquire=True) if learns else None
        self._known = WeakSet[Connection]()
        self._timelines: dict[str, int] = {}
        self._refused = ""
        self._renewed_at = 0.0
        limits = compose_settings(_choose_limits(timeout), local=True)
        self._set_limits = sql.SQL("select {}").format(limits).as_bytes(None)
        """A statement that sets the limits for its transaction."""
        self._pool = self._build_pool(conninfo, connect_timeout, max_size + learns)

    def _build_pool(self, conninfo: str, connect_timeout: float, max_size: int) -> Pool:
        return AsyncConnectionPool(
            conninfo,
            connection_class=Connection,
            min_size=1,
            max_size=max_size,
            timeout=self._timeout,
            max_waiting=_MOST_WAITING,
            reconnect_timeout=_RECONNECT,
            reconnect_failed=self._give_up,
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

    @property
    def timeline(self) -> int:
        """The latest timeline of the primaries that the pool has known, or 0."""
        return self._timelines.get(self.system, 0) if self.system is not None else 0

    async def renew(self, since: float | None = None) -> None:
        """Close all connections when they are free, so that later calls connect again.

        Do nothing if this has been done after `since`, on the monotonic clock. Many calls that fail
        together would close each other's new connections.
        """
        if since is None or self._renewed_at < since:
            self._renewed_at = time.monotonic()
            await self._pool.drain()

    def break_off(self) -> None:
        """Break off all connections, so that their statements fail at once."""
        for connection in list(self._known):
            connection.break_off()

    async def follow(self, system: str, timeline: int, conninfo: str) -> bool:
        """Leave the current server if `timeline`, that of a server of `system`, is a later one.

        Return whether it is. `conninfo` leads to the later server first.
        """
        if not 0 < self._timelines.get(system, 0) < timeline:
            return False
        self._pool.conninfo = conninfo
        await self._leave_former_primary(system, timeline)
        return True

    async def _leave_former_primary(self, system: str, timeline: int) -> None:
        """Break off all connections to servers of `system` with an earlier timeline."""
        self._timelines[system] = timeline
        for connection in list(self._known):
            unfinished = connection.system is None  # nobody knows yet where it leads
            related = connection.system == system
            if unfinished or (related and 0 < connection.timeline < timeline):
                connection.break_off()
        await self.renew()

    def count(self) -> dict[str, float]:
        """Return the current numbers of connections, unused connections and waiting calls."""
        stats = self._pool.get_stats()
        names = ("pool_size", "pool_available", "requests_waiting")
        numbers = {name: float(stats.get(name, 0)) for name in names}
        if self._places is not None:
            numbers["requests_waiting"] += self._places.statistics().tasks_waiting
        return numbers

    @asynccontextmanager
    async def lend(
        self, timeout: float | None = None, *, short: bool = False
    ) -> AsyncGenerator[Connection]:
        """Lend a connection, for a `short` statement also the reserve.

        Raises PoolTimeout after `timeout` seconds, TooManyRequests.
        """
        places = None if short else self._places
        if places is not None:
            timeout = await _take_place(places, self._timeout if timeout is None else timeout)
        try:
            connection, ended = await self._pool.getconn(timeout), False
            try:
                yield connection
                ended = True
            finally:
                # Without the shield, the pool loses connections of calls that are cancelled now.
                limit = math.inf if ended else _RETURN
                with anyio.CancelScope(deadline=anyio.current_time() + limit, shield=True):
                    await self._pool.putconn(connection)
        finally:
            if places is not None:
                places.release()

    async def run(self, statement: Statement[Row]) -> list[Row]:
        """Return the rows of `statement`."""
        async with self.lend(short=statement.short) as connection:
            cursor = connection.cursor(row_factory=statement.factory)
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
        async with self.lend(short=statement.short) as connection:
            cursor = connection.cursor(row_factory=statement.factory)
            end = connection.cursor()
            async with connection.pipeline() as pipeline:
                if connection.pooled:
                    await connection.execute(self._set_limits)
                await cursor.execute(statement.query, statement.values)
                await pipeline.sync()
                await end.execute(END_OF_WAL if self.system is not None else _NO_END)
            return await cursor.fetchall(), cast("tuple[int]", await end.fetchone())[0]

    async def find_end(self, timeout: float | None = None) -> int:
        """Return the end of the WAL of a primary, or 0 if the server does not offer it."""
        async with self.lend(timeout, short=True) as connection:
            return await find_end(connection) if self.system is not None else 0

    async def read(
        self, connection: Connection, statement: Statement[Row]
    ) -> tuple[Position, list[Row]]:
        """Return the position of a standby, and then the rows of `statement`.

        This takes one round trip. The rows are at least as new as the position.
        """
        position = connection.cursor()
        cursor = connection.cursor(row_factory=statement.factory)
        async with connection.pipeline() as pipeline:
            await position.execute(POSITION)
            if connection.pooled:
                # Stay in one transaction, because a pooler can have several servers.
                await connection.execute(self._set_limits)
            else:
                await pipeline.sync()
            await cursor.execute(statement.query, statement.values)
        row = cast("tuple[bool, int]", await position.fetchone())
        return Position(*row), await cursor.fetchall()

    async def _give_up(self, pool: Pool) -> None:
        """Decide about waiting calls when no connection could be made for a while."""
        # The pool would connect again only at the next call.
        if pool.get_stats().get("requests_waiting"):
            await pool.check()

    async def _configure(self, connection: Connection) -> None:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(connection.close)
            # A server can stop to answer after the login. The pool connects in a few tasks, which
            # must not wait for it forever.
            with anyio.fail_after(self._timeout):
                await self._prepare(connection)
            stack.pop_all()

    async def _prepare(self, connection: Connection) -> None:
        await detect_pooler(connection, **_choose_limits(self._timeout))
        await register_vectors(connection)
        if self._learns:
            self._known.add(connection)
            rows = await (await connection.execute(_READS)).fetchall()
            system, timeline = await find_system(connection), await find_timeline(connection)
            connection.system, connection.timeline = system, timeline
            if system is not None:
                await self._refuse_former_primary(connection, system)
            self.reads, self.system = frozenset(str(name) for (name,) in rows), system

    async def _refuse_former_primary(self, connection: Connection, system: str) -> None:
        """Raise OperationalError if another server has been promoted in its place."""
        timeline, known = connection.timeline, self._timelines.get(system, 0)
        if 0 < timeline < known:
            address = f"{connection.info.host}:{connection.info.port}"
            if address != self._refused:  # log it once, not at each attempt
                self._refused = address
                logger.error("%s accepts writes, but another server was promoted: stop it", address)
            raise psycopg.OperationalError("a former primary")
        if 0 < known < timeline:
            await self._leave_former_primary(system, timeline)
        elif timeline:
            self._timelines[system] = timeline

    async def _check_connection(self, connection: Connection) -> None:
        """Raise psycopg.Error if Postgres has closed the connection, for example at a restart."""
        # No query is running, so readable bytes are a notice, or mean that Postgres has closed the
        # connection.
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        if not poll.poll(0):
            return
        try:
            await AsyncConnectionPool.check_connection(connection)
        except psycopg.Error:
            # Drop all connections, because the others are closed too. The pool would check them
            # one by one, with growing pauses.
            await self._pool.drain()
            raise


async def _take_place(places: anyio.Semaphore, timeout: float) -> float:
    """Return the rest of `timeout` after the wait. Raises PoolTimeout, TooManyRequests."""
    if places.statistics().tasks_waiting >= _MOST_WAITING:
        raise TooManyRequests
    end = time.monotonic() + timeout
    with anyio.move_on_after(timeout):
        await places.acquire()
        return end - time.monotonic()
    raise PoolTimeout


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


_PAUSE = 1.0  # seconds between two questions
_LOOK_LIMIT = 1.0  # seconds that another host gets to answer
_RARELY = 5.0  # seconds between two looks at other hosts, as long as the primary answers


class PrimaryProbe:
    """Asks the primary behind `pool` for the end of its WAL, and looks at the hosts of `conninfo`.

    A primary that does not answer can be slow, so this is no reason to leave it. The reason is
    another host with a later timeline: somebody has promoted it. Then running calls fail at once,
    and those that can be repeated go to the new primary. `note` gets each end of the WAL, and the
    time on the monotonic clock before the question. `timeout` is the time limit of a question.
    """

    def __init__(
        self,
        pool: ServerPool,
        conninfo: str,
        *,
        timeout: float,
        note: Callable[[float, int], None] | None = None,
    ) -> None:
        self._pool, self._conninfo, self._timeout = pool, conninfo, timeout
        self._note = note
        hosts = split_hosts(conninfo)
        self._hosts = hosts if len(hosts) > 1 else []
        self._asked_at: float | None = None
        self._looked_at = 0.0

    async def run(self) -> None:
        """Ask and look until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._ask_often)
            if self._hosts:
                tasks.start_soon(self._look_often)

    async def _ask_often(self) -> None:
        while True:
            await self.ask()
            await anyio.sleep(_PAUSE)

    async def ask(self) -> None:
        """Ask the primary for the end of its WAL. Without an answer, do nothing."""
        asked_at = time.monotonic()
        if self._asked_at is None:
            self._asked_at = asked_at
        try:
            with anyio.fail_after(self._timeout):
                end = await self._pool.find_end(self._timeout)
        except (TimeoutError, psycopg.Error) as error:
            logger.debug("The primary did not answer the probe: %s", type(error).__name__)
            return
        self._asked_at = None
        if self._note is not None:
            self._note(asked_at, end)

    async def _look_often(self) -> None:
        while True:
            await anyio.sleep(_PAUSE)
            now = time.monotonic()
            silent = self._asked_at is not None and now - self._asked_at > _PAUSE
            if silent or now - self._looked_at > _RARELY:
                self._looked_at = now
                await self.look()

    async def look(self) -> None:
        """Leave the primary if another host has a later timeline."""
        async with anyio.create_task_group() as tasks:
            for place in range(len(self._hosts)):
                tasks.start_soon(self._look_at, place)

    async def _look_at(self, place: int) -> None:
        try:
            with anyio.fail_after(_LOOK_LIMIT):
                system, timeline = await _identify(self._hosts[place])
        except (TimeoutError, psycopg.Error) as error:
            logger.debug("Host %d did not answer: %s", place + 1, type(error).__name__)
            return
        later = put_first(self._conninfo, place)
        if system is not None and await self._pool.follow(system, timeline, later):
            logger.warning("Host %d of TEXTRAWL_DATABASE_URL was promoted and is used", place + 1)


async def _identify(conninfo: str) -> tuple[str | None, int]:
    connection = await Connection.connect(
        conninfo, autocommit=True, application_name="textrawl", connect_timeout=2
    )
    async with connection:
        return await find_system(connection), await find_timeline(connection)
