"""Rows of the SQL functions that commands alone call."""

from dataclasses import dataclass
from datetime import datetime


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
