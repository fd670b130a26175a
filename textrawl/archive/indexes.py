"""Indexes of vectors around a large fill: dropped before it, built at once after it.

A vector costs more in an index that is in use than in one that is built when all are there
(docs/performance.md). Until it is, searches compare with every vector: they are slower and as
right. What is built while others write is left half done by a crash, and is then as good as
none: whoever comes next makes it anew.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import anyio
import psycopg

from textrawl.archive.database import Session, open_writing
from textrawl.archive.place import Place
from textrawl.errors import DatabaseUnavailable

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
        if coming < 2 * self._asked or not self._session.lasting:
            return
        self._asked = coming
        await self._session.call("suspend_vector_index", model, coming)


async def build_indexes(
    place: Place, session: Session, report: Report, *, building: bool = False
) -> list[str]:
    """Makes the indexes that are missing, while others write; names of their models.

    That of a model which is being built, too, if so told. None where another session is at it.
    Raises StartRefused, DatabaseUnavailable.
    """
    if not await session.call("missing_vector_indexes", building):
        return []
    [(claimed,)] = await session.call("claim_vector_indexes")
    if not claimed:
        return []
    made = list[str]()
    for model, name, statements in await session.call("missing_vector_indexes", building):
        for statement in statements:
            await _run(place, session, statement, partial(_look, model, report))
        made.append(name)
    return made


def _keep_quiet(done: int, total: int) -> None:
    """Nobody watches."""


async def mend_indexes(
    conninfo: str, report: Report = _keep_quiet, *, building: bool = False
) -> list[str]:
    """As build_indexes, for the owner's `conninfo`."""
    place = Place(conninfo, None, 10)
    async with open_writing(place) as session:
        return await build_indexes(place, session, report, building=building)


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
