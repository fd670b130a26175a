"""Rows that the SQL functions of the corpus toolset return: a class for each function."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True)
class FoundChunkRow:
    """A chunk of recall_chunks. If it is `over_cap`, `content` is None."""

    document_id: UUID
    part: int
    graph: str
    label: str
    line: int
    content: str | None
    tokens: int
    score: float
    updated_at: datetime
    observation_id: UUID
    over_cap: bool


@dataclass(frozen=True)
class ReachableGraphRow:
    """A graph that the caller can read or write."""

    name: str
    readable: bool
    writable: bool
    home: bool


@dataclass(frozen=True)
class StoredSourceRow:
    """A source after store_source. `changed` is false if the graph has the text already."""

    document_id: UUID
    space_id: int
    changed: bool
    chunk_count: int


@dataclass(frozen=True)
class ForgottenRow:
    """The number of deleted chunks, and whether the source was deleted."""

    chunks_removed: int
    source_removed: bool


@dataclass(frozen=True)
class SizeRow:
    """The name of the database, and the estimated size of the readable graphs."""

    database: str
    bytes: int


@dataclass(frozen=True)
class ChunkRow:
    """The text of a chunk, with its graph and the label of its source."""

    graph: str
    label: str
    content: str


@dataclass(frozen=True)
class ProposedRow:
    """A correction of propose_correction."""

    id: UUID
    apply_until: datetime


@dataclass(frozen=True)
class AppliedRow:
    """The chunk that apply_correction changed, and the event of the trail."""

    space_id: int
    document_id: UUID
    part: int
    event_id: int
