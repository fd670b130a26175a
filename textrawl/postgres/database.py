"""The road to Postgres: a pool, and one way to call a SQL function by name.

Everything that a caller may see go wrong leaves here as one of `textrawl.errors`; the text of a
database error never does, since it may hold values of other rows.
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
from textrawl.postgres.connection import Connection, find_pooler, register_vectors
from textrawl.postgres.sqlstates import ACCESS, REFUSALS, DataRefused
from textrawl.scheduling.lines import wait_in_line
from textrawl.scheduling.turns import Turns, find_account

logger = logging.getLogger("textrawl")

Row = TypeVar("Row")
Pool = AsyncConnectionPool[Connection]

_CONNECTIONS = 5  # of one process: twenty of them share the hundred of the embedded Postgres
_MOST_OF_ONE = 2  # connections at once for one person where others share the server
_MOST_HEAVY = 1  # connections at once for heavy calls, of all people together
_MOST_WAITING = 200  # calls that may queue for a connection before others are told to come back
_RECONNECT = 0.5  # seconds until a failed attempt is repeated; any more and it would double
_MARGIN = 0.5  # seconds that Postgres has to report its own time limit before we give up on it
_CHECK = 500  # ms between looks of Postgres, during a statement, whether its caller is there
_LONGEST_WAIT = 30_000  # milliseconds for a lock, whatever the time of the statement
_MOST_ATTEMPTS = 4  # at one call that meets conflicts
_CONFLICT_PAUSE = 0.05  # seconds at most between them
_CONFLICTS = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.UndefinedTable,  # of a model that was dropped in the middle of the call
    psycopg.errors.UndefinedFunction,  # it was replaced by a migration then,
    psycopg.errors.InternalError_,  # which Postgres also tells as "cache lookup failed"
)
# Functions that read or move a whole space or entity, for seconds where it is large. Three people
# with two such calls each would hold every connection, and all others would wait for them.
_HEAVY = frozenset({
    "compared_observations", "node_sizes", "similar_observations", "split_node", "stale_nodes",
})  # fmt: skip
_FOREIGN_SCHEMA = (
    psycopg.errors.UndefinedFunction,
    psycopg.errors.UndefinedTable,
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.InsufficientPrivilege,
)


_IN_THE_WAY = "Other calls were in the way at each attempt: nothing was changed; call again"
# Before any of these is told nothing was changed: the statement is undone as a whole.
_KNOWN_FAULTS: dict[type[psycopg.Error], Callable[[], errors.TextrawlError]] = {
    psycopg.errors.QueryCanceled: lambda: errors.DatabaseUnavailable(
        "The statement took longer than TEXTRAWL_DATABASE_TIMEOUT and changed nothing: "
        "retry, or ask for less"
    ),
    psycopg.errors.LockNotAvailable: lambda: errors.ServerBusy(
        "Another call holds what this one needs: retry in a second; nothing was changed"
    ),
    psycopg.errors.DeadlockDetected: lambda: errors.ServerBusy(_IN_THE_WAY),
    psycopg.errors.SerializationFailure: lambda: errors.ServerBusy(_IN_THE_WAY),
    psycopg.errors.ProgramLimitExceeded: lambda: errors.ArgumentInvalid(
        "Postgres cannot hold or look for a text as large as this one: shorten it, then call "
        "again; nothing was changed",
        title="Too large for Postgres",
    ),
    psycopg.errors.DiskFull: lambda: errors.DatabaseUnavailable(
        "The disk of Postgres is full: nothing was changed; free some space, then repeat the call"
    ),
    psycopg.errors.TooManyConnections: lambda: errors.ServerBusy(
        "Postgres has no connection left: retry in a second; nothing was changed"
    ),
    psycopg.errors.ReadOnlySqlTransaction: lambda: errors.DatabaseUnavailable(
        "This Postgres is a standby and takes no writes: let TEXTRAWL_DATABASE_URL name the "
        "primary, or set TEXTRAWL_READ_ONLY=true"
    ),
}


class Database:
    """A pool of connections to one database, to be opened before the first call.

    `timeout` (seconds) bounds each call, the wait for a connection included. `check` is awaited
    once, before the first call, when the database could not be looked at earlier; it raises
    StartRefused when its schema does not fit.
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
        self._limit = _compose_limit(_choose_limits(timeout))
        self._turns, self._heavy = Turns(_MOST_OF_ONE), Turns(_MOST_HEAVY)
        self._pool: Pool = AsyncConnectionPool(
            conninfo,
            connection_class=Connection,
            min_size=1,
            max_size=max_size,
            timeout=timeout,
            max_waiting=_MOST_WAITING,
            reconnect_timeout=_RECONNECT,
            reconnect_failed=_try_for_those_who_wait,
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
        """Starts connecting, in the background: calls wait for a connection, not this one."""
        await self._pool.open()

    async def close(self) -> None:
        """Closes every connection."""
        await self._pool.close()

    def read_pool(self) -> dict[str, float]:
        """Connections, those not in use, and calls that wait for one, now."""
        stats = self._pool.get_stats()
        names = ("pool_size", "pool_available", "requests_waiting")
        return {name: float(stats.get(name, 0)) for name in names}

    async def call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        """Rows of the SQL function textrawl.`function`, as instances of the dataclass `row`.

        Columns are those that `row` names as fields; arguments go by name.

        Raises DatabaseUnavailable, ServerBusy, InternalError, DataRefused.
        """
        query = _compose(function, row, tuple(arguments))
        given = {name: _adapt(value) for name, value in arguments.items()}
        if "tool" in arguments:  # what writes names its tool; embedding comes before, out of line
            await wait_in_line()
        with _translate(function), anyio.fail_after(self._timeout + _MARGIN):
            async with self._take_turns(function):
                await self._check_once()
                return await self._execute(query, row, given)

    @asynccontextmanager
    async def _take_turns(self, function: str) -> AsyncGenerator[None]:
        """Wait until the caller may have a connection for `function`. Raises ServerBusy."""
        async with AsyncExitStack() as turns:
            try:
                with anyio.fail_after(self._timeout):
                    # The caller's turn first: one with many heavy calls queues with two of them.
                    await turns.enter_async_context(self._turns.take(find_account()))
                    shared = "heavy" if function in _HEAVY else None
                    await turns.enter_async_context(self._heavy.take(shared))
            except TimeoutError:
                raise errors.ServerBusy(
                    "Other calls came first, and took long: retry in a few seconds; "
                    "nothing was changed"
                ) from None
            yield

    async def _execute(self, query: bytes, row: type[Row], given: dict[str, object]) -> list[Row]:
        # What repeats it is made after a conflict only: few calls meet one, and it takes a while.
        try:
            return await self._attempt(query, row, given)
        except _CONFLICTS:
            again = AsyncRetrying(
                retry=retry_if_exception_type(_CONFLICTS),
                stop=stop_after_attempt(_MOST_ATTEMPTS - 1),
                wait=wait_random(0, _CONFLICT_PAUSE),
                reraise=True,
            )
            return await again(self._attempt, query, row, given)

    async def _attempt(self, query: bytes, row: type[Row], given: dict[str, object]) -> list[Row]:
        connection = await self._pool.getconn()
        try:
            # Rows by position: the columns are asked for in the order of the fields.
            cursor = connection.cursor(row_factory=args_row(row))
            if connection.pooled:
                # One round trip and one transaction, so the limits are of this call alone.
                async with connection.pipeline():
                    await connection.execute(self._limit)
                    await cursor.execute(query, given)
            else:
                await cursor.execute(query, given)
            return await cursor.fetchall()
        finally:
            await self._pool.putconn(connection)

    async def _configure(self, connection: Connection) -> None:
        await find_pooler(connection, **_choose_limits(self._timeout))
        await register_vectors(connection)

    async def _check_connection(self, connection: Connection) -> None:
        """Raises psycopg.Error for a connection that died with a restarted server."""
        # Nothing was asked, so whatever can be read is its end, or a notice: only then ask.
        if not _poll(connection.fileno()):
            return
        try:
            await AsyncConnectionPool.check_connection(connection)
        except psycopg.Error:
            # The others died as well. The pool would try them one by one, ever more slowly.
            await self._pool.drain()
            raise

    async def _check_once(self) -> None:
        if self._check is None:
            return
        try:
            await self._check()
        except errors.StartRefused as refused:
            logger.error("%s", refused)  # noqa: TRY400 - it is the message that helps
            raise errors.DatabaseUnavailable(str(refused)) from None
        except errors.DatabaseUnavailable as error:
            raise errors.DatabaseUnavailable from error  # told to a caller, not to an operator
        self._check = None


def _poll(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _choose_limits(timeout: float) -> dict[str, str]:
    """Settings of Postgres. A call that waits for a lock is told so before its time is up.

    A cancelled call closes its connection, which Postgres would notice at the end of the statement.
    """
    milliseconds = round(timeout * 1000)
    waiting = min(max(milliseconds // 2, 1), _LONGEST_WAIT)
    return {
        "statement_timeout": str(milliseconds),
        "lock_timeout": str(waiting),
        "client_connection_check_interval": str(_CHECK),
    }


def _compose_limit(limits: dict[str, str]) -> bytes:
    """A statement that sets `limits` for the transaction that it is part of."""
    parts = [
        sql.SQL("set_config({}, {}, true)").format(sql.Literal(name), sql.Literal(value))
        for name, value in limits.items()
    ]
    return sql.SQL("select {}").format(sql.SQL(", ").join(parts)).as_bytes(None)


async def _try_for_those_who_wait(pool: Pool) -> None:
    # Having given up, the pool would try again for the next caller only.
    if pool.get_stats().get("requests_waiting"):
        await pool.check()


@lru_cache
def _compose(function: LiteralString, row: type[object], names: tuple[str, ...]) -> bytes:
    columns = sql.SQL(", ").join(sql.Identifier(field.name) for field in fields(row))  # type: ignore[arg-type]
    given = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in names
    )
    return (
        sql.SQL("select {} from {}({})")
        .format(columns, sql.Identifier("textrawl", function), given)
        .as_bytes(None)
    )


def _adapt(value: object) -> object:
    """Vectors, also in a list, as what psycopg takes for vectors."""
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
            "No answer within TEXTRAWL_DATABASE_TIMEOUT. Retry: repeating the call stores nothing "
            "twice"
        ) from error
    except psycopg.Error as error:
        raise _explain(error, function) from None


def _explain(error: psycopg.Error, function: str) -> Exception:
    """What to raise in place of `error`, whose text and context may hold what users told us."""
    if error.sqlstate and error.sqlstate in REFUSALS:
        refusal = DataRefused(error.sqlstate, error.diag.message_detail)
        return refusal.explain() if refusal.code in ACCESS else refusal
    for kind, told in _KNOWN_FAULTS.items():
        if isinstance(error, kind):
            return told()
    logger.error("textrawl.%s failed: %s %s", function, type(error).__name__, error.sqlstate)
    if isinstance(error, _FOREIGN_SCHEMA):
        return errors.DatabaseUnavailable(
            "Its schema is of another version of textrawl: run `textrawl migrate`, "
            "or restart the server"
        )
    if isinstance(error, psycopg.OperationalError):
        return errors.DatabaseUnavailable(
            "The connection broke. Retry in a few seconds: repeating the call stores nothing twice"
        )
    return errors.InternalError()
