"""Rows that the SQL functions of the review toolset return: a class for each function."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class ProposalRow:
    """A proposal from list_proposals. `total` is the number of all proposals that match.

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
    observation_id: UUID | None
    relation_id: UUID | None
    beside: list[dict[str, Any]] | None
    total: int


@dataclass(frozen=True)
class PlannedRow:
    """What accepting a proposal would do: new, repeats, replaces or refused.

    `fault` says why it is refused: ended (its end has passed), same (a relation of an entity to
    itself) or gone (the fact that it replaces).
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
