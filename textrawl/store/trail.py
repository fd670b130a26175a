"""Who did what to a memory: reading it, following it, and taking back what one author wrote."""

import logging
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import LiteralString, TypeVar
from uuid import UUID

import anyio

from textrawl.access.rows import PrincipalRow
from textrawl.errors import (
    ArgumentInvalid,
    DatabaseUnavailable,
    NotAuthenticated,
    ServerBusy,
    SpaceNotFound,
)
from textrawl.postgres.database import Database
from textrawl.postgres.sqlstates import DataRefused

logger = logging.getLogger("textrawl")

Row = TypeVar("Row")

_PAUSE = 0.5  # seconds between looks for new events: a write notifies nobody
_PAGE = 500
_CURSOR = re.compile(r"[0-9]{1,19}:[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True)
class PlanRow:
    """A step of plan_undo; `content` of a fact, relation or reflection.

    `new_author` is who a fact passes to, or whose reflection it is, if not the author's.
    """

    space_name: str
    action: str
    entity_name: str | None
    kind: str
    id: UUID
    content: str | None
    new_author: str | None


@dataclass(frozen=True)
class UndoRow:
    """What undo_author did in a space, in numbers of rows."""

    undo_id: int
    space_name: str
    removed: int
    handed_over: int
    revived: int
    reset: int
    moved: int
    retyped: int
    dropped: int
    lost: int
    kept: int


@dataclass(frozen=True)
class RevertedRow:
    """What revert_undo put back, and what was there again by then."""

    space_name: str
    restored: int
    merged: int


@dataclass(frozen=True)
class PurgedRow:
    """How many undos of a space purge_undone purged, and rows of them."""

    space_name: str
    undos: int
    rows: int


@dataclass(frozen=True)
class EventRow:
    """A line of the trail; `cursor` is where read_events goes on after it."""

    cursor: str
    at: datetime
    space_name: str
    author_name: str
    client: str | None
    tool: str
    request: str | None
    action: str
    entity_name: str | None
    entity_id: UUID | None
    observation_id: UUID | None
    relation_id: UUID | None


@dataclass(frozen=True)
class TrailEndRow:
    """What trail_end returns."""

    trail_end: str


@dataclass(frozen=True)
class Filter:
    """Which events; None: all. `entity` is a name, `since` the earliest."""

    author: str | None = None
    entity: str | None = None
    action: str | None = None
    since: datetime | None = None


class Trail:
    """The trail of a memory, for somebody with the scope admin, in one space or all of theirs.

    Every method raises NotAuthenticated, ScopeMissing, DatabaseUnavailable.
    """

    def __init__(self, database: Database, credential: bytes | None, space: int | None) -> None:
        self._database = database
        self._credential = credential
        self._space = space

    async def plan(self, author: str, since: datetime, *, others: bool = False) -> list[PlanRow]:
        """What `undo` would do now. Raises ArgumentInvalid for an author nobody knows."""
        return await self._call("plan_undo", PlanRow, author=author, since=since, others=others)

    async def undo(self, author: str, since: datetime, *, others: bool = False) -> list[UndoRow]:
        """Take back what an author wrote, a row for each space where there was anything.

        `others`: also what others think about what goes. Raises ArgumentInvalid for an author
        nobody knows.
        """
        return await self._call(
            "undo_author",
            UndoRow,
            author=author,
            since=since,
            others=others,
            tool="textrawl undo",
        )

    async def revert(self, undo: int) -> RevertedRow:
        """Puts back what an undo took. Raises ArgumentInvalid where that cannot be done."""
        [row] = await self._call("revert_undo", RevertedRow, undo=undo, tool="textrawl undo")
        return row

    async def purge(self, older_than: timedelta | None) -> list[PurgedRow]:
        """Deletes for good what undos keep, of all or of those older than this."""
        return await self._call("purge_undone", PurgedRow, older_than=older_than)

    async def list_events(self, chosen: Filter, limit: int) -> list[EventRow]:
        """The newest events, newest first."""
        return await self._call(
            "list_events", EventRow, author=chosen.author, entity=chosen.entity,
            doing=chosen.action, since=chosen.since, max_rows=limit,
        )  # fmt: skip

    async def find_end(self) -> str:
        """The cursor of now, for `follow`."""
        [row] = await self._database.call("trail_end", TrailEndRow)
        return row.trail_end

    async def follow(self, after: str) -> AsyncGenerator[EventRow]:
        """Every event after a cursor, once, as they happen; it never ends by itself.

        Raises ArgumentInvalid for what is no cursor.
        """
        if not _CURSOR.fullmatch(after):
            raise ArgumentInvalid("cursor: give one that `textrawl log --follow --json` wrote")
        while True:
            # A page, however short: one that ends early may have been followed by others.
            while rows := await self._read_page(after):
                for row in rows:
                    yield row
                after = rows[-1].cursor
            await anyio.sleep(_PAUSE)

    async def _read_page(self, after: str) -> list[EventRow]:
        """The next events; none while the database is away, since it will be looked at again."""
        transaction, _, number = after.partition(":")
        try:
            return await self._call(
                "read_events", EventRow, after_transaction=transaction, after_id=int(number),
                max_rows=_PAGE,
            )  # fmt: skip
        except (DatabaseUnavailable, ServerBusy) as error:
            logger.info("%s", error.title)
            return []

    async def _call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        try:
            return await self._database.call(
                function, row, **arguments, space=self._space, credential=self._credential
            )
        except DataRefused as refused:
            raise refused.explain() from None


async def find_space(database: Database, credential: bytes | None, name: str | None) -> int | None:
    """The id of the space of that name; None for None.

    Raises SpaceNotFound, also for one that is not theirs, NotAuthenticated, DatabaseUnavailable.
    """
    known = await database.call("authenticate", PrincipalRow, credential=credential)
    if not known:
        raise NotAuthenticated
    ids = {str(space["name"]): int(space["id"]) for space in known[0].spaces}
    if name is not None and name not in ids:
        told = ", ".join(ids) or "none"
        raise SpaceNotFound(f"Spaces that {known[0].actor} may use: {told}")
    return None if name is None else ids[name]
