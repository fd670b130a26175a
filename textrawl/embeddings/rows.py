"""Rows that the SQL functions about embedding models and missing vectors return."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True)
class ModelRow:
    """The row of `register_embedding_model`: the id of the model."""

    register_embedding_model: int


@dataclass(frozen=True)
class KnownModelRow:
    """A row of `embedding_models`. The `status` is building, active or previous.

    An active model can stand in for a model whose files are not there yet, because of `obstacle`.
    """

    model_id: int
    name: str
    dimensions: int
    status: str
    stands_in_for: str | None
    obstacle: str | None


@dataclass(frozen=True)
class PendingRow:
    """A pending fact."""

    space_id: int
    observation_id: UUID
    entity_name: str
    content: str


@dataclass(frozen=True)
class BacklogRow:
    """The number of pending facts, and the time of the next attempt to embed them."""

    facts: int
    next_attempt: datetime | None
