"""The trail of a memory: listing and following its events, and undoing what an author wrote."""

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

_PAUSE = 0.5  # seconds between queries for new events, because writes send no notification
_PAGE = 500
_CURSOR = re.compile(r"[0-9]{1,19}:[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True)
class PlanRow:
    """A step of plan_undo, with the content of a fact, relation or reflection.

    `new_author` is the author that a fact passes to, or the other author of a reflection.
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
    """The row counts of undo_author in a space."""

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
    """The counts of revert_undo in a space: rows put back, and rows merged with newer ones."""

    space_name: str
    restored: int
    merged: int


@dataclass(frozen=True)
class PurgedRow:
    """The counts of purge_undone in a space: undos, and their rows."""

    space_name: str
    undos: int
    rows: int


@dataclass(frozen=True)
class EventRow:
    """An event of the trail. read_events continues after it from `cursor`."""

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
    """A row of trail_end."""

    trail_end: str


@dataclass(frozen=True)
class Filter:
    """A filter of events. `entity` is a name. None means all."""

    author: str | None = None
    entity: str | None = None
    action: str | None = None
    since: datetime | None = None


class Trail:
    """The trail of one space, or of all spaces, where the credential has the scope admin.

    Each method raises NotAuthenticated, ScopeMissing, DatabaseUnavailable.
    """

    def __init__(self, database: Database, credential: bytes | None, space: int | None) -> None:
        self._database = database
        self._credential = credential
        self._space = space

    async def plan(self, author: str, since: datetime, *, others: bool = False) -> list[PlanRow]:
        """Return the steps of `undo` as of now. Raises ArgumentInvalid for an unknown author."""
        return await self._call("plan_undo", PlanRow, author=author, since=since, others=others)

    async def undo(self, author: str, since: datetime, *, others: bool = False) -> list[UndoRow]:
        """Undo what an author wrote, and return a row for each space that was changed.

        With `others`, also remove reflections of others on removed items. Raises ArgumentInvalid
        for an unknown author.
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
        """Revert an undo. Raises ArgumentInvalid if that is not possible."""
        [row] = await self._call("revert_undo", RevertedRow, undo=undo, tool="textrawl undo")
        return row

    async def purge(self, older_than: timedelta | None) -> list[PurgedRow]:
        """Delete the rows that undos keep, of all undos or of those older than this."""
        return await self._call("purge_undone", PurgedRow, older_than=older_than)

    async def list_events(self, chosen: Filter, limit: int) -> list[EventRow]:
        """Return the newest events, newest first."""
        return await self._call(
            "list_events",
            EventRow,
            author=chosen.author,
            entity=chosen.entity,
            doing=chosen.action,
            since=chosen.since,
            max_rows=limit,
        )

    async def find_end(self) -> str:
        """Return the current cursor, for `follow`."""
        [row] = await self._database.call("trail_end", TrailEndRow)
        return row.trail_end

    async def follow(self, after: str) -> AsyncGenerator[EventRow]:
        """Yield each event after a cursor once, as it happens, without end.

        Raises ArgumentInvalid for an invalid cursor.
        """
        if not _CURSOR.fullmatch(after):
            raise ArgumentInvalid("cursor: give one that `textrawl log --follow --json` wrote")
        while True:
            # Read until a page is empty: new events may follow a short page.
            while rows := await self._read_page(after):
                for row in rows:
                    yield row
                after = rows[-1].cursor
            await anyio.sleep(_PAUSE)

    async def _read_page(self, after: str) -> list[EventRow]:
        """Return the next events, or none while the database is unavailable: follow retries."""
        transaction, _, number = after.partition(":")
        try:
            return await self._call(
                "read_events",
                EventRow,
                after_transaction=transaction,
                after_id=int(number),
                max_rows=_PAGE,
            )
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
    """Return the id of the space of that name, or None for None.

    Raises SpaceNotFound, also for a space without a grant, NotAuthenticated, DatabaseUnavailable.
    """
    principals = await database.call("authenticate", PrincipalRow, credential=credential)
    if not principals:
        raise NotAuthenticated
    [principal] = principals
    ids = {str(space["name"]): int(space["id"]) for space in principal.spaces}
    if name is not None and name not in ids:
        names = ", ".join(ids) or "none"
        raise SpaceNotFound(f"Spaces that {principal.actor} may use: {names}")
    return None if name is None else ids[name]
