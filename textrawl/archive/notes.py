"""Folders of notes: an entity as Markdown for people, from which an import makes it again.

Each fact, relation and alias is an item: a line for a person, and below it a comment with its other
values, which viewers do not show. The comment has the digest of the line. So a reader knows which
lines somebody has edited, and does not take an edited text for one of the stated author.

The manifest in a folder lists the files that textrawl wrote, with their digests. Only such files
are replaced and removed, and only if nobody has edited them.
"""

import json
import re
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import md5, sha256
from pathlib import Path
from typing import Any, Literal, cast, get_args
from urllib.parse import quote

from pathvalidate import sanitize_filename

from textrawl.archive.exports import choose_spaces
from textrawl.errors import StartRefused
from textrawl.memory.vault import LINK_MARKS, write_note
from textrawl.postgres.owner_session import Session
from textrawl.values.tables import write_table
from textrawl.values.text import remove_hidden

NoteFormat = Literal["obsidian", "markdown", "basic-memory"]
NOTE_FORMATS: tuple[NoteFormat, ...] = get_args(NoteFormat)
MARK = "textrawl"
"""The property of the front matter that names the format of a note of ours."""

ItemKind = Literal["fact", "relation", "alias"]
Values = dict[str, Any]

_UNSAID = ("kind", "space", "entity", "from_entity", "to_entity", "client", "tool", "request")
_USUAL: Values = {"confidence": 1, "strength": 1, "source": "conversation", "valid": True}
_COMMENT = re.compile(r"  <!-- (fact|relation|alias) (\{.*\}) -->")
_BRACKET = re.compile(r"[][\\]")
_MOST_ALIASES = 20  # in the front matter
_HEADINGS: dict[ItemKind, str] = {
    "fact": "Facts",
    "relation": "Relations",
    "alias": "Other names",
}
_FOLDS: dict[NoteFormat, tuple[str, str, str]] = {
    "obsidian": ("> [!info]- History\n", "> ", ""),
    "markdown": ("<details><summary>History</summary>\n\n", "", "\n</details>\n"),
    "basic-memory": ("## History\n\n", "", ""),
}
"""The beginning of the history, the beginning of its lines, and its end."""


@dataclass(frozen=True)
class NotedEntity:
    """A row of export_notes()."""

    id: str
    entity: Values
    aliases: list[Values] | None
    facts: list[Values] | None
    relations: list[Values] | None

    @property
    def free_type(self) -> str:
        """The type as the caller gave it, or else one of the seven types."""
        return self.entity["metadata"].get("type") or self.entity["entity_type"]


@dataclass(frozen=True)
class NoteItem:
    """A fact, relation or alias of a note, with the fields of its line in an export.

    `edited` is true if somebody has changed its line since the export. The text is then theirs.
    """

    kind: ItemKind
    values: Values
    edited: bool = False


def write_entity_note(row: NotedEntity, form: NoteFormat, stems: Mapping[str, str]) -> str:
    """Return the note of a row of export_notes(). `stems` has the file names of other notes."""
    current, ended = list[str](), list[str]()
    groups: dict[ItemKind, list[Values] | None] = {
        "fact": row.facts,
        "relation": row.relations,
        "alias": row.aliases,
    }
    for kind, items in groups.items():
        valid = list[str]()
        for values in items or []:
            kept = valid if values.get("valid", True) else ended
            kept.append(_write_item(kind, values, form, stems))
        if valid:
            current.append(f"## {_HEADINGS[kind]}\n\n{''.join(valid)}")
    if ended:
        begin, mark, end = _FOLDS[form]
        lines = "".join(ended).splitlines(keepends=True)
        current.append(begin + "".join(f"{mark}{line}" for line in lines) + end)
    title = f"# {row.entity['name']}\n"
    return write_note(_write_front(row, form), "\n".join([title, *current]))


def _write_front(row: NotedEntity, form: NoteFormat) -> Values:
    entity, name = row.entity, row.entity["name"]
    return {
        "title": name,
        "type": row.free_type,
        "kind": None if row.free_type == entity["entity_type"] else entity["entity_type"],
        "guessed": entity["type_guessed"],
        "aliases": [alias["name"] for alias in row.aliases or []][:_MOST_ALIASES],
        "permalink": f"{entity['space']}/{'-'.join(name.lower().split())}"
        if form == "basic-memory"
        else None,
        "description": entity["description"],
        "created": entity["created_at"],
        "id": entity["id"],
        MARK: form,
    }


def _write_item(kind: ItemKind, values: Values, form: NoteFormat, stems: Mapping[str, str]) -> str:
    begin, end = _frame(kind, values, form)
    match kind:
        case "fact":
            text = remove_hidden(values["text"])
        case "relation":
            text = f"{values['label'] or values['relation']} {_write_link(values, form, stems)}"
        case "alias":
            text = values["name"]
    shown = begin + text + end
    kept = {key: value for key, value in values.items() if _is_kept(kind, key, value, values)}
    kept["sum"] = _digest(shown)
    comment = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    # A comment ends at -->, and some readers end it at -- too.
    comment = remove_hidden(comment).replace("--", "-\\u002d").replace(">", "\\u003e")
    lines = shown.replace("\n", "\n  ")
    return f"- {lines}\n  <!-- {kind} {comment} -->\n"


def _is_kept(kind: ItemKind, key: str, value: object, values: Values) -> bool:
    if key in _UNSAID or value is None or (key in _USUAL and value == _USUAL[key]):
        return False
    match key:
        case "text":
            return kind != "fact"
        case "valid_from":
            return value != values["created_at"]
        case "closed_at":  # an import sets it to an end that has come
            return value != values["valid_until"]
        case "label":
            return value != values["relation"]
        case _:
            return True


def _frame(kind: ItemKind, values: Values, form: NoteFormat) -> tuple[str, str]:
    """Return the texts before and after the text of an item: its source, author and days."""
    valid = values.get("valid", True)
    begin = "" if valid else "[x] "
    if form == "basic-memory" and kind == "fact" and valid:
        begin = f"[{values.get('source', _USUAL['source'])}] "
    days = (values.get("said_at") or values["created_at"])[:10]
    if values.get("valid_until"):
        days += f" to {values['valid_until'][:10]}"
    wrong = values.get("wrong")
    reason = f", wrong: {' '.join(wrong['reason'].split())}" if wrong else ""
    author = " ".join(values["author"].split())
    return begin, remove_hidden(f" ({author}, {days}{reason})")


def _write_link(values: Values, form: NoteFormat, stems: Mapping[str, str]) -> str:
    name = values["to"]
    stem = stems.get(values["to_entity"], name)
    if form == "markdown":
        shown = _BRACKET.sub(r"\\\g<0>", name)
        return f"[{shown}]({quote(stem)}.md)"
    if form == "basic-memory":  # it would take each link for a relation that is valid
        return f"[[{name}]]" if values["valid"] else name
    return f"[[{stem}]]" if stem == name else f"[[{stem}|{name}]]"


def _digest(shown: str) -> str:
    return md5(shown.encode(), usedforsecurity=False).hexdigest()[:8]


def read_items(body: str, form: NoteFormat) -> Iterator[NoteItem | str]:
    """Yield the items of a note that `write_entity_note` wrote, and all other lines as they are.

    An item of which somebody has changed more than the text of a fact becomes lines too.
    """
    block, folded = list[str](), False
    # A line without an indent begins a block. The last line of an item is its comment, so that a
    # text with a comment in it is still the text of its author.
    for whole in [*body.split("\n"), "."]:
        folded = whole.startswith("> [!") or (folded and whole.startswith(">"))
        line = whole.removeprefix("> ") if folded else whole
        if line[:2].strip() and block:
            end = len(block)
            while end > 1 and not block[end - 1].strip():
                end -= 1
            found = _COMMENT.fullmatch(block[end - 1])
            item = _read_item(found, "\n".join(text[2:] for text in block[: end - 1]), form)
            yield from [item] if item else block
            block.clear()
        block.append(line)


def _read_item(found: re.Match[str] | None, shown: str, form: NoteFormat) -> NoteItem | None:
    if found is None:
        return None
    kind = cast("ItemKind", found[1])
    try:
        values: Values = json.loads(found[2])
        values.setdefault("valid", True)
        begin, end = _frame(kind, values, form)
        edited = values.pop("sum") != _digest(shown)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if kind != "fact":
        return None if edited else NoteItem(kind, values)
    if not (shown.startswith(begin) and shown.endswith(end) and len(shown) > len(begin + end)):
        return None
    values["text"] = shown[len(begin) : len(shown) - len(end)]
    return NoteItem(kind, values, edited)


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
        digest = _hash(content)
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
        return _hash(file.read_bytes()) if file.exists() else None

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


def _hash(content: bytes) -> str:
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
                folder.write(f"{space}/{name}.csv", write_table(table))
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

    It is the name of the entity. A part of the id follows if the name had to be changed, or if it
    can differ from another name only in case. So no other entity changes the file name.
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
        tables[table] += [[line[key] for key in _COLUMNS[table]] for line in lines]
