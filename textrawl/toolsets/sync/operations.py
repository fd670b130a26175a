"""The operations of the `sync` toolset: they call SQL functions.

They read and write only the caller's home space.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from textrawl.access.principal import Caller
from textrawl.postgres.sqlstates import DataRefused
from textrawl.store.store import Store
from textrawl.toolsets.sync.rows import (
    ChangedRow,
    ExtractionRow,
    PushedRow,
    RegisteredRow,
    StateRow,
)

_PAGE = 200  # documents that a pull reads


@dataclass(frozen=True)
class Program:
    """An instance, as it describes itself."""

    id: str
    type: str | None = None
    name: str | None = None
    version: str | None = None


class SyncOperations:
    """The documents of one space, and the instances that share them."""

    def __init__(self, store: Store) -> None:
        self._call = store.database.call

    async def pull(self, since: int | None, caller: Caller) -> Sequence[ChangedRow]:
        """Return the first documents that changed after `since`, in the order of the changes."""
        return await self._call(
            "changed_documents", ChangedRow, since=since, max_rows=_PAGE, **caller.reading_home
        )

    async def push(
        self,
        program: Program,
        changes: Sequence[dict[str, object]],
        since: int | None,
        caller: Caller,
    ) -> PushedRow:
        """Store changes in one transaction. The upkeep makes the vectors of journal entries."""
        try:
            [row] = await self._call(
                "push_changes",
                PushedRow,
                instance=program.id,
                instance_type=program.type or "other",
                changes=json.dumps(changes),
                since=since,
                **caller.writing,
            )
        except DataRefused as refusal:
            raise refusal.explain("lastSyncVersion") from refusal
        return row

    async def register(self, program: Program, caller: Caller) -> None:
        """Store that an instance synchronizes now."""
        await self._call(
            "register_instance",
            RegisteredRow,
            instance=program.id,
            instance_type=program.type,
            name=program.name,
            version=program.version,
            **caller.writing,
        )

    async def read_state(self, caller: Caller) -> StateRow:
        """Return the version of the documents of the space, and the instances."""
        [row] = await self._call("sync_state", StateRow, **caller.reading_home)
        return row

    async def read_extraction(self, caller: Caller) -> ExtractionRow:
        """Return the totals of the extraction from journal entries."""
        home = caller.principal.home
        [row] = await self._call(
            "extraction_state",
            ExtractionRow,
            spaces=None if home is None else [home],
            credential=caller.principal.credential,
        )
        return row
