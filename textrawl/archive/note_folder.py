"""Folders of notes: a note for each entity, in a folder for each space.

The manifest in a folder lists the files that textrawl wrote, with their digests. Only such files
are replaced and removed, and only if nobody has edited them.
"""

import csv
import json
import re
import unicodedata
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Literal

from pathvalidate import sanitize_filename

from textrawl.archive.exports import choose_spaces
from textrawl.archive.notes import NotedEntity, NoteFormat, write_entity_note
from textrawl.errors import StartRefused
from textrawl.memory.vault import LINK_MARKS
from textrawl.postgres.owner_session import Session

MANIFEST = ".textrawl.jsonl"
_LONGEST = 180  # bytes of a file name; file systems allow 255
_COLUMNS = {
    "entities": ("name", "type", "description", "created_at", "updated_at", "id"),
    "facts": (
        "entity", "text", "valid", "author", "source", "confidence", "said_at", "valid_from",
        "valid_until", "created_at", "client", "tool", "id",
    ),
    "relations": (
        "from", "relation", "to", "valid", "author", "strength", "valid_from", "valid_until",
        "created_at", "client", "tool", "id",
    ),
}  # fmt: skip
_PATH = re.compile(r"[a-z0-9][a-z0-9_-]*/[^/\\]+\.(?:md|csv)")
_FORMULA = re.compile("[=+@\t-]")

Tables = dict[str, list[Sequence[object]]]
FolderFormat = Literal[NoteFormat, "csv"]


@dataclass
class NoteCounts:
    """The files of an export by what happened to them."""

    written: int = 0
    unchanged: int = 0
    removed: int = 0
    kept: list[str] = field(default_factory=list[str])
    """Files that somebody else wrote or edited, and which therefore stay as they are."""


class NoteFolder:
    """A folder of exported files. With `force`, edited files are replaced and removed too."""

    def __init__(self, root: Path, *, force: bool = False) -> None:
        self.counts = NoteCounts()
        self._root, self._force = root, force
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StartRefused(f"{root} cannot be a folder: {error.strerror}") from error
        self._known = self._read_manifest()
        self._current = dict[str, str]()

    def write(self, path: str, text: str) -> None:
        """Write a file, unless it has this text already."""
        content = text.encode("utf-8", "replace")
        digest = _digest(content)
        self._current[path] = digest
        file = self._root / path
        found = self._digest_of(file)
        if found == digest:
            self.counts.unchanged += 1
        elif found is None or self._is_ours(path, found):
            # Before the file, so that a later export knows it if this one is killed.
            self._note(path, digest)
            draft = file.with_name(f".{digest[:16]}.new")
            file.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(content)
            draft.replace(file)
            self.counts.written += 1
        else:
            self.counts.kept.append(path)

    def finish(self) -> NoteCounts:
        """Remove the files of earlier exports that this one did not write."""
        for path in self._known.keys() - self._current.keys():
            file = self._root / path
            found = self._digest_of(file)
            if found is not None and not self._is_ours(path, found):
                self.counts.kept.append(path)
                continue
            file.unlink(missing_ok=True)
            self.counts.removed += found is not None
            with suppress(OSError):
                file.parent.rmdir()  # only an empty folder
        self._write_manifest()
        return self.counts

    def _is_ours(self, path: str, digest: str) -> bool:
        return self._force or digest in self._known.get(path, ())

    def _digest_of(self, file: Path) -> str | None:
        """Return the digest of a file, or None if there is none. A link is never followed."""
        if any(part.is_symlink() for part in (file, file.parent)) or file.is_dir():
            raise StartRefused(f"{file} stands in the way of a note: remove it")
        return _digest(file.read_bytes()) if file.exists() else None

    def _read_manifest(self) -> dict[str, set[str]]:
        known = dict[str, set[str]]()
        try:
            lines = (self._root / MANIFEST).read_text(encoding="utf-8").splitlines()
            for line in lines:
                path, digest = json.loads(line)
                self._expect(path)
                known.setdefault(path, set()).add(digest)
        except FileNotFoundError:
            return known
        except (ValueError, TypeError) as error:
            raise StartRefused(
                f"{self._root / MANIFEST} is damaged: take it from a backup, or export into an "
                "empty folder"
            ) from error
        return known

    @staticmethod
    def _expect(path: str) -> None:
        """Raise ValueError for a path that no export writes, such as one out of the folder."""
        if not _PATH.fullmatch(path):
            raise ValueError(path)

    def _note(self, path: str, digest: str) -> None:
        self._known.setdefault(path, set()).add(digest)
        with (self._root / MANIFEST).open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps([path, digest])}\n")

    def _write_manifest(self) -> None:
        files = {path: {digest} for path, digest in self._current.items()}
        for path in self.counts.kept:  # a later export still tells that somebody has edited it
            files[path] = self._known.get(path, set())
        lines = "".join(
            f"{json.dumps([path, digest])}\n"
            for path, digests in sorted(files.items())
            for digest in sorted(digests)
        )
        draft = self._root / f"{MANIFEST}.new"
        draft.write_text(lines, encoding="utf-8")
        draft.replace(self._root / MANIFEST)


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


async def export_folder(
    session: Session,
    folder: NoteFolder,
    form: FolderFormat,
    spaces: Sequence[str],
    report: Callable[[int], object],
) -> NoteCounts:
    """Write the entities of `spaces`, or of all spaces, and remove the files of forgotten ones.

    Spaces that are graphs hold no facts and are left out. `report` gets the number of entities so
    far. Raises ArgumentInvalid for an unknown space, and StartRefused.
    """
    chosen = await choose_spaces(session, spaces)
    graphs, number = await session.find_graphs(), 0
    for space, space_id in chosen.items():
        if space in graphs:
            continue
        stems = await _name_notes(session, space_id) if form != "csv" else {}
        tables: Tables = {name: [columns] for name, columns in _COLUMNS.items()}
        async for row in _read_rows(session, space_id):
            number += 1
            report(number)
            if form == "csv":
                _add_to_tables(tables, row)
            else:
                note = write_entity_note(row, form, stems)
                folder.write(f"{space}/{stems[row.id]}.md", note)
        if form == "csv":
            for name, table in tables.items():
                folder.write(f"{space}/{name}.csv", _write_table(table))
    return folder.finish()


async def _read_rows(session: Session, space: int) -> AsyncIterator[NotedEntity]:
    async for page in session.read_lines("export_notes", space):
        for line, _ in page:
            yield NotedEntity(**json.loads(line))


async def _name_notes(session: Session, space: int) -> dict[str, str]:
    """Return the names of the notes of all entities of a space, without their suffix, by id."""
    stems, taken = dict[str, str](), set[str]()
    async for page in session.read_lines("export_entities", space):
        for line, _ in page:
            entity = json.loads(line)
            stem = name_entity_file(entity["name"], entity["id"])
            if unicodedata.normalize("NFC", stem.casefold()) in taken:
                stem = f"{stem} {entity['id']}"
            taken.add(unicodedata.normalize("NFC", stem.casefold()))
            stems[entity["id"]] = stem
    return stems


def name_entity_file(name: str, entity_id: str) -> str:
    """Return a file name without suffix that every file system accepts.

    It is the name of the entity. If that had to be changed, or if file systems disagree about its
    upper case, a part of the id follows. So it stays the same, whatever other entities there are.
    """
    clean = sanitize_filename(LINK_MARKS.sub(" ", name), platform="universal")
    clean = clean.encode()[:_LONGEST].decode(errors="ignore").strip(" .")
    folded = {name.casefold(), name.lower(), name.upper().lower()}
    plain = clean == name and len(folded) == 1 and len(name.lower()) == len(name)
    return clean if plain else f"{clean} {entity_id[:8]}".strip()


def _add_to_tables(tables: Tables, row: NotedEntity) -> None:
    name = row.entity["name"]
    rows = {
        "entities": [row.entity | {"type": row.free_type}],
        "facts": [fact | {"entity": name} for fact in row.facts or []],
        "relations": [
            one | {"from": name, "relation": one["label"] or one["relation"]}
            for one in row.relations or []
        ],
    }
    for table, lines in rows.items():
        tables[table] += [[_write_cell(line[key]) for key in _COLUMNS[table]] for line in lines]


def _write_cell(value: object) -> object:
    """Return a value for a table. A spreadsheet would run a text that begins like a formula."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _write_table(rows: Sequence[Sequence[object]]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
