"""Rows that the SQL functions of the graph toolset return. Parts are shown as they are."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from pydantic import BeforeValidator, Field

from textrawl.wire.columns import ROUNDED, SIX_DIGITS
from textrawl.wire.replies import SnakePart


@dataclass(frozen=True)
class NodeRow:
    """An entity that create_nodes stored. `added` is the number of its new observations."""

    name: str
    entity_type: str
    created: bool
    added: int
    observations: list[str]


@dataclass(frozen=True)
class EdgeRow:
    """The result of create_edges for one relation. `outcome` is `created`, `known` or `missing`.

    `missing` lists the entities of the relation that do not exist.
    """

    place: int
    outcome: str
    missing: list[str]


@dataclass(frozen=True)
class AddedRow:
    """An entity with its new observations (`added`) and all its observations.

    If the caller does not have the scope `read`, `entity_type` is None and `observations` is empty.
    """

    name: str
    entity_type: str | None
    added: list[str]
    observations: list[str]


@dataclass(frozen=True)
class DeletedNodeRow:
    """A name from the call. `deleted` is true if an entity with this name was deleted."""

    name: str
    deleted: bool


@dataclass(frozen=True)
class DeletedObservationsRow:
    """The number of deleted observations of an entity, and the observations that remain.

    If there is no such entity, `observations` is None. If the caller does not have the scope
    `read`, `entity_type` is None and `observations` is empty.
    """

    name: str
    entity_type: str | None
    deleted: int
    observations: list[str] | None


@dataclass(frozen=True)
class DeletedEdgeRow:
    """The result of deleting one relation.

    `missing` lists the entities of the relation that do not exist.
    """

    place: int
    deleted: bool
    missing: list[str]


@dataclass(frozen=True)
class PartRow:
    """A part of a graph: an entity, one of its observations or one of its relations.

    `number` and `name` belong to the entity. `part` is the position within the entity, from 0: the
    entity itself comes first, then its observations, then its relations.
    """

    number: int
    part: int
    kind: str
    name: str
    entity_type: str
    content: str | None
    from_entity: str | None
    relation: str | None
    to_entity: str | None
    relation_number: int | None

    @property
    def length(self) -> int:
        """The number of characters of the part, for the limit `Page.text`."""
        texts = (self.content, self.from_entity, self.relation, self.to_entity)
        return sum(len(text) for text in texts if text)


@dataclass(frozen=True)
class RankedRow:
    """An entity that search_semantic found, with its score and the factors of the score."""

    number: int
    name: str
    entity_type: str
    observations: list[str]
    limbic_score: float
    importance: float
    temporal: float
    cooc: float
    distance: float | None
    rrf: float | None

    @property
    def scoring(self) -> Self:
        """The row itself, whose factors are a part of the answer."""
        return self


@dataclass(frozen=True)
class EndedEdgeRow:
    """The result of end_edge. `outcome` is `ended`, `missing`, or `known` if it ended before."""

    outcome: str
    from_entity: str | None
    relation: str | None
    to_entity: str | None
    inverse: int | None


def _write_instant(instant: object) -> object:
    return f"{instant:%Y-%m-%d %H:%M:%S}" if isinstance(instant, datetime) else instant


_Instant = Annotated[str, BeforeValidator(_write_instant)]


class StoredReflectionRow(SnakePart):
    """A reflection that add_reflection stored."""

    number: int
    created_at: _Instant


class ReflectionPart(SnakePart):
    """A reflection.

    `voice` is the name of the speaker, or None if the speaker is the author.
    """

    id: Annotated[int, Field(validation_alias="number")]
    target_type: str
    target_id: Annotated[int | None, Field(validation_alias="target")]
    author: str
    voice: str | None = None
    content: str
    mood: str | None
    created_at: _Instant
    score: Annotated[float | None, SIX_DIGITS] = None


@dataclass(frozen=True)
class DeletedReflectionRow:
    """A number from the call. `deleted` is true if the reflection with this number was deleted."""

    number: int
    deleted: bool


@dataclass(frozen=True)
class SizeRow:
    """An entity with the number of its facts, and the number above which it needs a split.

    `observations` holds its newest facts. It can be empty, because one call returns a limited
    number of facts for all entities.
    """

    number: int
    name: str
    entity_type: str
    facts: int
    threshold: int
    observations: list[str]


class DonePart(SnakePart):
    """The new entities and the counts of a split."""

    new_entities: Annotated[list[str], Field(validation_alias="names")]
    moved_observations: Annotated[int, Field(validation_alias="moved")]
    relations_created: Annotated[int, Field(validation_alias="related")]
    original_observations_remaining: Annotated[int, Field(validation_alias="remaining")]


class PairPart(SnakePart):
    """Two observations of an entity that possibly state the same thing."""

    entity_name: Annotated[str, Field(exclude=True)]
    obs_text_a: Annotated[str, Field(validation_alias="one")]
    obs_text_b: Annotated[str, Field(validation_alias="other")]
    similarity_score: Annotated[float, ROUNDED, Field(validation_alias="similarity")]
    match_type: str


@dataclass(frozen=True)
class ComparedRow:
    """The number of compared facts, and the number of all facts that could be compared.

    A fact can be compared if its entity has other facts.
    """

    compared: int
    facts: int


class StalePart(SnakePart):
    """An entity that was not used lately.

    `last_accessed_days_ago` is None if the entity was never used.
    """

    entity_name: Annotated[str, Field(validation_alias="name")]
    entity_type: str
    last_accessed_days_ago: Annotated[
        int | None,
        BeforeValidator(lambda days: days if days is None else int(days)),
        Field(validation_alias="days"),
    ]
    access_count: Annotated[int, Field(validation_alias="uses")]
    observation_count: Annotated[int, Field(validation_alias="facts")]
