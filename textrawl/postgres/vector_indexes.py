"""Indexes of vectors around a large fill: dropped before it, built at once after it.

A vector costs about a millisecond in an index that is in use, and less than half of that in one
that is built when all are there. Until it is, searches compare with every vector: they are slower
and as right. What is built while others write is left half done by a crash, and is then as good as
none: whoever comes next makes it anew.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio
import psycopg

from textrawl.errors import DatabaseUnavailable, StartRefused
from textrawl.postgres.owner_session import Session, open_writing
from textrawl.postgres.place import Place

_LOOK = 1.0  # seconds between looks at how far a build is

Look = Callable[[Session], Awaitable[None]]
Report = Callable[[int, int], object]
"""Is told how many blocks of vectors are in the index, and how many there are."""


class Room:
    """Makes room for the vectors of a file: without an index where most are still to come.

    `size` is the file's in bytes, None where nobody knows.
    """

    def __init__(self, session: Session, size: int | None) -> None:
        self._session, self._size = session, size
        self._stored, self._asked = 0, 0

    async def expect(self, model: int, vectors: int, weight: int, position: int) -> None:
        """Before storing so many new `vectors`, from `weight` bytes that end at `position`."""
        self._stored += vectors
        coming = self._stored
        if self._size is not None and vectors:
            coming = vectors + round(vectors * (self._size - position) / max(weight, 1))
        # What is true of a file shows at once; of a stream whenever it has doubled.
        if coming < 2 * self._asked or not self._session.lasting or self._session.pooled:
            return  # through a pooler nobody could claim the indexes until the end
        self._asked = coming
        await self._session.call("suspend_vector_index", model, coming)


async def build_indexes(
    place: Place, session: Session, report: Report, *, building: bool = False
) -> list[str]:
    """Makes the indexes that are missing, while others write; names of what they are of.

    That of a model which is being built, too, if so told. None where another session is at it.
    Raises StartRefused, DatabaseUnavailable.
    """
    if not await session.call("missing_vector_indexes", building):
        return []
    async with _claim(place, session) as claimed:
        if not claimed:
            return []
        missing = await session.call("missing_vector_indexes", building)
        return await _make(place, session, report, missing)


def _keep_quiet(done: int, total: int) -> None:
    """Nobody watches."""


async def mend_indexes(
    conninfo: str, report: Report = _keep_quiet, *, building: bool = False
) -> list[str]:
    """As build_indexes, for the owner's `conninfo`."""
    place = _find_place(conninfo)
    async with open_writing(place) as session:
        return await build_indexes(place, session, report, building=building)


async def index_space(conninfo: str, space: int, report: Report = _keep_quiet) -> list[str]:
    """Makes the index of a space's own vectors, of every model that answers, and what is missing.

    Names of what was made. Raises StartRefused, also while another session makes indexes;
    DatabaseUnavailable.
    """
    place = _find_place(conninfo)
    async with open_writing(place) as session, _require_claim(place, session):
        missing = await session.call("missing_vector_indexes", False, space)
        return await _make(place, session, report, missing)


async def drop_space_index(conninfo: str, space: int) -> bool:
    """Drops a space's own indexes while others search; False where it has none.

    Raises as index_space does.
    """
    place = _find_place(conninfo)
    async with open_writing(place) as session, _require_claim(place, session):
        drops = await session.call("own_index_drops", space)
        for statement, _ in drops:
            await session.execute(statement)
        return bool(drops)


def _find_place(conninfo: str) -> Place:
    return Place(conninfo, None, 10)


@asynccontextmanager
async def _claim(place: Place, session: Session) -> AsyncGenerator[bool]:
    """Whether `session` is the one that makes indexes; through a pooler, for as long as this."""
    async with AsyncExitStack() as stack:
        holder = session
        if session.pooled:
            # A session could be left to another client: a transaction holds the claim instead.
            holder = await stack.enter_async_context(open_writing(place))
            await stack.enter_async_context(holder.hold())
        [(claimed,)] = await holder.call("claim_vector_indexes", session.pooled)
        try:
            yield claimed
        finally:
            if claimed:
                # A connection that broke has taken its claim with it.
                with suppress(psycopg.Error, DatabaseUnavailable):
                    await holder.call("release_vector_indexes")


@asynccontextmanager
async def _require_claim(place: Place, session: Session) -> AsyncGenerator[None]:
    async with _claim(place, session) as claimed:
        if not claimed:
            raise StartRefused(
                "Another session makes indexes of vectors just now: run this again when it is done"
            )
        yield


async def _make(
    place: Place, session: Session, report: Report, missing: list[tuple[Any, ...]]
) -> list[str]:
    """Runs the statements of missing_vector_indexes; names of what they are of."""
    for model, _, statements in missing:
        for statement in statements:
            await _run(place, session, statement, partial(_look, model, report))
    return [name for _, name, _ in missing]


async def _run(place: Place, session: Session, statement: str, look: Look) -> None:
    """Runs a statement, and meanwhile looks at it from another session."""
    failed = list[psycopg.Error]()

    async def run() -> None:
        try:
            await session.execute(statement)
        except psycopg.Error as error:
            failed.append(error)
        beside.cancel_scope.cancel()

    async with anyio.create_task_group() as beside:
        beside.start_soon(run)
        with suppress(DatabaseUnavailable):
            async with open_writing(place) as observer:
                while True:
                    await anyio.sleep(_LOOK)
                    await look(observer)
    if failed:
        raise failed[0]


async def _look(model: int, report: Report, observer: Session) -> None:
    for done, total in await observer.call("vector_index_progress", model):
        if total:
            report(done, total)
