"""Rows of SQL functions that only commands call."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class StartedModelRow:
    """The id that start_embedding_model returns."""

    start_embedding_model: int


@dataclass(frozen=True)
class SwitchedRow:
    """The model that switch_embedding_model made active, and the previous one."""

    name: str
    previous: str


@dataclass(frozen=True)
class RolledBackRow:
    """The model that rollback_embedding_model made active, and the abandoned one."""

    name: str
    abandoned: str


@dataclass(frozen=True)
class DroppedRow:
    """The model that drop_embedding_model deleted."""

    drop_embedding_model: str


@dataclass(frozen=True)
class ProgressRow:
    """A model of embedding_progress with its vectors, facts without one, and size in bytes."""

    name: str
    dimensions: int
    status: str
    status_since: datetime
    vectors: int
    pending: int
    bytes: int


@dataclass(frozen=True)
class RecallCostsRow:
    """Tokens of the answers that recall_costs sums up; None if there are no answers."""

    recalls: int
    p50: int | None
    p95: int | None
    largest: int | None
    cut: int
    dropped: int
    since: datetime | None


@dataclass(frozen=True)
class OwnershipRow:
    """True if the login owns the memory, as owns_memory returns it."""

    owns_memory: bool


@dataclass(frozen=True)
class MadeSpaceRow:
    """A space after create_space, rename_space or archive_space."""

    name: str
    created_at: datetime
    archived_at: datetime | None


@dataclass(frozen=True)
class FoundSpaceRow:
    """The id of a space, from find_space."""

    find_space: int


@dataclass(frozen=True)
class SpaceListRow:
    """A space of list_spaces with the number of its valid facts and of actors with a grant.

    `own_index` is ready or unfinished if the space has its own vector index.
    """

    name: str
    created_at: datetime
    archived_at: datetime | None
    facts: int
    members: int
    own_index: str | None


@dataclass(frozen=True)
class GrantedRow:
    """The scopes that grant_access granted."""

    grant_access: list[str]


@dataclass(frozen=True)
class WithdrawnRow:
    """The scopes that revoke_access revoked."""

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
    """True if the login of bind_login has the rights of textrawl_analyst."""

    bind_login: bool


@dataclass(frozen=True)
class MadeTokenRow:
    """The id of a token that create_token recorded."""

    create_token: int


@dataclass(frozen=True)
class RotatedTokenRow:
    """The token that rotate_token recorded, with its end and that of the former token."""

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
