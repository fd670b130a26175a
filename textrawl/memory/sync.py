"""The operations of the `sync` toolset: they call SQL functions.

They read and write only the caller's home space.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from textrawl.access.principal import Caller
from textrawl.memory.store import Store
from textrawl.postgres.sqlstates import DataRefused


@dataclass(frozen=True)
class ChangedRow:
    """A document of changed_documents. `content` is None if the document was deleted."""

    kind: str
    path: str
    changed: int
    granularity: str | None
    date: str | None
    slug: str | None
    instance: str | None
    content: str | None
    label: str | None
    chat_ids: list[str]
    participants: list[str]
    number: int | None
    created_at: datetime | None
    modified_at: datetime | None
    modified_by: str | None
    remaining: int


@dataclass(frozen=True)
class PushedRow:
    """The outcome of push_changes. `outcomes` has an object for each change."""

    outcomes: list[dict[str, Any]]
    known_version: int
    server_version: int
    space_id: int


@dataclass(frozen=True)
class StateRow:
    """The version of the documents of a space, and the instances that share them."""

    server_version: int
    instances: list[dict[str, Any]]


@dataclass(frozen=True)
class ExtractionRow:
    """The totals of the extraction from journal entries."""

    last_attempt: datetime | None
    last_success: datetime | None
    last_error: str | None
    attempts_total: int
    successes_total: int
    nodes_created_total: int
    edges_created_total: int
    pending: int


@dataclass(frozen=True)
class RegisteredRow:
    """When register_instance first saw an instance."""

    first_seen: datetime


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
