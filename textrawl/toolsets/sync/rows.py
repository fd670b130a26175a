"""Rows that the SQL functions of the sync toolset return: a class for each function."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class ChangedRow:
    """A document of changed_documents. `content` is None if the document was deleted."""

    kind: str
    path: str
    changed: int
    granularity: str | None
    date: str | None
    slug: str | None
    instance: str | None
    content: str | None
    label: str | None
    chat_ids: list[str]
    participants: list[str]
    number: int | None
    created_at: datetime | None
    modified_at: datetime | None
    modified_by: str | None
    remaining: int


@dataclass(frozen=True)
class PushedRow:
    """The outcome of push_changes. `outcomes` has an object for each change."""

    outcomes: list[dict[str, Any]]
    known_version: int
    server_version: int
    space_id: int


@dataclass(frozen=True)
class StateRow:
    """The version of the documents of a space, and the instances that share them."""

    server_version: int
    instances: list[dict[str, Any]]


@dataclass(frozen=True)
class ExtractionRow:
    """The totals of the extraction from journal entries."""

    last_attempt: datetime | None
    last_success: datetime | None
    last_error: str | None
    attempts_total: int
    successes_total: int
    nodes_created_total: int
    edges_created_total: int
    pending: int


@dataclass(frozen=True)
class RegisteredRow:
    """When register_instance first saw an instance."""

    first_seen: datetime
