"""Rows of SQL functions that only commands call."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class StartedModelRow:
    """The id that start_embedding_model returns."""

    start_embedding_model: int


@dataclass(frozen=True)
class SwitchedRow:
    """The model that switch_embedding_model made active, and the model that was active before."""

    name: str
    previous: str


@dataclass(frozen=True)
class RolledBackRow:
    """The model that rollback_embedding_model made active, and the model that was active before."""

    name: str
    abandoned: str


@dataclass(frozen=True)
class DroppedRow:
    """The model that drop_embedding_model deleted."""

    drop_embedding_model: str


@dataclass(frozen=True)
class CalibratedRow:
    """The model whose scale calibrate_embedding_model stored."""

    calibrate_embedding_model: str


@dataclass(frozen=True)
class SampleRow:
    """A fact of sample_facts."""

    entity_name: str
    content: str


@dataclass(frozen=True)
class ProgressRow:
    """A model of embedding_progress, with the numbers of its vectors and of its pending facts.

    `bytes` is the size of its table with the indexes. `calibrated_at` is None if the scale was not
    measured in this memory.
    """

    name: str
    dimensions: int
    status: str
    status_since: datetime
    vectors: int
    pending: int
    bytes: int
    cosine_floor: float
    cosine_ceiling: float
    trust: float
    calibrated_at: datetime | None


@dataclass(frozen=True)
class RecallCostsRow:
    """The costs of the last recalls in tokens, from recall_costs.

    `cut` is the number of answers that left items out, and `dropped` is the number of these items.
    Fields are None if there are no recalls.
    """

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
    language: str
    created_at: datetime
    archived_at: datetime | None


@dataclass(frozen=True)
class ChangedLanguageRow:
    """A space after change_language, with the number of documents that servers make anew."""

    space: str
    former_language: str
    new_language: str
    documents: int


@dataclass(frozen=True)
class PolicyRow:
    """How the memories of a space fade. `own` names the values that the space set itself."""

    space: str
    policy: dict[str, object]
    own: list[str]


@dataclass(frozen=True)
class FoundSpaceRow:
    """The id of a space, from find_space."""

    find_space: int


@dataclass(frozen=True)
class SpaceListRow:
    """A space of list_spaces with the number of its valid facts and of actors with a grant.

    `own_index` is `ready` or `unfinished` if the space has its own vector index, else None.
    `rebuilding` is the number of facts whose search document still has a former language. The last
    four fields are None unless the space is a graph.
    """

    name: str
    created_at: datetime
    archived_at: datetime | None
    facts: int
    members: int
    own_index: str | None
    language: str
    rebuilding: int | None
    tier: str | None
    recall_tokens: int | None
    sources: int | None
    chunks: int | None


@dataclass(frozen=True)
class ChangedReviewRow:
    """The review of a space that change_review set, and the number of pending proposals."""

    space: str
    is_reviewed: bool
    days: int | None
    pending: int


@dataclass(frozen=True)
class ChangedTierRow:
    """A graph after change_tier. `cap` is the largest number of its tokens in one answer."""

    space: str
    new_tier: str
    cap: int


@dataclass(frozen=True)
class BoundLoginRow:
    """True if the login that bind_login assigned to an actor has the role textrawl_analyst."""

    bind_login: bool
