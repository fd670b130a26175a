"""The results of calls, made from the output schemas of tools and operations.

A script makes this module: `.venv/bin/python -m tests.library.generation`.
"""

from datetime import datetime
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Result(BaseModel):
    """A result, or a part of one. It cannot be changed."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class Fact(Result):
    """A fact that answers a question. `type` is the type of its entity."""

    content: str
    author: str
    score: float
    id: str
    created_at: datetime
    said_at: datetime
    relation_type: str | None = None
    to_entity: str | None = None
    to_entity_type: str | None = None
    source: str | None = None
    line: int | None = None
    chunk_id: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    proposed: bool = False
    change: str | None = None
    entity: str = Field(alias="entityName")
    type: str = Field(alias="entityType")
    space: str
    given_type: str | None = Field(default=None, alias="as")


class StoredFact(Result):
    """A fact with this id, valid or ended. `wrong` is the reason if somebody corrected it."""

    id: str
    space: str
    entity_id: str
    entity: str = Field(alias="entity_name")
    type: str = Field(alias="entity_type")
    content: str
    is_relation: bool
    source: str
    author: str
    said_at: datetime
    valid_from: datetime
    valid: bool
    origin: str
    valid_until: datetime | None = None
    replaced_by: str | None = None
    wrong: str | None = None
    repository: str | None = None


class EntityHead(Result):
    """An entity without its facts."""

    id: str
    name: str
    type: str
    given_type: str | None = Field(default=None, alias="as")
    space: str | None = None
    description: str | None = None


class Observation(Result):
    """A fact of an entity."""

    id: str
    content: str
    source: str
    author: str
    confidence: float
    created_at: datetime
    said_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    space: str | None = None
    change: str | None = None


class Relations(Result):
    """Relations in both directions. Their rows keep snake_case keys."""

    outgoing: tuple[dict[str, str], ...]
    incoming: tuple[dict[str, str], ...]


class Revised(Result):
    """A fact that was wrong, the reason, and what is right. Models must not store it again."""

    id: str
    content: str
    reason: str
    instead: str | None = None


class Proposed(Result):
    """A pending proposal of the caller about the entity."""

    id: str
    content: str
    created_at: datetime


class Entity(Result):
    """An entity with its newest facts and its relations."""

    entity: EntityHead
    facts: tuple[Observation, ...] = Field(default=(), alias="observations")
    relations: Relations | None = None
    aliases: tuple[str, ...] = ()
    summary: str | None = None
    revised: tuple[Revised, ...] = ()
    proposed: tuple[Proposed, ...] = ()
    has_more: bool = False
    total_facts: int | None = Field(default=None, alias="totalObservations")


class ListedEntity(Result):
    """An entity of a list."""

    id: str
    space: str
    name: str
    entity_type: str
    updated_at: datetime
    description: str | None = None
    given_type: str | None = None


class EntityPage(Result):
    """Entities of a list, and the number of all that match."""

    total: int
    entities: tuple[ListedEntity, ...]


class Item(Result):
    """A value under a namespace and a key. `version` counts its changes from 1."""

    space: str
    namespace: tuple[str, ...]
    key: str
    value: Any
    metadata: dict[str, Any]
    version: int
    created_at: datetime
    updated_at: datetime
    author: str
    expires_at: datetime | None = None
    score: float | None = None
    deleted: bool = False


class JournalEntry(Result):
    """An entry of the journal, with the beginning of its text."""

    granularity: str
    date: str
    preview: str
    source_instance: str
    slug: str | None = None


class Similar(Result):
    """The stored fact that disagrees with a new fact, or else the closest one."""

    id: str
    content: str
    why: str | None = None
    on: str | None = None


class Remembered(Result):
    """A stored fact. `duplicate`: the entity had it. `proposal_id`: it waits for a review."""

    entity: str = Field(alias="entityName")
    type: str = Field(alias="entityType")
    id: str = Field(validation_alias=AliasChoices("observationId", "proposalId"))
    duplicate: bool = False
    updated: bool = False
    ended: bool = False
    placed_before: str | None = None
    period: str | None = None
    proposal_id: str | None = None
    entity_id: str | None = None
    similar: Similar | None = None
    cleaned: int = 0
    secrets: tuple[str, ...] = ()


class End(Result):
    """One of the two entities of a relation. It has no id if the relation is only proposed."""

    name: str
    type: str
    id: str | None = None


class Related(Result):
    """A relation that the memory has now, or that the call ended."""

    id: str = Field(validation_alias=AliasChoices("relationId", "proposalId"))
    from_entity: End
    to_entity: End
    proposal_id: str | None = None
    ended: tuple[str, ...] = ()
    former: bool = False
    placed_before: str | None = None
    similar: tuple[str, ...] = ()
    cleaned: int = 0
    secrets: tuple[str, ...] = ()


class Forgotten(Result):
    """A deletion, or its preview, which has no id but numbers and the texts of newest facts."""

    id: str | None = Field(
        default=None,
        validation_alias=AliasChoices(
            "deletedEntityId", "deletedObservationId", "deletedRelationId"
        ),
    )
    facts: int | None = None
    relations: int | None = None
    sample: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()


class Undone(Result):
    """An undo in a space: how many items it changed, for each action."""

    undo_id: int
    space_name: str
    removed: int
    revived: int
    reset: int
    moved: int
    retyped: int
    dropped: int
    lost: int
    kept: int
