"""The operations of the `review` toolset: they call SQL functions."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from textrawl.access.principal import Caller
from textrawl.memory.store import Store
from textrawl.models.embeddings import compose_document


@dataclass(frozen=True)
class ProposalRow:
    """A proposal from list_proposals. `total` is the number of all proposals that match.

    `finding` is what `textrawl tidy` found, and `evidence` then its reason.

    `beside` has {id, content, why} for each stored fact that a pending proposal repeats, replaces
    or contradicts. It is None if the caller cannot read the space or the proposal is decided.
    """

    id: UUID
    space_name: str
    kind: str
    entity_name: str
    entity_type: str | None
    content: str
    author_name: str
    client: str | None
    created_at: datetime
    state: str
    decided_at: datetime | None
    decided_by: str | None
    reason: str | None
    evidence: str | None
    finding: str | None
    observation_id: UUID | None
    relation_id: UUID | None
    beside: list[dict[str, Any]] | None
    total: int


@dataclass(frozen=True)
class PlannedRow:
    """The plan of a decision: accepting is new, repeats, replaces, merges, ends or is refused.

    `fault` says why it is refused: ended (its end has passed) or gone (what it replaces, or what
    was found).
    """

    id: UUID
    space_name: str
    author_name: str
    entity_name: str
    content: str
    outcome: str
    fault: str | None
    beside: list[dict[str, Any]]


@dataclass(frozen=True)
class DecidedRow:
    """A decided proposal, and the fact or relation that it became if it was accepted."""

    id: UUID
    state: str
    entity_name: str
    observation_id: UUID | None
    relation_id: UUID | None
    duplicate: bool


@dataclass(frozen=True)
class AmendedRow:
    """The fact of an accepted proposal with the text of the reviewer."""

    entity_name: str
    observation_id: UUID


@dataclass(frozen=True)
class FindingRow:
    """A finding of tidy_memory. `proposal_id` is None in a dry run."""

    finding: str
    proposal_id: UUID | None
    entity_name: str
    content: str
    evidence: str


State = Literal["pending", "accepted", "rejected", "withdrawn", "any"]
Decision = Literal["accept", "reject"]


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

    def __init__(self, store: Store) -> None:
        self._store = store

    async def list(self, chosen: Filter, caller: Caller) -> Sequence[ProposalRow]:
        """Return the proposals that the caller reviews, and the caller's own, oldest first."""
        return await self._store.call(
            "list_proposals", ProposalRow, **asdict(chosen), **_find_place(caller)
        )

    async def count_waiting(self, caller: Caller) -> int:
        """Return how many proposals wait for a decision of the caller."""
        if not any("review" in space.scopes for space in caller.principal.readable):
            return 0
        return await self._store.call_one("count_waiting", int, **_find_place(caller))

    async def plan(self, proposals: Sequence[str], caller: Caller) -> Sequence[PlannedRow]:
        """Return what accepting would store. Raises ArgumentInvalid for an unknown id."""
        return await self._store.call(
            "plan_decision", PlannedRow, "ids", proposals=list(proposals), **_find_place(caller)
        )

    async def decide(
        self, proposals: Sequence[str], decision: Decision, reason: str | None, caller: Caller
    ) -> Sequence[DecidedRow]:
        """Accept or reject pending proposals, all or nothing. Raises ArgumentInvalid."""
        return await self._store.call(
            "decide_proposals",
            DecidedRow,
            "ids",
            proposals=list(proposals),
            decision=decision,
            reason=reason,
            **caller.writing,
        )

    async def tidy(self, caller: Caller, *, dry_run: bool) -> Sequence[FindingRow]:
        """Propose what is out of order in the space of the caller, or only list it."""
        return await self._store.call("tidy_memory", FindingRow, dry_run=dry_run, **caller.writing)

    async def amend(self, proposal: str, text: str, caller: Caller) -> str:
        """Accept a fact, and store the text that is right in its place, both or nothing.

        Return the name of the entity. Raises ArgumentInvalid.
        """
        [planned] = await self.plan([proposal], caller)
        document = compose_document(planned.entity_name, text)
        model, vectors = await self._store.embed_documents([document])
        row = await self._store.call_one(
            "amend_proposal",
            AmendedRow,
            "id",
            proposal=proposal,
            successor=text,
            model=model,
            embedding=vectors[0] if vectors else None,
            **caller.writing,
        )
        return row.entity_name


def _find_place(caller: Caller) -> dict[str, object]:
    """Return the credential, and the only space if the address or a setting names one."""
    principal = caller.principal
    place = principal.home if principal.pinned else None
    return {"credential": principal.credential, "space": place}
