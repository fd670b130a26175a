"""Rows that the SQL functions of the memory toolset return, a class for each function."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass  # not frozen: to make a frozen one takes ten times as long, and there are ten an answer
class HitRow:
    """A fact that search_memory found; score, cosine and coverage in [0, 1]."""

    observation_id: UUID
    entity_id: UUID
    space: str
    entity_name: str
    entity_type: str
    content: str
    source: str
    created_at: datetime
    author: str
    score: float
    cosine: float | None = None
    coverage: float | None = None


@dataclass(frozen=True)
class EntityRow:
    """An entity as describe_entity tells it; facts and relations are newest first."""

    id: UUID
    space: str
    name: str
    entity_type: str
    description: str | None
    observations: list[dict[str, Any]]
    total_observations: int
    outgoing: list[dict[str, Any]]
    incoming: list[dict[str, Any]]
    total_relations: int


@dataclass(frozen=True)
class ListRow:
    """A page of list_entities, and the number of all entities that match."""

    total: int
    entities: list[dict[str, Any]]


@dataclass(frozen=True)
class NameRow:
    """A name from similar_names."""

    entity_name: str


@dataclass(frozen=True)
class FactRow:
    """The fact that remember_fact stored or found; `closest`: id and content of another."""

    entity_id: UUID
    entity_name: str
    entity_type: str
    observation_id: UUID
    duplicate: bool
    updated: bool
    closest: dict[str, Any] | None


@dataclass(frozen=True)
class BatchRow:
    """The counts of build_knowledge; facts are named by their places, from 0.

    `closest`: a new fact's place, and id and content of the closest other one.
    """

    facts_created: int
    facts_duplicate: int
    relations_created: int
    repeated: list[int]
    updated: list[int]
    closest: list[dict[str, Any]] | None


@dataclass(frozen=True)
class RelationRow:
    """The relation that relate_entities stored or found, and its ends."""

    relation_id: UUID
    created: bool
    from_id: UUID
    from_name: str
    from_stored_type: str
    to_id: UUID
    to_name: str
    to_stored_type: str


@dataclass(frozen=True)
class ForgottenRow:
    """What forget_entity deleted or, dry, would delete; no entity_id: there was none."""

    entity_id: UUID | None
    entity_name: str | None
    observation_id: UUID | None
    facts: int | None
    relations: int | None
    sample: list[str] | None
    reflections: int | None = None
