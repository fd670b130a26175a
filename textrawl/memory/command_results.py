"""Results of the operations of commands. A terminal shows them, so they load quickly."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from textrawl.memory.fact_rows import EntityRow, ExplainedRow, HitRow, ReportRow, StatisticsRow


@dataclass(frozen=True)
class Absence:
    """The reason why an answer has no fact: words of the question that no fact has.

    `closest` is the name and the beginning of the fact that came closest, or None.
    """

    words: list[str]
    closest: str | None


@dataclass(frozen=True)
class Access:
    """The caller as the memory knows it, for `textrawl doctor`."""

    version: str
    actor: str
    reads: list[str]
    home: str | None
    scopes: list[str]


@dataclass(frozen=True)
class Found:
    """Rows of a search, and the reason why vectors were not used, or None.

    `several` is true if the rows can come from several spaces. `absence` says why there are no
    rows.
    """

    rows: list[HitRow]
    missing: str | None
    several: bool
    absence: Absence | None = None


@dataclass(frozen=True)
class Explained:
    """Rows of an explanation, and the reason why vectors were not used, or None."""

    rows: list[ExplainedRow]
    missing: str | None


@dataclass(frozen=True)
class Described:
    """An entity. `several` is true if its facts can come from several spaces."""

    row: EntityRow
    several: bool


@dataclass(frozen=True)
class Report:
    """The contents of the memory now, and the row about the last `days`.

    `documents` and `chunks` are the numbers in graphs that the caller can read.
    """

    holdings: StatisticsRow
    recent: ReportRow
    days: int
    documents: int = 0
    chunks: int = 0


@dataclass(frozen=True)
class ListedEntity:
    """An entity of a list."""

    id: UUID
    space: str
    name: str
    entity_type: str
    description: str | None
    updated_at: datetime
    given_type: str | None


@dataclass(frozen=True)
class EntityPage:
    """Entities, last updated first, and the number of all that match."""

    total: int
    entities: list[ListedEntity]
