"""The trail of a memory: its events, and the undo of an author's writes."""

import logging
import re
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from typing import LiteralString, TypeVar
from uuid import UUID

import anyio

from textrawl.errors import ArgumentInvalid, DatabaseUnavailable, ServerBusy
from textrawl.memory.command_results import (
    EventFilter,
    EventRow,
    ImportRow,
    PlanRow,
    PurgedRow,
    RevertedRow,
    UndoRow,
)
from textrawl.postgres.database import Database

logger = logging.getLogger("textrawl")

Row = TypeVar("Row")

_PAUSE = 0.5  # seconds between queries for new events, because writes send no notification
_PAGE = 500
_CURSOR = re.compile(r"[0-9]{1,19}:[0-9]{1,18}", re.ASCII)


class Trail:
    """The trail of one space, or of all spaces in which the credential has the scope `admin`.

    `client` is recorded with an undo. Each method raises NotAuthenticated, ScopeMissing,
    DatabaseUnavailable.
    """

    def __init__(
        self,
        database: Database,
        credential: bytes | None,
        space: int | None,
        client: str | None = None,
    ) -> None:
        self._client = client
        self._database = database
        self._credential = credential
        self._space = space

    async def plan(self, author: str, since: datetime, run: UUID | None = None) -> list[PlanRow]:
        """Return the steps that an undo would take. Raises ArgumentInvalid for unknown authors."""
        return await self._call("plan_undo", PlanRow, author=author, since=since, run=run)

    async def list_imports(self) -> list[ImportRow]:
        """Return the imports of other systems, newest first."""
        return await self._call("list_imports", ImportRow)

    async def undo(self, author: str, since: datetime, run: UUID | None = None) -> list[UndoRow]:
        """Undo what an author wrote, or only one import, and return a row for each changed space.

        Raises ArgumentInvalid for an unknown author.
        """
        return await self._call(
            "undo_author",
            UndoRow,
            author=author,
            since=since,
            run=run,
            client=self._client,
            tool="textrawl undo",
        )

    async def undo_event(self, event: int | None, call: str | None = None) -> UndoRow:
        """Undo one event, or what a call of the same actor wrote in the last day in this space.

        `call` is its request. Needs no scope `admin` if the actor is the author. Raises
        ArgumentInvalid, also if a later event builds on it.
        """
        [row] = await self._call(
            "undo_event", UndoRow, event=event, call=call, client=self._client, tool="textrawl undo"
        )
        return row

    async def revert(self, undo: int) -> list[RevertedRow]:
        """Revert an undo, and return the row of its space. Raises ArgumentInvalid."""
        return await self._call(
            "revert_undo", RevertedRow, undo=undo, client=self._client, tool="textrawl undo"
        )

    async def purge(self, older_than: timedelta | None) -> list[PurgedRow]:
        """Delete the rows that undos keep. With `older_than`, keep the rows of newer undos."""
        return await self._call("purge_undone", PurgedRow, older_than=older_than)

    async def list_events(self, chosen: EventFilter, limit: int) -> list[EventRow]:
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
        [cursor] = await self._call("trail_end", str)
        return cursor

    async def follow(self, after: str) -> AsyncGenerator[EventRow]:
        """Yield each event after the cursor `after` once, and wait without end for new events.

        Raises ArgumentInvalid for an invalid cursor.
        """
        while True:
            # Read until a page is empty: new events may follow a short page.
            while rows := await self._read_page(after):
                for row in rows:
                    yield row
                after = rows[-1].cursor
            await anyio.sleep(_PAUSE)

    async def read(self, after: str) -> list[EventRow]:
        """Return a page of the events after a cursor. Raises ArgumentInvalid."""
        if not _CURSOR.fullmatch(after):
            raise ArgumentInvalid("cursor: give a cursor from `textrawl log --follow --json`")
        transaction, _, number = after.partition(":")
        return await self._call(
            "read_events",
            EventRow,
            after_transaction=transaction,
            after_id=int(number),
            max_rows=_PAGE,
        )

    async def _read_page(self, after: str) -> list[EventRow]:
        """Return the next events, or an empty list while the database is unavailable."""
        try:
            return await self.read(after)
        except (DatabaseUnavailable, ServerBusy) as error:
            logger.info("%s", error.title)
            return []

    async def _call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        return await self._database.call_explained(
            function, row, **arguments, space=self._space, credential=self._credential
        )
