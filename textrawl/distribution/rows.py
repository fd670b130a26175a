"""Rows of SQL functions that a distributed memory calls for its models."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelRow:
    """A model of embedding_models."""

    model_id: int
    name: str
    status: str


@dataclass(frozen=True)
class ProgressRow:
    """A model of embedding_progress, with the numbers of its vectors and of its pending facts."""

    status: str
    vectors: int
    pending: int


@dataclass(frozen=True)
class ReleasedRow:
    """The number of facts that release_all_embeddings made due again."""

    release_all_embeddings: int
