"""Notes of promoted memories in the folder of an Obsidian vault."""

import errno
import json
import logging
import os
import re
import secrets
import stat
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal, cast
from uuid import UUID

import yaml
from pathvalidate import sanitize_filename

from textrawl.errors import TextrawlError
from textrawl.memory.store import StoreCall
from textrawl.scheduling import run_aside

_FRONT_MATTER = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE
)
# Editors also write values that YAML does not take without quotes, such as globs: *.py
_PLAIN_VALUE = re.compile(r"^([\w-]+: +)([^\s'\"\[{|>].*)$", re.MULTILINE)
_MOST_FRONT_MATTER = 20_000  # characters, which limits nesting; a longer one belongs to the body


@dataclass(frozen=True)
class Note:
    """A note: its front matter, where each value is text or a list of texts, and its body."""

    fields: Mapping[str, str | list[str]]
    body: str

    @property
    def title(self) -> str | None:
        """The title in the front matter."""
        title = self.fields.get("title")
        return title if isinstance(title, str) and title.strip() else None

    @property
    def tags(self) -> list[str]:
        """The tags in the front matter, without the mark # and in lower case."""
        tags = self.fields.get("tags", [])
        listed = re.split(r"[,\s]+", tags) if isinstance(tags, str) else tags
        return [tag.lstrip("#").lower() for tag in listed if tag.strip("# ")]


def read_note(text: str) -> Note:
    """Return the note that a text holds. Front matter that is not YAML belongs to the body."""
    found = _FRONT_MATTER.match(text[:_MOST_FRONT_MATTER])
    if found is None:
        return Note({}, text.strip())
    quoted = _PLAIN_VALUE.sub(lambda line: line[1] + json.dumps(line[2].strip()), found[1])
    fields = _read_front(found[1]) or _read_front(quoted)
    if fields is None:
        return Note({}, text.strip())
    return Note(_flatten(fields), text[found.end() :].strip())


def _read_front(front: str) -> dict[object, object] | None:
    """Return the properties in a front matter, or None if it is not YAML with properties."""
    try:
        # This loader makes only texts, so a wrong date is not an error.
        value: Any = yaml.load(front, Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError):
        return None
    value = {} if value is None else value
    return cast("dict[object, object]", value) if isinstance(value, dict) else None


def write_note(fields: Mapping[str, object], body: str) -> str:
    """Return the text of a note. Fields without a value are left out."""
    kept = {key: value for key, value in fields.items() if value not in (None, "", [], {})}
    front = yaml.safe_dump(kept, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{front}---\n\n{body.strip()}\n"


def _flatten(fields: dict[object, object]) -> dict[str, str | list[str]]:
    """Return properties by their names, and those in a property by both names: berth.harbour."""
    flat = dict[str, str | list[str]]()
    left: list[tuple[str, object, bool]] = [("", fields, False)]
    steps = iter(range(_MOST_FRONT_MATTER))  # an anchor can multiply values
    while left and next(steps, None) is not None:
        name, value, listed = left.pop()
        if isinstance(value, dict):
            parts = reversed(cast("dict[object, object]", value).items())
            left += [(f"{name}.{key}" if name else str(key), one, listed) for key, one in parts]
        elif isinstance(value, list):
            left += [(name, one, True) for one in reversed(cast("list[object]", value))]
        elif isinstance(value, str):
            known = flat.setdefault(name, [] if listed else value)
            if listed and isinstance(known, list):
                known.append(value)
    return flat


PROMOTED = "textrawl"  # subfolder of promoted notes; it has a subfolder for each space
_LONGEST_TITLE = 80
_MOST_NAMES = 100
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
LINK_MARKS = re.compile(r"[\[\]#^|]+")  # Obsidian cannot link to a file name with these marks


class VaultUnavailable(TextrawlError):
    """The vault is not set, missing, read-only or full."""

    title = "Vault not available"
    fix = "Set TEXTRAWL_VAULT of the server to a folder for notes; nothing was changed"


@dataclass(frozen=True)
class NotePlace:
    """The place of a note in the vault, and whether the call wrote it."""

    path: str
    written: bool


@contextmanager
def open_vault(vault: Path | None) -> Generator[int]:
    """Yield a descriptor of the vault's folder. Raises VaultUnavailable."""
    if vault is None:
        raise VaultUnavailable
    with _translate_faults(), ExitStack() as stack:
        folder = os.open(vault.resolve(), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, folder)
        yield folder


def check_vault(vault: Path | None) -> None:
    """Raise VaultUnavailable if the folder is missing or read-only."""
    with open_vault(vault) as folder:
        if not os.access(".", os.W_OK, dir_fd=folder):
            raise PermissionError(errno.EACCES, "the folder in TEXTRAWL_VAULT is read-only")


def add_note(vault: Path | None, space: str, title: str, memory_id: str, text: str) -> NotePlace:
    """Write a promoted note of a space, and return its path in the vault.

    If an earlier call wrote the note of this memory but could not finish, the earlier note is kept.
    Raises VaultUnavailable.
    """
    stem = name_note(title, memory_id)
    with open_vault(vault) as root, ExitStack() as stack:
        folder = _enter_path(root, (PROMOTED, space), stack)
        for number in range(1, _MOST_NAMES):
            name = f"{stem}.md" if number == 1 else f"{stem} {number}.md"
            path = f"{PROMOTED}/{space}/{name}"
            if _write(folder, name, text):
                return NotePlace(path, written=True)
            if _read_memory_id(folder, name) == memory_id:
                return NotePlace(path, written=False)
    raise VaultUnavailable(f"Remove notes named {stem!r} from the vault; nothing was changed")


def remove_note(vault: Path | None, place: NotePlace) -> None:
    """Remove a note that the same call wrote, because the memory could not be marked."""
    if not place.written:
        return
    *folders, name = place.path.split("/")
    with open_vault(vault) as root, ExitStack() as stack:
        os.unlink(name, dir_fd=_enter_path(root, folders, stack))


def name_note(title: str, memory_id: str) -> str:
    """Return the name of a note without its suffix. Every file system accepts it."""
    line = LINK_MARKS.sub(" ", " ".join(title.split()))
    clean = sanitize_filename(line, platform="universal", max_len=_LONGEST_TITLE * 4)
    return f"{clean[:_LONGEST_TITLE].strip(' .')} {memory_id[:8]}".strip()


def _enter_path(root: int, names: Sequence[str], stack: ExitStack) -> int:
    """Open the subfolder at a path, and create its folders. A link in place of one is refused."""
    folder = root
    for name in names:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        folder = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
        stack.callback(os.close, folder)
    return folder


def _write(folder: int, name: str, text: str) -> bool:
    """Write a new file. Return False if the name exists.

    The empty file reserves the name, and the complete draft then takes its place.
    """
    try:
        os.close(os.open(name, _NEW_FLAGS, 0o644, dir_fd=folder))
    except FileExistsError:
        return False
    draft = f".{secrets.token_hex(8)}.new"
    with ExitStack() as undo:
        undo.callback(os.unlink, name, dir_fd=folder)
        descriptor = os.open(draft, _NEW_FLAGS, 0o644, dir_fd=folder)
        undo.callback(os.unlink, draft, dir_fd=folder)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        undo.pop_all()
    os.fsync(folder)
    return True


def _read_memory_id(folder: int, name: str) -> str | None:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
        value = read_note(file.read(1 << 20)).fields.get("memory_id")
    return value if isinstance(value, str) else None


@contextmanager
def _translate_faults() -> Generator[None]:
    try:
        yield
    except OSError as error:
        reasons = {
            errno.ENOENT: "the folder in TEXTRAWL_VAULT is missing: create it",
            errno.ELOOP: f"a link stands in place of a folder or note in {PROMOTED}: remove it",
            errno.ENOTDIR: f"a file or link stands in place of a folder in {PROMOTED}: remove it",
        }
        reason = reasons.get(error.errno or 0, error.strerror or "the folder cannot be used")
        raise VaultUnavailable(f"{reason}; nothing was changed") from error


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
class VaultMatch:
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


async def search_vault(
    call: StoreCall, vault: Path | None, wanted: Wanted
) -> tuple[list[VaultMatch], str | None]:
    """Return the best memories and notes, and the reason if the notes were not searched."""
    rows = await call.read(
        "match_memories",
        MatchedRow,
        words=wanted.words,
        tags=list(wanted.tags) or None,
        window_days=wanted.window_days,
        least_score=wanted.min_score,
        max_rows=wanted.limit,
    )
    memories = [_weigh_memory(row, wanted) for row in rows]
    if vault is None:
        return _merge(memories, wanted.limit), None
    spaces = frozenset(space.name for space in call.caller.principal.readable)
    try:
        notes = await run_aside(_match_notes, vault, wanted, spaces)
    except VaultUnavailable as error:
        return _merge(memories, wanted.limit), f"Notes were not searched: {error.fix}"
    return _merge([*memories, *notes], wanted.limit), None


def _match_notes(vault: Path, wanted: Wanted, spaces: frozenset[str]) -> list[VaultMatch]:
    """Return the notes that match. A promoted note is shown to readers of its space only."""
    return [
        VaultMatch(
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


def _weigh_memory(row: MatchedRow, wanted: Wanted) -> VaultMatch:
    return VaultMatch(
        source="stm",
        score=row.score * wanted.memory_weight,
        title=None,
        content=row.content,
        tags=row.tags,
        created_at=row.created_at,
        last_used=row.last_used,
        memory_id=str(row.memory_id),
    )


def _merge(found: Sequence[VaultMatch], limit: int) -> list[VaultMatch]:
    """Return the results with the highest scores, each text once."""
    kept = dict[str, VaultMatch]()
    for one in sorted(found, key=lambda one: (-one.score, one.source != "stm", one.path or "")):
        kept.setdefault(one.content[:_SAME].casefold(), one)
    return list(kept.values())[:limit]
