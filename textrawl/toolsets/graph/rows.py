"""Rows that the SQL functions of the graph toolset return. Each function has its class."""

from dataclasses import dataclass
from datetime import datetime


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
    """A relation of create_edges. The outcome is created, known or missing.

    `missing` names the ends that do not exist.
    """

    place: int
    outcome: str
    missing: list[str]


@dataclass(frozen=True)
class AddedRow:
    """An entity with its new observations and with all of them.

    For a caller who may not read, `entity_type` is None and `observations` is empty.
    """

    name: str
    entity_type: str | None
    added: list[str]
    observations: list[str]


@dataclass(frozen=True)
class DeletedNodeRow:
    """The name of an entity, and whether there was one to delete."""

    name: str
    deleted: bool


@dataclass(frozen=True)
class DeletedObservationsRow:
    """The number of deleted observations, and those that remain. None stands for no such entity.

    For a caller who may not read, `entity_type` is None and `observations` is empty.
    """

    name: str
    entity_type: str | None
    deleted: int
    observations: list[str] | None


@dataclass(frozen=True)
class DeletedEdgeRow:
    """The result of deleting one relation. `missing` names the ends that do not exist."""

    place: int
    deleted: bool
    missing: list[str]


@dataclass(frozen=True)
class PartRow:
    """A part of a graph: an entity, then its observations, then its relations.

    `number` and `name` are the entity's. `part` counts from 0 within the entity.
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
        """The characters of the part's own texts, as the text limit of a page counts them."""
        texts = (self.content, self.from_entity, self.relation, self.to_entity)
        return sum(len(text) for text in texts if text)


@dataclass(frozen=True)
class RankedRow:
    """An entity that search_semantic found, with the figures that make its rank."""

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


@dataclass(frozen=True)
class EndedRow:
    """The result of end_edge. The outcome is ended, known (it had ended before) or missing."""

    outcome: str
    from_entity: str | None
    relation: str | None
    to_entity: str | None
    inverse: int | None


@dataclass(frozen=True)
class UseRow:
    """The number of uses that record_use stored."""

    record_use: int


@dataclass(frozen=True)
class StoredReflectionRow:
    """A reflection that add_reflection stored."""

    number: int
    created_at: datetime


@dataclass(frozen=True)
class ReflectionRow:
    """A reflection that search_reflections found."""

    number: int
    target_type: str
    target: int | None
    author: str
    voice: str
    content: str
    mood: str | None
    created_at: datetime
    score: float


@dataclass(frozen=True)
class DeletedReflectionRow:
    """The number of a reflection, and whether there was one to delete."""

    number: int
    deleted: bool


@dataclass(frozen=True)
class SizeRow:
    """An entity with the number of its facts, and the threshold for a split.

    `observations` holds its newest facts, or none: one call returns a limited number of texts.
    """

    number: int
    name: str
    entity_type: str
    facts: int
    threshold: int
    observations: list[str]


@dataclass(frozen=True)
class SplitRow:
    """The result of split_node."""

    names: list[str]
    moved: int
    related: int
    remaining: int


@dataclass(frozen=True)
class PairRow:
    """Two facts of an entity that may state the same. `total` is the number of its facts."""

    entity_name: str
    total: int
    one: str
    other: str
    similarity: float
    match_type: str


@dataclass(frozen=True)
class ComparedRow:
    """The number of compared facts, and of all facts that share their entity with others."""

    compared: int
    facts: int


@dataclass(frozen=True)
class StaleRow:
    """An entity that was not looked at for `days`. None stands for never."""

    name: str
    entity_type: str
    days: float | None
    uses: int
    facts: int


@dataclass(frozen=True)
class StopWordsRow:
    """Those of the given words that are too common to name a topic."""

    stop_words: list[str]
