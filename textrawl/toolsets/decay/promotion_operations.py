"""The promotion of memories to notes of the vault."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from anyio import to_thread

from textrawl.access.principal import Caller
from textrawl.errors import TextrawlError
from textrawl.store.store import Store
from textrawl.toolsets.decay.operations import DecayOperations
from textrawl.toolsets.decay.rows import CandidateRow
from textrawl.toolsets.decay.vault.folder import NotePlace, add_note, check_vault, remove_note
from textrawl.toolsets.decay.vault.notes import write_note

_LONGEST_TITLE = 80


class PromotionOperations:
    """The memories of a space that become notes of a vault."""

    def __init__(self, store: Store, vault: Path | None) -> None:
        self._memories = DecayOperations(store)
        self._vault = vault

    async def check(self) -> None:
        """Raise VaultUnavailable if notes cannot be written."""
        await to_thread.run_sync(check_vault, self._vault)

    async def promote(self, rows: Sequence[CandidateRow], caller: Caller) -> list[str]:
        """Write a note for each memory, mark the memory, and return the ids of the promoted.

        Raises VaultUnavailable. The memories before the one that failed stay promoted.
        """
        return [str(row.memory_id) for row in rows if await self._promote(row, caller)]

    async def _promote(self, row: CandidateRow, caller: Caller) -> bool:
        """Return false if another call promoted or removed the memory."""
        place = await to_thread.run_sync(
            add_note,
            self._vault,
            _name_space(caller),
            name_memory(row.content),
            str(row.memory_id),
            _write(row),
        )
        try:
            marked = await self._memories.mark_promoted(row.memory_id, place.path, caller)
        except TextrawlError:
            await self._withdraw(place)
            raise
        if not marked:
            await self._withdraw(place)
        return marked

    async def _withdraw(self, place: NotePlace) -> None:
        await to_thread.run_sync(remove_note, self._vault, place)


def name_memory(content: str) -> str:
    """Return the first line of a text, shortened: the title of its note."""
    line = content.strip().split("\n", 1)[0]
    short = line[:_LONGEST_TITLE].rsplit(" ", 1)[0]
    return line if len(line) <= _LONGEST_TITLE else f"{short}…"


def _name_space(caller: Caller) -> str:
    """Return the name of the space that the call reads and writes."""
    principal = caller.principal
    return (principal.home_space or principal.readable[0]).name


def _write(row: CandidateRow) -> str:
    """Return the text of the note."""
    fields = {
        "title": name_memory(row.content),
        "memory_id": str(row.memory_id),
        "tags": row.tags,
        "entities": row.entities,
        "source": row.source,
        "context": row.context,
        "created": row.created_at.astimezone(UTC).isoformat(timespec="seconds"),
        "promoted": datetime.now(UTC).isoformat(timespec="seconds"),
        "score": round(row.score, 4),
        "strength": row.strength,
        "use_count": row.use_count,
    }
    return write_note(fields, row.content)
