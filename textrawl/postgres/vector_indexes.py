"""Vector indexes. They are dropped before many vectors are stored, and built afterwards.

Adding a vector to an existing index takes about a millisecond. Building the index afterwards takes
less than half of this time per vector. Without the index, a search compares the query with every
vector, which is slower but gives the same results. A crash during a build leaves an invalid index.
The next build replaces it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio
import psycopg

from textrawl.errors import DatabaseUnavailable, StartRefused
from textrawl.postgres.connection import OwnerLogin
from textrawl.postgres.owner_session import Session, open_writing

_OBSERVATION_INTERVAL = 1.0  # seconds between queries for the progress of a build

Observe = Callable[[Session], Awaitable[None]]
Report = Callable[[int, int], object]
"""A function that gets the number of indexed blocks and the number of all blocks of vectors."""


class IndexSuspension:
    """The suspension of a vector index while a file with many vectors is stored.

    `size` is the size of the file in bytes, or None if it is unknown.
    """

    def __init__(self, session: Session, size: int | None) -> None:
        self._session, self._size = session, size
        self._stored, self._last_estimate = 0, 0

    async def prepare(self, model: int, vectors: int, weight: int, position: int) -> None:
        """Drop the index if the file has so many vectors that building it later is faster.

        `vectors` were read from `weight` bytes of the file, which end at `position`. The number of
        vectors in the rest of the file is estimated from this.
        """
        self._stored += vectors
        estimate = self._stored
        if self._size is not None and vectors:
            estimate = vectors + round(vectors * (self._size - position) / max(weight, 1))
        # The estimate for a file hardly changes. The estimate for a stream grows, and is checked
        # each time it has doubled.
        if estimate < 2 * self._last_estimate or not self._session.lasting or self._session.pooled:
            return  # a pooled session could not keep its claim of the indexes
        self._last_estimate = estimate
        await self._session.call("suspend_vector_index", model, estimate)


async def build_indexes(
    login: OwnerLogin, session: Session, report: Report, *, building: bool = False
) -> list[str]:
    """Build the missing indexes without blocking writes, and return the names of their models.

    With `building`, include the model that is being built. If another session is building indexes,
    return an empty list. Raises StartRefused, DatabaseUnavailable.
    """
    if not await session.call("missing_vector_indexes", building):
        return []
    async with _claim(login, session) as claimed:
        if not claimed:
            return []
        missing = await session.call("missing_vector_indexes", building)
        return await _build(login, session, report, missing)


def _ignore_progress(done: int, total: int) -> None:
    """Report nothing."""


async def build_missing_indexes(
    conninfo: str, report: Report = _ignore_progress, *, building: bool = False
) -> list[str]:
    """Do the same as `build_indexes`, for the owner's `conninfo`."""
    login = _make_login(conninfo)
    async with open_writing(login) as session:
        return await build_indexes(login, session, report, building=building)


async def index_space(conninfo: str, space: int, report: Report = _ignore_progress) -> list[str]:
    """Build indexes of the vectors of one space, one per model, and all other missing indexes.

    Return a name for each index, such as `openai:bge-m3 in team`. Raises DatabaseUnavailable.
    Raises StartRefused, also if another session is building indexes.
    """
    login = _make_login(conninfo)
    async with open_writing(login) as session, _require_claim(login, session):
        missing = await session.call("missing_vector_indexes", False, space)
        return await _build(login, session, report, missing)


async def drop_space_index(conninfo: str, space: int) -> bool:
    """Drop the indexes of one space without blocking searches. Return False if it has no index.

    Raises the errors of `index_space`.
    """
    login = _make_login(conninfo)
    async with open_writing(login) as session, _require_claim(login, session):
        drops = await session.call("own_index_drops", space)
        for statement, _ in drops:
            await session.execute(statement)
        return bool(drops)


def _make_login(conninfo: str) -> OwnerLogin:
    return OwnerLogin(conninfo, None, 10)


@asynccontextmanager
async def _claim(login: OwnerLogin, session: Session) -> AsyncGenerator[bool]:
    """Claim the right to build indexes. Yield False if another session has it."""
    async with AsyncExitStack() as stack:
        holder = session
        if session.pooled:
            # A transaction holds the claim, because the pooler can lend a session to others.
            holder = await stack.enter_async_context(open_writing(login))
            await stack.enter_async_context(holder.hold())
        [(claimed,)] = await holder.call("claim_vector_indexes", session.pooled)
        try:
            yield claimed
        finally:
            if claimed:
                # A broken connection has already released its claim.
                with suppress(psycopg.Error, DatabaseUnavailable):
                    await holder.call("release_vector_indexes")


@asynccontextmanager
async def _require_claim(login: OwnerLogin, session: Session) -> AsyncGenerator[None]:
    async with _claim(login, session) as claimed:
        if not claimed:
            raise StartRefused(
                "Another session is building vector indexes: run this again when it is done"
            )
        yield


async def _build(
    login: OwnerLogin, session: Session, report: Report, missing: list[tuple[Any, ...]]
) -> list[str]:
    """Run the statements of `missing_vector_indexes`, and return the names of their models."""
    for model, _, statements in missing:
        for statement in statements:
            await _run(login, session, statement, partial(_report_progress, model, report))
    return [name for _, name, _ in missing]


async def _run(login: OwnerLogin, session: Session, statement: str, observe: Observe) -> None:
    """Run a statement, and meanwhile call `observe` with another session again and again."""
    failures = list[psycopg.Error]()
    done = anyio.Event()

    async def run() -> None:
        try:
            await session.execute(statement)
        except psycopg.Error as error:
            failures.append(error)
        done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        with suppress(DatabaseUnavailable):
            async with open_writing(login) as observer:
                # Wait for the end of an observation instead of cancelling it: PgBouncer 1.18 ends
                # if a client sends a request to cancel and disconnects.
                while not done.is_set():
                    with anyio.move_on_after(_OBSERVATION_INTERVAL):
                        await done.wait()
                    if not done.is_set():
                        await observe(observer)
    if failures:
        raise failures[0]


async def _report_progress(model: int, report: Report, observer: Session) -> None:
    for done, total in await observer.call("vector_index_progress", model):
        if total:
            report(done, total)
