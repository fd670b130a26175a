"""The operations of the `review` toolset: they call SQL functions."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from textrawl.memory.command_results import (
    DecidedRow,
    Decision,
    FindingRow,
    PlannedRow,
    ProposalRow,
    State,
)
from textrawl.memory.store import StoreCall
from textrawl.models.embeddings import compose_document


@dataclass(frozen=True)
class AmendedRow:
    """The fact of an accepted proposal with the text of the reviewer."""

    entity_name: str
    observation_id: UUID


@dataclass(frozen=True)
class Filter:
    """The proposals to list. A field that is None restricts nothing."""

    author: str | None = None
    entity: str | None = None
    since: datetime | None = None
    decision: State = "pending"
    max_rows: int = 20
    skip: int = 0


class ReviewOperations:
    """The proposals of one memory."""

    def __init__(self, call: StoreCall) -> None:
        self._call = call
        principal = call.caller.principal
        # The space is None, for all spaces, unless the address or a setting names the only one.
        space = principal.home if principal.pinned else None
        self._reading = {"credential": principal.credential, "space": space}

    async def find(self, chosen: Filter) -> list[ProposalRow]:
        """Return the proposals that the caller reviews, and the caller's own, oldest first."""
        given = asdict(chosen) | self._reading
        return await self._call.store.call("list_proposals", ProposalRow, **given)

    async def count_waiting(self) -> int:
        """Return how many proposals wait for a decision of the caller."""
        if not any("review" in space.scopes for space in self._call.caller.principal.readable):
            return 0
        return await self._call.store.call_one("count_waiting", int, **self._reading)

    async def plan(self, proposals: Sequence[str]) -> list[PlannedRow]:
        """Return what accepting would store. Raises ArgumentInvalid for an unknown id."""
        return await self._call.store.call(
            "plan_decision", PlannedRow, "ids", proposals=list(proposals), **self._reading
        )

    async def decide(
        self, proposals: Sequence[str], decision: Decision, reason: str | None
    ) -> list[DecidedRow]:
        """Accept or reject pending proposals, all or nothing. Raises ArgumentInvalid."""
        given = {"proposals": list(proposals), "decision": decision, "reason": reason}
        return await self._call.write("decide_proposals", DecidedRow, "ids", **given)

    async def tidy(self, *, dry_run: bool) -> list[FindingRow]:
        """Propose what is out of order in the space of the caller, or only list it."""
        return await self._call.write("tidy_memory", FindingRow, dry_run=dry_run)

    async def amend(self, proposal: str, text: str) -> str:
        """Accept a fact, and store the text that is right in its place, both or nothing.

        Return the name of the entity. Raises ArgumentInvalid.
        """
        [planned] = await self.plan([proposal])
        document = compose_document(planned.entity_name, text)
        model, vectors = await self._call.store.embed_documents([document])
        row = await self._call.write_one(
            "amend_proposal",
            AmendedRow,
            "id",
            proposal=proposal,
            successor=text,
            model=model,
            embedding=vectors[0] if vectors else None,
        )
        return row.entity_name
