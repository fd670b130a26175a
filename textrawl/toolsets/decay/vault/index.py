"""The notes of the vault in the server's memory, read again when their files change.

Links, hidden files and folders, and files that are not Markdown are left out.
"""

import logging
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from textrawl.toolsets.decay.vault.folder import PROMOTED, open_vault
from textrawl.toolsets.decay.vault.notes import read_note

logger = logging.getLogger("textrawl")

_MOST_BYTES = 1 << 20  # bytes of a note; a larger file is left out
_MOST_NOTES = 20_000
_MOST_TEXT = 64 << 20  # characters of all notes together

Stamp = tuple[int, int, int]
"""The modification time, the size and the inode of a file. They show that its content changed."""


@dataclass(frozen=True)
class IndexedNote:
    """A note of the vault. `space` is the space of a promoted note, and None for other notes."""

    path: str
    space: str | None
    title: str
    body: str
    tags: frozenset[str]
    modified_at: datetime
    memory_id: str | None
    folded: str  # title, line break and body, case-folded

    def has_words(self, words: Sequence[str]) -> tuple[bool, bool]:
        """Return whether the title has all words (case-folded), and whether the body has them."""
        title, body = self.folded.split("\n", 1)
        return all(word in title for word in words), all(word in body for word in words)


@dataclass
class NoteIndex:
    """The notes of one vault. Only one thread at a time brings the index up to date."""

    vault: Path | None
    _notes: dict[str, tuple[Stamp, IndexedNote | None]] = field(
        default_factory=dict[str, tuple[Stamp, IndexedNote | None]]
    )
    _lock: Lock = field(default_factory=Lock)

    def refresh(self) -> list[IndexedNote]:
        """Read the notes that changed since the last call, and return all notes by path.

        Raises VaultUnavailable.
        """
        with self._lock, open_vault(self.vault) as root:
            found = dict[str, tuple[Stamp, IndexedNote | None]]()
            size = 0
            for path, stamp, name, folder in _walk(root):
                known = self._notes.get(path)
                note = known[1] if known and known[0] == stamp else _read(folder, name, path, stamp)
                found[path] = stamp, note
                size += len(note.folded) if note else 0
                if len(found) >= _MOST_NOTES or size > _MOST_TEXT:
                    logger.warning("The vault is too large: only its first notes are searched")
                    break
            self._notes = found
            return [note for _, note in found.values() if note is not None]


def _walk(root: int) -> Iterator[tuple[str, Stamp, str, int]]:
    """Yield each note below a folder: its path, its stamp, its name, and its folder's descriptor.

    The descriptors are used because a link that replaces a folder could lead out of the vault.
    """
    for top, folders, files, folder in os.fwalk(".", follow_symlinks=False, dir_fd=root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.startswith(".") or not name.lower().endswith(".md"):
                continue
            try:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:  # it was removed meanwhile
                continue
            if stat.S_ISREG(status.st_mode) and 0 < status.st_size <= _MOST_BYTES:
                path = os.path.normpath(f"{top}/{name}")
                yield path, (status.st_mtime_ns, status.st_size, status.st_ino), name, folder


def _read(folder: int, name: str, path: str, stamp: Stamp) -> IndexedNote | None:
    """Return the note in a file, or None if the file cannot be read."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
            note = read_note(file.read(_MOST_BYTES))
    except OSError as error:
        logger.info("A note of the vault cannot be read: %s", error.strerror)
        return None
    folders = Path(path).parts[:-1]
    title = note.title or Path(name).stem
    memory_id = note.fields.get("memory_id")
    return IndexedNote(
        path=path,
        space=folders[1] if folders[1:] and folders[0].casefold() == PROMOTED else None,
        title=title,
        body=note.body,
        tags=frozenset(note.tags),
        modified_at=datetime.fromtimestamp(stamp[0] / 1e9, UTC),
        memory_id=memory_id if isinstance(memory_id, str) else None,
        folded=f"{' '.join(title.split()).casefold()}\n{note.body.casefold()}",
    )
