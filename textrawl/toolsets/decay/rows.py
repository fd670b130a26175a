"""Rows that the SQL functions of the decay toolset return: a class for each function."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class SavedRow:
    """A memory that save_memory stored, or that the entity had already (`duplicate`)."""

    memory_id: UUID
    duplicate: bool
    embedded: bool


@dataclass(frozen=True)
class FoundRow:
    """A memory that search_memories found. `for_review` is true if it fills a slot for review."""

    memory_id: UUID
    entity_name: str
    content: str
    tags: list[str]
    status: str
    score: float
    similarity: float | None
    strength: float
    use_count: int
    last_used: datetime
    created_at: datetime
    review_priority: float
    for_review: bool


@dataclass(frozen=True)
class UsedRow:
    """A memory whose use reinforce_memories recorded, or an id without a memory (not `found`)."""

    memory_id: UUID
    found: bool
    cross_domain: bool | None
    old_score: float | None
    new_score: float | None
    use_count: int | None
    review_count: int | None
    strength: float | None


@dataclass(frozen=True)
class FadedRow:
    """A memory that gc would take."""

    memory_id: UUID
    score: float


@dataclass(frozen=True)
class EndedRow:
    """A memory that gc ended."""

    memory_id: UUID


@dataclass(frozen=True)
class LinkedRow:
    """A link that link_memories stored. `created` is false if the link existed."""

    link_id: UUID
    created: bool


@dataclass(frozen=True)
class LinkRow:
    """A link between two memories."""

    link_id: UUID
    from_id: UUID
    to_id: UUID
    relation_type: str
    strength: float
    created_at: datetime


@dataclass(frozen=True)
class MemoryRow:
    """A memory with everything that the decay tools know of it.

    `total`, `mean_score` and `mean_use_count` are of all memories that the call asked for.
    """

    memory_id: UUID
    entity_name: str
    content: str
    tags: list[str]
    entities: list[str]
    source: str | None
    context: str | None
    extra: dict[str, Any]
    strength: float
    use_count: int
    created_at: datetime
    last_used: datetime
    status: str
    promoted_at: datetime | None
    promoted_to: str | None
    review_count: int
    cross_domain_count: int
    score: float
    review_priority: float
    total: int
    mean_score: float
    mean_use_count: float


@dataclass(frozen=True)
class CandidateRow:
    """A memory of promotion_candidates, with the reason to promote it, if there is one."""

    memory_id: UUID
    content: str
    tags: list[str]
    entities: list[str]
    source: str | None
    context: str | None
    strength: float
    use_count: int
    created_at: datetime
    status: str
    promoted_to: str | None
    score: float
    age_days: float
    reason: str | None


@dataclass(frozen=True)
class MarkedRow:
    """True if mark_promoted changed the memory."""

    marked: bool
