"""The rows that the SQL functions of the `identity` toolset return."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class FileRow:
    """An identity file of read_identity. `content` is None if the texts were not asked for."""

    category: str
    filename: str
    content: str | None
    prompt_label: str
    labelled: bool
    version: int
    modified_at: datetime
    modified_by: str | None

    @property
    def path(self) -> str:
        """The name of the file with its category."""
        return f"{self.category}/{self.filename}"


@dataclass(frozen=True)
class WrittenRow:
    """The version that write_identity stored. `snapshot_id` is None if no text was replaced."""

    version: int
    created: bool
    snapshot_id: str | None


@dataclass(frozen=True)
class DeletedRow:
    """The outcome of delete_identity. `deleted` is false if there is no such file."""

    deleted: bool
    snapshot_id: str | None


@dataclass(frozen=True)
class LabelledRow:
    """The outcome of label_identity. `labelled` is false if there is no such file."""

    labelled: bool


@dataclass(frozen=True)
class SnapshotIdRow:
    """A snapshot that create_snapshots took."""

    id: str


@dataclass(frozen=True)
class SnapshotRow:
    """A snapshot of list_snapshots. `content` is None if the texts were not asked for."""

    id: str
    category: str
    filename: str
    created_at: datetime
    reason: str
    source: str | None
    pinned: bool
    characters: int
    content: str | None


@dataclass(frozen=True)
class RestoredRow:
    """The path of a restored file, and the id of the snapshot of the replaced text.

    `path` is None if there is no such snapshot.
    """

    path: str | None
    snapshot_id: str | None
