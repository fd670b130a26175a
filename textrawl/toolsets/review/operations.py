"""The operations of the `review` toolset: they call SQL functions."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

from textrawl.access.principal import Caller
from textrawl.postgres.sqlstates import DataRefused
from textrawl.store.store import Store
from textrawl.toolsets.review.rows import DecidedRow, PlannedRow, ProposalRow

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
        self._call = store.database.call

    async def list(self, chosen: Filter, caller: Caller) -> Sequence[ProposalRow]:
        """Return the proposals that the caller reviews, and the caller's own, oldest first."""
        return await self._call(
            "list_proposals", ProposalRow, **asdict(chosen), **_find_place(caller)
        )

    async def plan(self, proposals: Sequence[str], caller: Caller) -> Sequence[PlannedRow]:
        """Return what accepting would store. Raises ArgumentInvalid for an unknown id."""
        try:
            return await self._call(
                "plan_decision", PlannedRow, proposals=list(proposals), **_find_place(caller)
            )
        except DataRefused as refusal:
            raise refusal.explain("ids") from refusal

    async def decide(
        self, proposals: Sequence[str], decision: Decision, reason: str | None, caller: Caller
    ) -> Sequence[DecidedRow]:
        """Accept or reject pending proposals, all or nothing. Raises ArgumentInvalid."""
        try:
            return await self._call(
                "decide_proposals",
                DecidedRow,
                proposals=list(proposals),
                decision=decision,
                reason=reason,
                **caller.writing,
            )
        except DataRefused as refusal:
            raise refusal.explain("ids") from refusal


def _find_place(caller: Caller) -> dict[str, object]:
    """Return the credential, and the only space if the address or a setting names one."""
    principal = caller.principal
    place = principal.home if principal.pinned else None
    return {"credential": principal.credential, "space": place}
