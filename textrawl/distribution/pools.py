"""The connections to one worker of a distributed memory."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from textrawl.distribution.map import Node
from textrawl.postgres.connection import Connection, is_broken
from textrawl.postgres.pool import Pool, ServerPool

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
    """The statement that enters a cell, whose place was asked at `asked`."""

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
        node: Node,
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
