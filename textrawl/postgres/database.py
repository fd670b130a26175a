"""A pool of connections, and one method that calls a SQL function by name.

Errors of Postgres become errors of `textrawl.errors`. The text of a Postgres error is never shown
to the caller, because it can contain values of other rows.
"""

import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import fields, is_dataclass
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any, LiteralString, Protocol, Self, TypeVar, cast

import anyio
import psycopg
from psycopg import sql
from psycopg.rows import BaseRowFactory, args_row, kwargs_row, scalar_row
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random

from textrawl import errors
from textrawl.postgres.connection import (
    HOST_ATTEMPTS,
    Connection,
    has_several_hosts,
    is_broken,
    limit_attempt,
)
from textrawl.postgres.functions import HEAVY, REPEATABLE, SHORT, STORED_AGAIN
from textrawl.postgres.pool import PrimaryProbe, ServerPool, Statement
from textrawl.postgres.sqlstates import ACCESS, REFUSALS, DataRefused
from textrawl.postgres.standby import Standby
from textrawl.scheduling import Turns, account, repository, wait_for_earlier_writes
from textrawl.tracing import openers, trace_function

logger = logging.getLogger("textrawl")

Row = TypeVar("Row")
Answer = TypeVar("Answer")

_CONNECTIONS = 5  # per process: the embedded Postgres has 100, enough for twenty processes
_MOST_OF_ONE = 2  # connections that one actor can use at the same time on a shared server
_MOST_HEAVY = 1  # connections that heavy calls of all actors can use at the same time
_MARGIN = 0.5  # seconds that Postgres gets to report its own timeout before the call ends
_MOST_ATTEMPTS = 4  # for a call that meets conflicts with other calls
_CONFLICT_PAUSE = 0.05  # longest pause between these attempts, in seconds
_CONFLICTS = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.UndefinedTable,  # a model was dropped during the call
    psycopg.errors.UndefinedFunction,  # a migration replaced the function during the call
    psycopg.errors.InternalError_,  # "cache lookup failed", for the same reason
)
_FAILOVER_PAUSE = 0.2  # seconds before a call is sent to the next primary
# Columns, casts, functions, tables or rights that do not exist (class 42), or a schema.
_FOREIGN_SCHEMA = ("42", "3F000")

_CONFLICT_MESSAGE = "Each attempt met a conflict with other calls: nothing was changed; call again"
_FAULTS = (psycopg.Error, TimeoutError)
# Each of these errors rolls the statement back, or comes before it. So the message can say that
# nothing was changed.
_MESSAGES: dict[type[psycopg.Error], Callable[[], errors.TextrawlError]] = {
    TooManyRequests: errors.ServerBusy,
    PoolTimeout: errors.DatabaseUnavailable,
    PoolClosed: errors.DatabaseUnavailable,
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
    succeeds once. It raises StartRefused if the schema has another version. `read_url` is the
    conninfo of a standby, which then answers calls that write nothing.
    """

    divided = False
    """True if the memory is in several cells."""

    def __init__(
        self,
        conninfo: str,
        *,
        timeout: float,
        max_size: int = _CONNECTIONS,
        check: Callable[[], Awaitable[object]] | None = None,
        read_url: str | None = None,
    ) -> None:
        self._timeout, self._check = timeout, check
        self._turns, self._heavy = Turns(_MOST_OF_ONE), Turns(_MOST_HEAVY)
        self._fails_over = has_several_hosts(conninfo)
        learns = self._fails_over or read_url is not None
        self._primary = ServerPool(
            conninfo,
            timeout=timeout,
            connect_timeout=limit_attempt(conninfo, timeout),
            max_size=max_size,
            learns=learns,
        )
        self.standby: Standby | None = None
        self.probe: PrimaryProbe | None = None
        if read_url is not None:
            pool = ServerPool(
                read_url,
                timeout=timeout,
                connect_timeout=timeout / HOST_ATTEMPTS,
                max_size=max_size,
                learns=True,
            )
            self.standby = Standby(pool, self._primary)
        if learns:
            note = self.standby.note_end if self.standby is not None else None
            self.probe = PrimaryProbe(self._primary, conninfo, timeout=timeout, note=note)

    async def open(self) -> None:
        """Start to connect in the background. Only calls wait for a connection."""
        await self._primary.open()
        if self.standby is not None:
            await self.standby.open()

    async def close(self) -> None:
        """Close all connections."""
        await self._primary.close()
        if self.standby is not None:
            await self.standby.close()

    async def watch(self) -> None:
        """Watch the primary and the standby until cancelled, if somebody has to."""
        async with anyio.create_task_group() as tasks:
            if self.probe is not None:
                tasks.start_soon(self.probe.run)
            if self.standby is not None:
                tasks.start_soon(self.standby.watch)

    def lend(self) -> AbstractAsyncContextManager[Connection]:
        """Lend a connection to the primary."""
        return self._primary.lend()

    def read_gauges(self) -> dict[str, float]:
        """Return the current numbers of connections and of calls, and the lag of the standby."""
        if self.standby is None:
            return self._primary.count()
        reads = {f"{server}_reads": float(count) for server, count in self.standby.reads.items()}
        standby = {
            "standby_used": float(self.standby.usable),
            "standby_lag_seconds": self.standby.lag,
        }
        return self._primary.count() | reads | standby

    async def catch_up(self) -> None:
        """Let later reads of all callers see everything that is committed now.

        Raises DatabaseUnavailable, ServerBusy.
        """
        if self.standby is None:
            return
        with translate("catch_up"), anyio.fail_after(self._timeout + _MARGIN):
            self.standby.marks.note_for_all(await self._primary.find_end())

    async def call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        """Return the rows of the SQL function textrawl.`function` as instances of `row`.

        `row` is a dataclass or a part of a reply, whose fields name the columns, or the type of the
        only value. SimpleNamespace gets all columns. Arguments are passed by name.

        Raises DatabaseUnavailable, ServerBusy, InternalError, DataRefused.
        """
        query, factory = _plan(function, row, tuple(arguments))
        if keys := repository.get():
            query, arguments = enter_repository(query), arguments | name_repository(keys, arguments)
        statement = Statement(query, factory, arguments, function in SHORT)
        if "tool" in arguments:  # only writes have this argument; their vectors are already made
            await wait_for_earlier_writes()
        span = trace_function(function) if openers else nullcontext()
        shared = account.get() is not None or function in HEAVY
        try:
            with span, anyio.fail_after(self._timeout + _MARGIN):
                async with self.take_turns(function) if shared else nullcontext():
                    if self._check is not None:
                        await self.check_once()
                    return await self._answer(function, statement)
        except _FAULTS as error:
            raise _explain(error, function) from None

    async def call_explained(
        self, function: LiteralString, row: type[Row], refused: str = "", /, **arguments: object
    ) -> list[Row]:
        """Return the rows of a SQL function.

        A refusal of the database becomes the error that says what to do. It names the parameter
        `refused`. Raises TextrawlError.
        """
        try:
            return await self.call(function, row, **arguments)
        except DataRefused as refusal:
            raise refusal.explain(refused) from refusal

    async def value(self, function: LiteralString, kind: type[Row], /, **arguments: object) -> Row:
        """Return the value of a SQL function that returns one value, of the type `kind`."""
        [value] = await self.call(function, kind, **arguments)
        return value

    async def _answer(self, function: str, statement: Statement[Row]) -> list[Row]:
        """Return the rows of the standby or of a primary. Repeat a call that meets conflicts."""
        noting = False
        if self.standby is not None:
            rows = await self.standby.read(statement) if self.standby.serves(function) else None
            if rows is not None:
                return rows
            noting = function not in self._primary.reads
        attempt = partial(self._write if noting else self._primary.run, statement)
        if self._fails_over:
            attempt = partial(self._repeat, attempt, partial(self._may_repeat, function))
        # Build AsyncRetrying only after a conflict: conflicts are rare, and building it is slow.
        try:
            return await attempt()
        except _CONFLICTS:
            retrying = AsyncRetrying(
                retry=retry_if_exception_type(_CONFLICTS),
                stop=stop_after_attempt(_MOST_ATTEMPTS - 1),
                wait=wait_random(0, _CONFLICT_PAUSE),
                reraise=True,
            )
            return await retrying(attempt)

    async def ask(self, question: Callable[[Connection], Awaitable[Answer]]) -> Answer:
        """Ask the primary a short question that changes nothing if it is repeated.

        The next primary gets the question again. Raises psycopg.Error, TimeoutError.
        """

        async def attempt() -> Answer:
            async with self._primary.lend(short=True) as connection:
                return await question(connection)

        with anyio.fail_after(self._timeout + _MARGIN):
            if not self._fails_over:
                return await attempt()
            return await self._repeat(attempt, is_broken)

    async def _repeat(
        self,
        attempt: Callable[[], Awaitable[Answer]],
        may_repeat: Callable[[psycopg.Error], bool],
    ) -> Answer:
        """Repeat an attempt on the next primary, until the time limit of a call."""
        end = time.monotonic() + self._timeout
        while True:
            began = time.monotonic()
            try:
                return await attempt()
            except (PoolClosed, PoolTimeout, TooManyRequests):
                raise
            except (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction) as error:
                if not may_repeat(error) or time.monotonic() >= end:
                    raise
            await self._primary.renew(began)
            await anyio.sleep(_FAILOVER_PAUSE)

    def _may_repeat(self, function: str, error: psycopg.Error) -> bool:
        """Return whether to repeat a call on the next primary."""
        if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
            return True  # the server has become a standby, so nothing was changed
        return is_broken(error) and (function in REPEATABLE or function in self._primary.reads)

    @asynccontextmanager
    async def take_turns(self, function: str, server: str = "") -> AsyncGenerator[None]:
        """Wait until the actor may have a connection for `function`. Raises ServerBusy.

        Several servers of one database have turns of their own.
        """
        person, is_heavy = account.get(), function in HEAVY
        async with AsyncExitStack() as turns:
            try:
                with anyio.fail_after(self._timeout):
                    # Wait for the actor's turn first. This order lets at most two calls of one
                    # actor wait for the turn of heavy calls.
                    if person:
                        await turns.enter_async_context(self._turns.take(server + person))
                    if is_heavy:
                        await turns.enter_async_context(self._heavy.take(f"{server}heavy"))
            except TimeoutError:
                raise errors.ServerBusy(
                    "Earlier calls took too long: retry in a few seconds; nothing was changed"
                ) from None
            yield

    async def _write(self, statement: Statement[Row]) -> list[Row]:
        """Run a statement that can write, and note the end of the WAL that later reads need."""
        assert self.standby is not None  # noqa: S101 - checked by the only caller
        person, answered = account.get(), False
        try:
            rows, end = await self._primary.write(statement)
            answered = True
        except psycopg.Error as error:
            answered = not is_broken(error)
            raise
        finally:
            if not answered:  # also if the call was cancelled
                self.standby.marks.doubt(person)
        self.standby.marks.note(person, end)
        return rows

    async def check_once(self) -> None:
        """Check the schema of a database that could not be reached at the start."""
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


@lru_cache
def _plan(
    function: LiteralString, row: type[Row], names: tuple[str, ...]
) -> tuple[bytes, BaseRowFactory[Row]]:
    """Return the statement that calls a function, and the way to make a row of its columns."""
    query = compose("textrawl", function, list_columns(function, row), names)
    # Columns are passed by position: the query names them in the order of the fields.
    if row is SimpleNamespace:
        return query, kwargs_row(row)
    builder = find_builder(row)
    return query, scalar_row if builder is _return_value else args_row(builder)


class Loadable(Protocol):
    """A class of rows that lists its columns itself, such as a part of a reply."""

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Return the columns."""
        ...

    @classmethod
    def load(cls, *values: Any) -> Self:
        """Return the row with these values of the columns."""
        ...


def list_columns(function: str, row: type[object]) -> tuple[str, ...]:
    """Return the columns of `row`, or none for SimpleNamespace, which has all.

    The only value of a function has the name of the function.
    """
    if row is SimpleNamespace:
        return ()
    if is_dataclass(row):
        return tuple(field.name for field in fields(row))
    return cast("type[Loadable]", row).columns() if hasattr(row, "columns") else (function,)


def find_builder(row: type[Row]) -> Callable[..., Row]:
    """Return the function that makes a row of the values of its columns."""
    if is_dataclass(row):
        return row
    return getattr(row, "load", _return_value)


def _return_value(value: Any) -> Any:
    return value


def compose(schema: str, function: str, columns: Sequence[str], names: Sequence[str]) -> bytes:
    """Return the statement that calls a SQL function with named arguments."""
    arguments = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in names
    )
    query = sql.SQL("select {} from {}({})").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)) if columns else sql.SQL("*"),
        sql.Identifier(schema, function),
        arguments,
    )
    if tuple(columns) == (function,):  # the only column of the function can have another name
        query += sql.SQL(" as {0}({0})").format(sql.Identifier(function))
    return query.as_bytes(None)


_REPOSITORY, _QUESTION = "repository of the session", "question of the session"


@lru_cache(maxsize=4096)
def enter_repository(query: bytes) -> bytes:
    """Return a statement that first sets the repository and the question, until it ends.

    Inside, `offset 0` and the reference to `here` make Postgres evaluate the setting first.
    """
    return (
        b"with here as materialized"
        b" (select set_config('textrawl.repository', %%(%b)s, true) as keys,"
        b" set_config('textrawl.question', %%(%b)s, true))"
        b" select answer.* from here cross join lateral"
        b" (select called.* from (%b) called where here.keys is not null offset 0) answer"
    ) % (_REPOSITORY.encode(), _QUESTION.encode(), query)


def name_repository(keys: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the values for `enter_repository`. A read can name other repositories."""
    asked = arguments.get("query") or arguments.get("entity") or ""
    return {_REPOSITORY: keys, _QUESTION: "" if "tool" in arguments else str(asked)}


@contextmanager
def translate(function: str) -> Generator[None]:
    """Turn errors of Postgres into errors of textrawl."""
    try:
        yield
    except _FAULTS as error:
        raise _explain(error, function) from None


def _explain(error: psycopg.Error | TimeoutError, function: str) -> Exception:
    """Return the error to raise instead of `error`, because its text can contain stored texts."""
    if isinstance(error, TimeoutError):
        return errors.DatabaseUnavailable(
            f"No answer within TEXTRAWL_DATABASE_TIMEOUT. {advise(function)}"
        )
    if error.sqlstate and error.sqlstate in REFUSALS:
        refusal = DataRefused(error.sqlstate, error.diag.message_detail)
        return refusal.explain() if refusal.code in ACCESS else refusal
    for kind, build_error in _MESSAGES.items():
        if isinstance(error, kind):
            return build_error()
    logger.error("textrawl.%s failed: %s %s", function, type(error).__name__, error.sqlstate)
    if (error.sqlstate or "").startswith(_FOREIGN_SCHEMA):
        return errors.SchemaUnfit()
    if isinstance(error, psycopg.OperationalError):
        return errors.DatabaseUnavailable(f"The connection broke. {advise(function)}")
    return errors.InternalError()


def advise(function: str) -> str:
    """Return whether to repeat a call of which nobody knows whether it was stored."""
    if function in STORED_AGAIN:
        return "Look in a few seconds whether it was stored: a repeated call stores it again"
    return "Retry in a few seconds: repeating a call stores nothing twice"
