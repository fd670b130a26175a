"""Rows that the SQL functions of the journal toolset return: a class for each function."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True)
class WrittenRow:
    """An entry that was stored. `changed` is false if it had the text already."""

    document_id: UUID
    space_id: int
    path: str
    number: int
    created: bool
    merged: bool
    changed: bool


@dataclass(frozen=True)
class EntryRow:
    """An entry of read_entry, and the paths of the other entries that match the key."""

    document_id: UUID
    path: str
    entry_slug: str | None
    source_instance: str
    content: str
    chat_ids: list[str]
    participants: list[str]
    number: int
    created_at: datetime
    modified_at: datetime
    modified_by: str | None
    others: list[str]


@dataclass(frozen=True)
class DeletedRow:
    """The path of a key, and whether delete_entry deleted its entry."""

    path: str
    deleted: bool


@dataclass(frozen=True)
class ListedRow:
    """An entry of list_entries. An empty page has one row with only the `total`."""

    path: str | None
    granularity: str
    date: str
    slug: str | None
    instance: str
    preview: str
    length: int
    number: int
    modified_at: datetime
    total: int


@dataclass(frozen=True)
class HitRow:
    """An entry that search_journal found."""

    score: float
    path: str
    granularity: str
    date: str
    slug: str | None
    source_instance: str
    age_days: int
    vector_score: float | None
    method: str
    observation_id: UUID
    excerpt: str
    short_excerpt: str
