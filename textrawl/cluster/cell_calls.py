"""Calls of functions in cells, on the workers that have them."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast
from weakref import WeakKeyDictionary

import anyio
import psycopg
from psycopg import sql
from psycopg_pool import PoolClosed, PoolTimeout

from textrawl.cluster.layout import Cell, CitusNode
from textrawl.cluster.planning import CellCall, SpaceCells
from textrawl.postgres.connection import Connection, is_broken
from textrawl.postgres.database import compose, enter_repository, name_repository
from textrawl.postgres.pool import Pool, ServerPool
from textrawl.scheduling import repository

_PATIENCE = 0.5  # seconds that a call waits for a worker that did not answer the call before


class NodeAway(Exception):
    """The error for a worker that cannot be reached, or does not get the cell within the time.

    If the call was `sent`, it can have changed something there.
    """

    def __init__(self, *, sent: bool = False) -> None:
        super().__init__()
        self.sent = sent


@dataclass(frozen=True)
class Entry:
    """The statement that enters a cell, whose node was asked at `asked`."""

    statement: bytes
    writes: bool
    asked: float

    def choose(self, connected: float) -> bytes | None:
        """Return the statement for a connection of the time `connected`, or None.

        Reads need it on newer connections: a worker that was away can have a cell that has moved.
        """
        return self.statement if self.writes or connected >= self.asked else None


class NodePool(ServerPool):
    """The connections to a worker, with the login and the options of `conninfo`.

    `note_connection` is called for each new connection.
    """

    def __init__(
        self,
        conninfo: str,
        node: CitusNode,
        *,
        timeout: float,
        max_size: int,
        note_connection: Callable[[], object],
    ) -> None:
        super().__init__(
            node.find(conninfo),
            timeout=timeout,
            connect_timeout=timeout,
            max_size=max_size,
        )
        self._note_connection = note_connection
        self._made = WeakKeyDictionary[Connection, float]()
        self._waiting = set[anyio.CancelScope]()
        self._away = False

    @asynccontextmanager
    async def lend(
        self, timeout: float | None = None, *, short: bool = False
    ) -> AsyncGenerator[Connection]:
        """Lend a connection. Raises NodeAway as soon as the worker cannot be reached."""
        async with AsyncExitStack() as stack:
            connection: Connection | None = None
            with anyio.CancelScope() as waiting:
                self._waiting.add(waiting)
                try:
                    lent = super().lend(timeout, short=short)
                    connection = await stack.enter_async_context(lent)
                finally:
                    self._waiting.discard(waiting)
            if connection is None:
                raise NodeAway
            yield connection

    async def _give_up(self, pool: Pool) -> None:
        # The worker may be away for long, and calls of other workers wait for these calls.
        self._away = True
        for waiting in self._waiting:
            waiting.cancel()

    async def _configure(self, connection: Connection) -> None:
        await super()._configure(connection)
        self._made[connection] = time.monotonic()
        self._note_connection()

    async def ask(
        self, query: bytes, values: Mapping[str, object], entry: Entry | None = None
    ) -> list[tuple[Any, ...]]:
        """Return the rows of `query`, in the same transaction as those of `entry`.

        Raises NodeAway, and psycopg.Error for a refusal of the worker.
        """
        try:
            rows = await self._ask(query, values, entry)
        except (PoolClosed, PoolTimeout) as error:
            self._away = True
            raise NodeAway from error
        except psycopg.OperationalError as error:
            self._away = is_broken(error)
            if not self._away:
                raise
            raise NodeAway(sent=True) from error
        self._away = False
        return rows

    async def _ask(
        self, query: bytes, values: Mapping[str, object], entry: Entry | None
    ) -> list[tuple[Any, ...]]:
        async with self.lend(_PATIENCE if self._away else None) as connection:
            enter = entry and entry.choose(self._made[connection])
            try:
                return await self._execute(connection, query, values, enter)
            except psycopg.errors.InvalidSqlStatementName:
                # If `enter` failed before, psycopg takes a later statement of the same pipeline for
                # prepared, although Postgres has skipped it.
                await connection.execute("deallocate all")
                return await self._execute(connection, query, values, enter)

    async def _execute(
        self,
        connection: Connection,
        query: bytes,
        values: Mapping[str, object],
        enter: bytes | None,
    ) -> list[tuple[Any, ...]]:
        cursor = connection.cursor()
        if enter is None and not connection.pooled:
            await cursor.execute(query, values)
        else:
            # A pipeline is one round trip and one transaction.
            async with connection.pipeline():
                if connection.pooled:
                    await connection.execute(self._set_limits)
                if enter is not None:
                    await connection.execute(enter)
                await cursor.execute(query, values)
        return await cursor.fetchall()


MOVED = "TR094"
_PAUSES = (0.01, 0.25)  # the first and the longest pause before a call is repeated, in seconds
_MOST_CONFLICTS = 4
_CONFLICTS = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
# A cell that is being moved is missing for some seconds. The table of a new model is missing in
# cells whose worker was away.
_MOVING = psycopg.errors.InvalidSchemaName
_MISSING = (
    psycopg.errors.UndefinedFunction,
    psycopg.errors.UndefinedTable,
    psycopg.errors.InternalError_,
)
_MATCH = b"select textrawl_content.match_models()"


class CellGone(Exception):
    """The error for a shard that is not in the map any more, because its cell was divided."""


class _Missing(Exception):
    """The error for a cell that is not there yet. `reason` is the error if it does not come."""

    def __init__(self, reason: Exception) -> None:
        super().__init__()
        self.reason = reason


@dataclass(frozen=True)
class Query:
    """A function with the columns to read. `writes` is true if it can change something."""

    function: str
    columns: tuple[str, ...]
    writes: bool


@dataclass(frozen=True)
class CellAnswer:
    """The rows of a cell, or the error instead of them."""

    visit: CellCall
    rows: list[tuple[Any, ...]]
    error: Exception | None = None


class CellCalls:
    """The pools of all workers. `timeout` is the time limit of a call in seconds."""

    def __init__(self, conninfo: str, cells: SpaceCells, *, timeout: float, max_size: int) -> None:
        self._conninfo, self._cells = conninfo, cells
        self._timeout, self._max_size = timeout, max_size
        self._pools: dict[CitusNode, NodePool] = {}
        self._opening = anyio.Lock()

    async def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            await pool.close()

    def count(self) -> dict[str, float]:
        """Return the numbers of connections and of waiting calls of all workers together."""
        total: dict[str, float] = {}
        for pool in self._pools.values():
            for name, number in pool.count().items():
                total[name] = total.get(name, 0) + number
        return total

    async def find_pool(self, node: CitusNode) -> NodePool:
        """Return the pool of a worker, and open it before its first call."""
        if node not in self._pools:
            async with self._opening:
                if node not in self._pools:
                    pool = NodePool(
                        self._conninfo,
                        node,
                        timeout=self._timeout,
                        max_size=self._max_size,
                        note_connection=self._cells.forget_map,
                    )
                    await pool.open()
                    self._pools[node] = pool
        return self._pools[node]

    async def gather(self, query: Query, visits: Sequence[CellCall]) -> list[CellAnswer]:
        """Call the function in several cells at the same time. Errors are in the answers."""
        answers: list[CellAnswer] = []

        async def ask(visit: CellCall) -> None:
            try:
                answer = CellAnswer(visit, await self.ask(query, visit))
            except (NodeAway, CellGone, psycopg.Error) as error:
                answer = CellAnswer(visit, [], error)
            answers.append(answer)

        async with anyio.create_task_group() as tasks:
            for visit in visits:
                tasks.start_soon(ask, visit)
        ranks = {visit.shard: rank for rank, visit in enumerate(visits)}
        return sorted(answers, key=lambda answer: ranks[answer.visit.shard])

    async def ask(self, query: Query, visit: CellCall) -> list[tuple[Any, ...]]:
        """Call the function in one cell, again if the cell is being moved meanwhile.

        Raises CellGone, NodeAway, psycopg.Error.
        """
        end = time.monotonic() + self._timeout
        pause, longest = _PAUSES
        conflicts = 0
        while True:
            try:
                return await self._try(query, visit)
            except _CONFLICTS:
                conflicts += 1
                if conflicts == _MOST_CONFLICTS:
                    raise
            except _Missing as missing:
                if time.monotonic() > end:
                    raise missing.reason from missing
            await anyio.sleep(pause)
            pause = min(2 * pause, longest)

    async def _try(self, query: Query, visit: CellCall) -> list[tuple[Any, ...]]:
        asked = time.monotonic()
        cell = await self._cells.find_cell(visit.shard)
        if cell is None:
            raise CellGone
        text = _compose(cell.schema, query.function, query.columns, tuple(visit.arguments))
        values = visit.arguments
        if keys := repository.get():
            text, values = enter_repository(text), {**values, **name_repository(keys, values)}
        entry = Entry(_enter(cell.shard), query.writes, asked)
        try:
            return await (await self.find_pool(cell.node)).ask(text, values, entry)
        except NodeAway as away:
            # A write can be stored, so its caller has to know.
            if not await self._is_replaced(cell) or (away.sent and query.writes):
                raise
            raise _Missing(away) from away
        except psycopg.Error as error:
            moving = error.sqlstate == MOVED or isinstance(error, _MOVING)
            if not (moving or isinstance(error, _MISSING)):
                raise
            self._cells.forget_map()
            if isinstance(error, psycopg.errors.UndefinedTable):
                await (await self.find_pool(cell.node)).ask(_MATCH, {})
            raise _Missing(NodeAway() if moving else error) from error

    async def _is_replaced(self, cell: Cell) -> bool:
        """Return whether the cell has another address now, because a standby was promoted."""
        self._cells.forget_map()
        nodes = (await self._cells.find_map()).nodes
        for node in self._pools.keys() - set(nodes):
            if (pool := self._pools.pop(node, None)) is not None:
                await pool.close()
        return cell.node not in nodes

    async def match_models(self, nodes: Sequence[CitusNode]) -> None:
        """Give the cells of each worker the tables of new models. Workers that are away wait."""
        for node in nodes:
            try:
                await (await self.find_pool(node)).ask(_MATCH, {})
            except NodeAway:
                continue

    async def wait_for_mark(
        self, nodes: Sequence[CitusNode], mark: int, limit: float
    ) -> set[CitusNode]:
        """Wait until workers have copied the directory up to `mark`, `limit` seconds at most.

        Return the workers that have not copied it. Those that are away copy it when they are back.
        """
        late = set(nodes)

        async def wait(node: CitusNode) -> None:
            pool = await self.find_pool(node)
            with suppress(NodeAway):
                while await _read_mark(pool) < mark:  # noqa: ASYNC110 - another server counts
                    await anyio.sleep(_PAUSES[0])
                late.remove(node)

        with anyio.move_on_after(limit):
            async with anyio.create_task_group() as tasks:
                for node in nodes:
                    tasks.start_soon(wait, node)
        return late


async def _read_mark(pool: NodePool) -> int:
    [(mark,)] = await pool.ask(b"select textrawl_content.read_mark()", {})
    return cast("int", mark)


@lru_cache(maxsize=4096)
def _compose(schema: str, function: str, columns: tuple[str, ...], names: tuple[str, ...]) -> bytes:
    return compose(schema, function, columns, names)


@lru_cache(maxsize=4096)
def _enter(shard: int) -> bytes:
    query = sql.SQL("select textrawl_content.enter_cell({})").format(sql.Literal(shard))
    return query.as_bytes(None)
