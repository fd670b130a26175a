"""Rows that the SQL functions of the entities toolset return: a class for each function."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class MergeRow:
    """The two entities of a merge and what moves.

    `merge_id` is None for a dry run. `collapsing` has up to 20 of the facts and relations that both
    entities have, or that connect the two.
    """

    merge_id: UUID | None
    kept_id: UUID
    kept_name: str
    kept_type: str
    merged_id: UUID
    merged_name: str
    merged_type: str
    facts: int
    relations: int
    duplicate_facts: int
    duplicate_relations: int
    collapsing: list[dict[str, Any]]


@dataclass(frozen=True)
class SplitRow:
    """The two entities of a split. `later` has the facts that were written since the merge."""

    merge_id: UUID
    kept_id: UUID
    kept_name: str
    merged_id: UUID
    merged_name: str
    facts: int
    relations: int
    later: list[dict[str, Any]]


@dataclass(frozen=True)
class NamedRow:
    """An entity and an alias that it got. `added` is false if it had the alias already."""

    entity_id: UUID
    entity_name: str
    stored_alias: str
    added: bool


@dataclass(frozen=True)
class UnnamedRow:
    """An entity and an alias that was removed from it."""

    entity_id: UUID
    entity_name: str
    stored_alias: str


@dataclass(frozen=True)
class AliasRow:
    """An alias. `merged` is true if it is the former name of a merged entity."""

    space: str
    entity_name: str
    alias: str
    author: str
    merged: bool
    created_at: datetime


@dataclass(frozen=True)
class SamePair:
    """Two entities that can be one, with the score and the reasons for it."""

    space: str
    entity_id: UUID
    entity_name: str
    entity_type: str
    facts: int
    other_id: UUID
    other_name: str
    other_type: str
    other_facts: int
    score: float
    name_score: float
    shared_facts: int
    shared_relations: int
    cosine: float | None
