"""The search in memories and in the notes of the vault together."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Literal
from uuid import UUID

from textrawl.access.principal import Caller
from textrawl.scheduling.workers import run_aside
from textrawl.store.store import Store
from textrawl.toolsets.decay.vault.folder import VaultUnavailable
from textrawl.toolsets.decay.vault.index import IndexedNote, NoteIndex

_SAME = 100  # characters: texts that begin with the same ones are the same
_TITLE, _BODY = 2, 1  # weights of the places in which a note has the words of the query
_NO_QUERY = 0.5  # relevance of every note if there is no query


@dataclass(frozen=True)
class MatchedRow:
    """A memory of match_memories."""

    memory_id: UUID
    content: str
    tags: list[str]
    score: float
    created_at: datetime
    last_used: datetime


@dataclass(frozen=True)
class Wanted:
    """A search: its query and filters, the weights of both sources, and the most results."""

    query: str
    tags: Sequence[str]
    limit: int
    memory_weight: float
    note_weight: float
    window_days: int | None
    min_score: float | None

    @property
    def words(self) -> list[str]:
        """The words of the query, as they are compared."""
        return self.query.casefold().split()


@dataclass(frozen=True)
class Found:
    """A memory (`stm`) or a note (`ltm`), with its weighted score."""

    source: Literal["stm", "ltm"]
    score: float
    title: str | None
    content: str
    tags: list[str]
    created_at: datetime
    last_used: datetime | None = None
    memory_id: str | None = None
    path: str | None = None


@lru_cache(maxsize=4)
def _find_index(vault: Path) -> NoteIndex:
    """Return the index of a vault, which lives as long as the server."""
    return NoteIndex(vault)


class UnifiedOperations:
    """The memories of a space and the notes of a vault."""

    def __init__(self, store: Store, vault: Path | None) -> None:
        self._call = store.database.call
        self._vault = vault

    async def search(self, wanted: Wanted, caller: Caller) -> tuple[list[Found], str | None]:
        """Return the best memories and notes, and the reason if the notes were not searched."""
        rows = await self._call(
            "match_memories",
            MatchedRow,
            words=wanted.words,
            tags=list(wanted.tags) or None,
            window_days=wanted.window_days,
            least_score=wanted.min_score,
            max_rows=wanted.limit,
            **caller.reading_home,
        )
        notes, reason = await self._find_notes(wanted, caller)
        return _merge([*(_weigh_memory(row, wanted) for row in rows), *notes], wanted.limit), reason

    async def _find_notes(self, wanted: Wanted, caller: Caller) -> tuple[list[Found], str | None]:
        if self._vault is None:
            return [], None
        spaces = frozenset(space.name for space in caller.principal.readable)
        try:
            return await run_aside(_match_notes, self._vault, wanted, spaces), None
        except VaultUnavailable as error:
            return [], f"Notes were not searched: {error.fix}"


def _match_notes(vault: Path, wanted: Wanted, spaces: frozenset[str]) -> list[Found]:
    """Return the notes that match. A promoted note is shown to readers of its space only."""
    return [
        Found(
            source="ltm",
            score=relevance * wanted.note_weight,
            title=note.title,
            content=note.body,
            tags=sorted(note.tags),
            created_at=note.modified_at,
            memory_id=note.memory_id,
            path=note.path,
        )
        for note in _find_index(vault).refresh()
        if (note.space is None or note.space in spaces)
        and (not wanted.tags or note.tags.intersection(wanted.tags))
        and (relevance := _rate_note(note, wanted.words))
    ]


def _rate_note(note: IndexedNote, words: Sequence[str]) -> float:
    """Return the relevance of a note, from 0 to 1."""
    if not words:
        return _NO_QUERY
    in_title, in_body = note.has_words(words)
    return min(1, (_TITLE * in_title + _BODY * in_body) / (_TITLE + _BODY))


def _weigh_memory(row: MatchedRow, wanted: Wanted) -> Found:
    return Found(
        source="stm",
        score=row.score * wanted.memory_weight,
        title=None,
        content=row.content,
        tags=row.tags,
        created_at=row.created_at,
        last_used=row.last_used,
        memory_id=str(row.memory_id),
    )


def _merge(found: Sequence[Found], limit: int) -> list[Found]:
    """Return the results with the highest scores, each text once."""
    kept = dict[str, Found]()
    for one in sorted(found, key=lambda one: (-one.score, one.source != "stm", one.path or "")):
        kept.setdefault(one.content[:_SAME].casefold(), one)
    return list(kept.values())[:limit]
