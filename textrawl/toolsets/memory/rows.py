"""Rows that the SQL functions of the memory toolset return. Each function has its class."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass  # not frozen: a frozen one takes ten times as long to make, and an answer has ten
class HitRow:
    """A fact that search_memory found. Score, cosine and coverage are in [0, 1]."""

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
    """An entity from describe_entity, with its facts and relations, newest first."""

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
    """The fact that remember_fact stored or found. `closest` holds id and content of another."""

    entity_id: UUID
    entity_name: str
    entity_type: str
    observation_id: UUID
    duplicate: bool
    updated: bool
    closest: dict[str, Any] | None


@dataclass(frozen=True)
class BatchRow:
    """The counts of build_knowledge. Facts are named by their positions, from 0.

    `closest` holds the position of a new fact, and id and content of the fact closest to it.
    """

    facts_created: int
    facts_duplicate: int
    relations_created: int
    repeated: list[int]
    updated: list[int]
    closest: list[dict[str, Any]] | None


@dataclass(frozen=True)
class RelationRow:
    """The relation that relate_entities stored or found, with its ends."""

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
    """The counts of forget_entity. Without `entity_id` there was no such entity."""

    entity_id: UUID | None
    entity_name: str | None
    observation_id: UUID | None
    facts: int | None
    relations: int | None
    sample: list[str] | None
    reflections: int | None = None
