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
    """A row of `embedding_models`. The `status` is building, active or previous."""

    model_id: int
    name: str
    dimensions: int
    status: str


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
