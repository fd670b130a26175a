"""Rows of the SQL functions about grants and tokens, which commands and the explorer call."""

from dataclasses import dataclass
from datetime import datetime


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
    """A grant of list_grants. `login` is the database login that acts as the actor."""

    space_name: str
    actor_name: str
    scopes: list[str]
    granted_at: datetime
    login: str | None


@dataclass(frozen=True)
class MadeTokenRow:
    """The id of a token that create_token recorded."""

    create_token: int


@dataclass(frozen=True)
class RotatedTokenRow:
    """The new token that rotate_token recorded. `former_ends_at` is the end of the old token."""

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
    """A token of list_tokens. `state` is `valid`, `expired` or `revoked`."""

    id: int
    prefix: str
    actor: str
    home: str | None
    scopes: list[str]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    state: str
