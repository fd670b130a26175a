"""Rows that the SQL functions about credentials return."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


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
