"""Rows that the SQL functions about credentials return."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class PrincipalRow:
    """A row of `authenticate`. Each of `spaces` is an object with id, name, scopes and tier."""

    token: int
    actor: str
    home: int | None
    federated: bool
    expires_at: datetime | None
    spaces: list[dict[str, Any]]


@dataclass(frozen=True)
class VouchedRow:
    """The row of `vouch`. It is false if the token has no grants."""

    vouch: bool
