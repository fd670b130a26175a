"""Rows as the SQL functions return them, a class for each function."""

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
    """What remember_fact stored, or the fact that said the same before."""

    entity_id: UUID
    entity_name: str
    entity_type: str
    observation_id: UUID
    duplicate: bool


@dataclass(frozen=True)
class BatchRow:
    """What build_knowledge stored."""

    facts_created: int
    facts_duplicate: int
    relations_created: int


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


@dataclass(frozen=True)
class PrincipalRow:
    """Who a credential is, as authenticate tells it; `spaces`: id, name, scopes."""

    token: int
    actor: str
    home: int | None
    federated: bool
    expires_at: datetime | None
    spaces: list[dict[str, Any]]


@dataclass(frozen=True)
class VouchedRow:
    """What vouch returns."""

    vouch: bool


@dataclass(frozen=True)
class ModelRow:
    """What register_embedding_model returns."""

    register_embedding_model: int


@dataclass(frozen=True)
class KnownModelRow:
    """A model that embedding_models lists; `status`: building, active or previous."""

    model_id: int
    name: str
    dimensions: int
    status: str


@dataclass(frozen=True)
class StartedModelRow:
    """What start_embedding_model returns."""

    start_embedding_model: int


@dataclass(frozen=True)
class SwitchedRow:
    """The model that switch_embedding_model made active, and the one that was."""

    name: str
    previous: str


@dataclass(frozen=True)
class RolledBackRow:
    """The model that rollback_embedding_model made active, and the one that was."""

    name: str
    abandoned: str


@dataclass(frozen=True)
class DroppedRow:
    """What drop_embedding_model returns."""

    drop_embedding_model: str


@dataclass(frozen=True)
class ProgressRow:
    """A model with its vectors, the facts without one, and bytes, as embedding_progress tells."""

    name: str
    dimensions: int
    status: str
    status_since: datetime
    vectors: int
    pending: int
    bytes: int


@dataclass(frozen=True)
class SpaceRow:
    """What default_space returns."""

    default_space: int


@dataclass(frozen=True)
class PendingRow:
    """A fact that waits for a vector."""

    space_id: int
    observation_id: UUID
    entity_name: str
    content: str


@dataclass(frozen=True)
class BacklogRow:
    """How many facts wait for a vector, and when the next is due."""

    facts: int
    next_attempt: datetime | None


@dataclass(frozen=True)
class RecallCostsRow:
    """What recall_costs returns: tokens of answers, None where there are none."""

    recalls: int
    p50: int | None
    p95: int | None
    largest: int | None
    cut: int
    dropped: int
    since: datetime | None


@dataclass(frozen=True)
class StatisticsRow:
    """How much a memory holds; `bytes` of the whole database."""

    entities: int
    facts: int
    valid_facts: int
    relations: int
    events: int
    bytes: int
    types: dict[str, int]
    models: list[dict[str, Any]]


@dataclass(frozen=True)
class OwnershipRow:
    """What owns_memory returns."""

    owns_memory: bool


@dataclass(frozen=True)
class MadeSpaceRow:
    """A space as create_space, rename_space and archive_space leave it."""

    name: str
    created_at: datetime
    archived_at: datetime | None


@dataclass(frozen=True)
class FoundSpaceRow:
    """The number of a space, as find_space finds it."""

    find_space: int


@dataclass(frozen=True)
class SpaceListRow:
    """A space of list_spaces: its valid facts, and to how many actors something is granted.

    `own_index` is ready or unfinished where its vectors have an index of their own.
    """

    name: str
    created_at: datetime
    archived_at: datetime | None
    facts: int
    members: int
    own_index: str | None


@dataclass(frozen=True)
class GrantedRow:
    """What grant_access set."""

    grant_access: list[str]


@dataclass(frozen=True)
class WithdrawnRow:
    """What revoke_access took."""

    revoke_access: list[str]


@dataclass(frozen=True)
class GrantListRow:
    """A grant of list_grants; `login` is the database login that acts as the actor."""

    space_name: str
    actor_name: str
    scopes: list[str]
    granted_at: datetime
    login: str | None


@dataclass(frozen=True)
class BoundLoginRow:
    """Whether the login of bind_login has the rights of textrawl_analyst."""

    bind_login: bool


@dataclass(frozen=True)
class MadeTokenRow:
    """The id of a token that create_token recorded."""

    create_token: int


@dataclass(frozen=True)
class RotatedTokenRow:
    """The token that rotate_token recorded, and when it and the former one end."""

    token: int
    actor: str
    home: str | None
    scopes: list[str]
    ends_at: datetime | None
    former_ends_at: datetime


@dataclass(frozen=True)
class RevokedTokenRow:
    """A token that revoke_token ended."""

    token: int
    prefix: str
    actor: str
    revoked_at: datetime


@dataclass(frozen=True)
class TokenListRow:
    """A token of list_tokens; `state` is valid, expired or revoked."""

    id: int
    prefix: str
    actor: str
    home: str | None
    scopes: list[str]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    state: str


@dataclass(frozen=True)
class PlanRow:
    """A step of plan_undo; `content` of a fact or relation, `new_author` where it passes to one."""

    space_name: str
    action: str
    entity_name: str | None
    kind: str
    id: UUID
    content: str | None
    new_author: str | None


@dataclass(frozen=True)
class UndoRow:
    """What undo_author did in a space, in numbers of rows."""

    undo_id: int
    space_name: str
    removed: int
    handed_over: int
    revived: int
    dropped: int
    lost: int


@dataclass(frozen=True)
class RevertedRow:
    """What revert_undo put back, and what was there again by then."""

    space_name: str
    restored: int
    merged: int


@dataclass(frozen=True)
class PurgedRow:
    """How many undos of a space purge_undone purged, and rows of them."""

    space_name: str
    undos: int
    rows: int


@dataclass(frozen=True)
class EventRow:
    """A line of the trail; `cursor` is where read_events goes on after it."""

    cursor: str
    at: datetime
    space_name: str
    author_name: str
    client: str | None
    tool: str
    request: str | None
    action: str
    entity_name: str | None
    entity_id: UUID | None
    observation_id: UUID | None
    relation_id: UUID | None


@dataclass(frozen=True)
class TrailEndRow:
    """What trail_end returns."""

    trail_end: str
