"""Rows of the SQL functions that only the explorer calls."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class HistoryRow:
    """A fact of entity_history. `successor` is the text of the fact that replaced it.

    `wrong` says why the fact was wrong, or is None. `client` and `tool` wrote the fact. `total` is
    the number of the entity's facts.
    """

    id: UUID
    space: str
    content: str
    source: str
    confidence: float
    author: str
    client: str | None
    tool: str
    created_at: datetime
    said_at: datetime
    valid_from: datetime
    valid_until: datetime | None
    valid: bool
    successor: str | None
    wrong: str | None
    total: int


@dataclass(frozen=True)
class PairRow:
    """Two facts of one entity from close_pairs. `kind` is duplicate or conflict.

    `total` is the number of all pairs of this kind.
    """

    space: str
    entity_name: str
    entity_type: str
    kind: str
    similarity: float
    one_id: UUID
    one: str
    one_author: str
    one_at: datetime
    other_id: UUID
    other: str
    other_author: str
    other_at: datetime
    total: int


@dataclass(frozen=True)
class StateRow:
    """The row of write_state. It is equal in two calls if nothing was written between them."""

    write_state: str


@dataclass(frozen=True)
class DayRow:
    """A day of entity_days, on which an entity changed."""

    day: date


@dataclass(frozen=True)
class PlaceRow:
    """A space of entity_spaces. `name` is the entity's name there, which an alias can lead to."""

    space: str
    name: str


@dataclass(frozen=True)
class GraphRow:
    """The graph of entity_graph. An edge names its nodes by their positions, from 0.

    `relations` has the types of relations to choose from. `complete` is false if a limit left
    something out.
    """

    space: str
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    relations: list[str]
    complete: bool


@dataclass(frozen=True)
class TimelineRow:
    """A change of space_timeline: said, replaced, revised or ended.

    `relation` is true for the words of a relation. `author_name`, `client` and `tool` made the
    change. `instead` is the text that is right in its place, and `reason` says why it was wrong.
    """

    at: datetime
    space: str
    change: str
    relation: bool
    entity_name: str
    content: str
    valid: bool
    author_name: str
    client: str | None
    tool: str
    created_at: datetime
    instead: str | None
    reason: str | None
    id: UUID
