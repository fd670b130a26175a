"""A pool of connections, and one method that calls a SQL function by name.

Errors of Postgres become errors of `textrawl.errors`. The text of a Postgres error is never shown
to the caller, because it can contain values of other rows.
"""

import logging
import select
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import fields
from functools import lru_cache
from typing import LiteralString, TypeVar, cast

import anyio
import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import sql
from psycopg.rows import args_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random

from textrawl import errors
from textrawl.postgres.connection import (
    Connection,
    compose_settings,
    detect_pooler,
    register_vectors,
)
from textrawl.postgres.sqlstates import ACCESS, REFUSALS, DataRefused
from textrawl.scheduling.turns import Turns, find_account
from textrawl.scheduling.write_order import wait_for_earlier_writes

logger = logging.getLogger("textrawl")

Row = TypeVar("Row")
Pool = AsyncConnectionPool[Connection]

_CONNECTIONS = 5  # per process: the embedded Postgres has 100, enough for twenty processes
_MOST_OF_ONE = 2  # connections that one actor can use at the same time on a shared server
_MOST_HEAVY = 1  # connections that heavy calls of all actors can use at the same time
_MOST_WAITING = 200  # calls that can wait for a connection; further calls get ServerBusy
_RECONNECT = 0.5  # seconds of failed attempts to connect, before the pool calls reconnect_failed
_MARGIN = 0.5  # seconds that Postgres gets to report its own timeout before the call ends
_CHECK = 500  # Postgres checks every 500 ms of a statement that its client is connected
_LONGEST_WAIT = 30_000  # milliseconds for a lock, even if the statement has a longer time limit
_MOST_ATTEMPTS = 4  # for a call that meets conflicts with other calls
_CONFLICT_PAUSE = 0.05  # longest pause between these attempts, in seconds
_CONFLICTS = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.UndefinedTable,  # a model was dropped during the call
    psycopg.errors.UndefinedFunction,  # a migration replaced the function during the call
    psycopg.errors.InternalError_,  # "cache lookup failed", for the same reason
)
# These functions read or move a whole space or entity, which takes seconds if it is large. Three
# actors with two such calls each would use all connections, and all other actors would wait.
_HEAVY = frozenset(
    {"compared_observations", "node_sizes", "similar_observations", "split_node", "stale_nodes"}
)
_FOREIGN_SCHEMA = (
    psycopg.errors.UndefinedFunction,
    psycopg.errors.UndefinedTable,
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.InsufficientPrivilege,
)

_CONFLICT_MESSAGE = "Each attempt met a conflict with other calls: nothing was changed; call again"
# Each of these errors rolls the statement back, so the message can say that nothing was changed.
_MESSAGES: dict[type[psycopg.Error], Callable[[], errors.TextrawlError]] = {
    psycopg.errors.QueryCanceled: lambda: errors.DatabaseUnavailable(
        "The statement took longer than TEXTRAWL_DATABASE_TIMEOUT and changed nothing: "
        "retry, or ask for less"
    ),
    psycopg.errors.LockNotAvailable: lambda: errors.ServerBusy(
        "Another call holds a lock that this call needs: retry in a second; nothing was changed"
    ),
    psycopg.errors.DeadlockDetected: lambda: errors.ServerBusy(_CONFLICT_MESSAGE),
    psycopg.errors.SerializationFailure: lambda: errors.ServerBusy(_CONFLICT_MESSAGE),
    psycopg.errors.ProgramLimitExceeded: lambda: errors.ArgumentInvalid(
        "Postgres cannot store or search such a large text: shorten it, then call again; nothing "
        "was changed",
        title="Too large for Postgres",
    ),
    psycopg.errors.DiskFull: lambda: errors.DatabaseUnavailable(
        "The disk of Postgres is full: nothing was changed; free some space, then repeat the call"
    ),
    psycopg.errors.TooManyConnections: lambda: errors.ServerBusy(
        "All connections of Postgres are in use: retry in a second; nothing was changed"
    ),
    psycopg.errors.ReadOnlySqlTransaction: lambda: errors.DatabaseUnavailable(
        "This Postgres is a standby and refuses writes: set TEXTRAWL_DATABASE_URL to the "
        "primary, or set TEXTRAWL_READ_ONLY=true"
    ),
}


class Database:
    """A pool of connections to one database. Open it before the first call.

    `timeout` is the time limit of a call in seconds, including the wait for a connection. `check`
    is for a database that could not be checked at the start. Each call awaits it first, until it
    succeeds once. It raises StartRefused if the schema has another version.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        timeout: float,
        max_size: int = _CONNECTIONS,
        check: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._timeout, self._check = timeout, check
        self._set_limits = _write_limits(timeout)
        self._turns, self._heavy = Turns(_MOST_OF_ONE), Turns(_MOST_HEAVY)
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
            kwargs={
                "autocommit": True,
                "application_name": "textrawl",
                "connect_timeout": max(1, round(timeout)),
            },
            name="textrawl",
        )

    async def open(self) -> None:
        """Start to connect in the background. Only calls wait for a connection."""
        await self._pool.open()

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()

    def read_pool(self) -> dict[str, float]:
        """Return the current numbers of connections, unused connections and waiting calls."""
        stats = self._pool.get_stats()
        names = ("pool_size", "pool_available", "requests_waiting")
        return {name: float(stats.get(name, 0)) for name in names}

    async def call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        """Return the rows of the SQL function textrawl.`function` as instances of `row`.

        `row` is a dataclass. Its fields name the columns. Arguments are passed by name.

        Raises DatabaseUnavailable, ServerBusy, InternalError, DataRefused.
        """
        query = _compose(function, row, tuple(arguments))
        values = {name: _adapt(value) for name, value in arguments.items()}
        if "tool" in arguments:  # only writes have this argument; their vectors are already made
            await wait_for_earlier_writes()
        with _translate(function), anyio.fail_after(self._timeout + _MARGIN):
            async with self._take_turns(function):
                await self._check_once()
                return await self._execute(query, row, values)

    @asynccontextmanager
    async def _take_turns(self, function: str) -> AsyncGenerator[None]:
        """Wait until the actor may have a connection for `function`. Raises ServerBusy."""
        async with AsyncExitStack() as turns:
            try:
                with anyio.fail_after(self._timeout):
                    # Wait for the actor's turn first. This order lets at most two calls of one
                    # actor wait for the turn of heavy calls.
                    await turns.enter_async_context(self._turns.take(find_account()))
                    shared = "heavy" if function in _HEAVY else None
                    await turns.enter_async_context(self._heavy.take(shared))
            except TimeoutError:
                raise errors.ServerBusy(
                    "Earlier calls took too long: retry in a few seconds; nothing was changed"
                ) from None
            yield

    async def _execute(self, query: bytes, row: type[Row], values: dict[str, object]) -> list[Row]:
        # Build AsyncRetrying only after a conflict: conflicts are rare, and building it is slow.
        try:
            return await self._attempt(query, row, values)
        except _CONFLICTS:
            retrying = AsyncRetrying(
                retry=retry_if_exception_type(_CONFLICTS),
                stop=stop_after_attempt(_MOST_ATTEMPTS - 1),
                wait=wait_random(0, _CONFLICT_PAUSE),
                reraise=True,
            )
            return await retrying(self._attempt, query, row, values)

    async def _attempt(self, query: bytes, row: type[Row], values: dict[str, object]) -> list[Row]:
        connection = await self._pool.getconn()
        try:
            # Pass the columns by position: the query names them in the order of the fields.
            cursor = connection.cursor(row_factory=args_row(row))
            if connection.pooled:
                # A pipeline is one round trip and one transaction, so the limits end with the call.
                async with connection.pipeline():
                    await connection.execute(self._set_limits)
                    await cursor.execute(query, values)
            else:
                await cursor.execute(query, values)
            return await cursor.fetchall()
        finally:
            await self._pool.putconn(connection)

    async def _configure(self, connection: Connection) -> None:
        await detect_pooler(connection, **_choose_limits(self._timeout))
        await register_vectors(connection)

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

    async def _check_once(self) -> None:
        if self._check is None:
            return
        try:
            await self._check()
        except errors.StartRefused as refused:
            logger.error("%s", refused)  # noqa: TRY400 - the message says what to do
            raise errors.DatabaseUnavailable(str(refused)) from None
        except errors.DatabaseUnavailable as error:
            raise errors.DatabaseUnavailable from error  # without the details for operators
        self._check = None


@asynccontextmanager
async def open_connection(conninfo: str, *, timeout: float) -> AsyncGenerator[Database]:
    """Open a database with a single connection, which is enough for a command."""
    database = Database(conninfo, timeout=timeout, max_size=1)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


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


@lru_cache
def _compose(function: LiteralString, row: type[object], names: tuple[str, ...]) -> bytes:
    columns = sql.SQL(", ").join(sql.Identifier(field.name) for field in fields(row))  # type: ignore[arg-type]
    arguments = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in names
    )
    return (
        sql.SQL("select {} from {}({})")
        .format(columns, sql.Identifier("textrawl", function), arguments)
        .as_bytes(None)
    )


def _adapt(value: object) -> object:
    """Convert a vector, or the vectors in a list, to the type that psycopg accepts."""
    if isinstance(value, list):
        return [_adapt(item) for item in cast("list[object]", value)]
    if isinstance(value, np.ndarray):
        return HalfVector(cast("NDArray[np.float32]", value))
    return value


@contextmanager
def _translate(function: str) -> Generator[None]:
    try:
        yield
    except TooManyRequests as error:
        raise errors.ServerBusy from error
    except (PoolTimeout, PoolClosed) as error:
        raise errors.DatabaseUnavailable from error
    except TimeoutError as error:
        raise errors.DatabaseUnavailable(
            "No answer within TEXTRAWL_DATABASE_TIMEOUT. Retry: repeating a call stores nothing "
            "twice"
        ) from error
    except psycopg.Error as error:
        raise _explain(error, function) from None


def _explain(error: psycopg.Error, function: str) -> Exception:
    """Return the error to raise instead of `error`, because its text can contain stored texts."""
    if error.sqlstate and error.sqlstate in REFUSALS:
        refusal = DataRefused(error.sqlstate, error.diag.message_detail)
        return refusal.explain() if refusal.code in ACCESS else refusal
    for kind, build_error in _MESSAGES.items():
        if isinstance(error, kind):
            return build_error()
    logger.error("textrawl.%s failed: %s %s", function, type(error).__name__, error.sqlstate)
    if isinstance(error, _FOREIGN_SCHEMA):
        return errors.DatabaseUnavailable(
            "Its schema belongs to another version of textrawl: run `textrawl migrate`, "
            "or restart the server"
        )
    if isinstance(error, psycopg.OperationalError):
        return errors.DatabaseUnavailable(
            "The connection broke. Retry in a few seconds: repeating a call stores nothing twice"
        )
    return errors.InternalError()
