"""Folders of Markdown: notes that textrawl wrote, Obsidian vaults, basic-memory, rules of agents.

A note is an entity. Its links become relations, its properties and observations facts, and a text
of other lines becomes a document too. A rule of an agent is a fact about its project.
"""

import getpass
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import cast
from urllib.parse import unquote

from textrawl.archive.bundles import Bundle
from textrawl.archive.formats import (
    ImportFormat,
    LineIds,
    Record,
    as_text,
    drop_mark,
    read_text,
    read_time,
)
from textrawl.archive.items import (
    Entity,
    Fault,
    ImportedFact,
    ImportedNote,
    ImportedRelation,
    Item,
    Memory,
    write_line_id,
)
from textrawl.archive.notes import (
    MANIFEST,
    MARK,
    NOTE_FORMATS,
    NoteFormat,
    NoteItem,
    Values,
    read_items,
)
from textrawl.memory.vault import Note as FrontedNote
from textrawl.memory.vault import read_note

_MOST_WORDS = 4  # of a relation before a link; more are a sentence
_OWN_KEYS = {
    *("title", "type", "permalink", "tags", "tag", "aliases", "alias", "id", "description"),
    *("created", "created_at", "date", "modified", "updated", "cssclasses", "publish", "name"),
}
_LINK = re.compile(r"!?\[\[([^\[\]|#^\n]*)(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_PLAIN_LINK = re.compile(r"!?\[[^\[\]\n]*\]\(([^()\s]+\.md)(?:#[^()\s]*)?\)")
_OBSERVATION = re.compile(r"[-*] \[([^\W\d_][^\[\]()]{1,49})\] (.+?(?: \(([^()]+)\))?)")
_RELATED = re.compile(r"[-*] ([^\[\]:]+?):? \[\[([^\[\]|#^]+)[^\[\]]*\]\](?: \(([^()]+)\))?")
_FIELD = re.compile(r"(?:[-*] )?([\w][\w -]{0,60}):: +(.+)")
_TAG = re.compile(r"(?<![\w#/&])#([\w][\w/-]*)")
_FENCE = re.compile(r"\s*(`{3,}(?!.*`)|~{3,})(.*)")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_RULER = re.compile(r"([-*_])(?: *\1){2,}")
_FRAME = re.compile(r"(?:> )?\[!info\]- History|</?details>(?:<summary>History</summary>)?")
_FRAME_HEADINGS = {"Facts", "Relations", "Other names", "History", "Observations"}
_RULE_FILE = re.compile(
    r"(?:[^./][^/]*/)*(?:(?:CLAUDE(?:\.local)?|AGENTS|GEMINI)\.md|\.(?:cursor|windsurf|cline)rules"
    r"|(?:\.cursor/(?:.*/)?)?[^/]+\.mdc|\.(?:clinerules|amazonq/rules|github/instructions)/.*\.md"
    r"|\.github/copilot-instructions\.md)"
)
_ITEM = re.compile(r"\s*(?:[-*+]|(\d+)[.)]) +")
_ASIDE = re.compile(r"<!--(?!.*-->.*\S).*|@\S+")  # a comment, the import of another file
_BAR = re.compile(r"(?<!\\)\|")
_BELOW_HEADER = re.compile(r"\|?(?: *:?-+:? *\|)+(?: *:?-+:?)? *")


def _list_notes(bundle: Bundle) -> list[str]:
    """Return the notes of a folder, without those in hidden folders and in the trash."""
    kept = (name for name in bundle.sizes if name.lower().endswith(".md"))
    return sorted(
        name for name in kept if not any(part.startswith(".") for part in name.split("/")[:-1])
    )


def list_rules(bundle: Bundle) -> list[str]:
    """Return the rule files of a folder, or all notes if it is the folder of Claude's memory."""
    notes = _list_notes(bundle) if bundle.path.name == "memory" else []
    if any(PurePosixPath(name).name == "MEMORY.md" for name in notes):
        return notes
    return sorted(name for name in bundle.sizes if _RULE_FILE.fullmatch(name))


@dataclass
class _NoteReader:
    """A reader of one note. `titles` has the names of all notes by the names of their files."""

    name: str
    note: FrontedNote
    titles: dict[str, str]

    @property
    def title(self) -> str:
        return self.note.title or PurePosixPath(self.name).stem

    @property
    def key(self) -> str:
        return Record(self.note.fields).text("permalink") or self.name

    def read(self) -> Iterator[Item]:
        fields = Record(self.note.fields)
        kind, at = fields.text("type"), fields.time("created", "created_at", "date")
        aliases = [*self._list("aliases"), *self._list("alias")]
        yield Entity(
            self.key,
            self.title,
            None if kind in ("", "note") else kind,
            fields.text("description") or None,
            [name for name in aliases if name.strip()],
            at,
        )
        seen = set[str]()
        for item in (*self._read_properties(), *self._read_body()):
            if item.id not in seen:
                seen.add(item.id)
                yield item
        rest = [line for line in self.note.body.split("\n") if not self._is_data(line)]
        if any(line.strip() and not _is_frame(line.strip(), self.title) for line in rest):
            yield ImportedNote(self.key, self.title, self.note.body, at)

    def _list(self, key: str) -> list[str]:
        value = self.note.fields.get(key, [])
        return [one.strip() for one in value.split(",")] if isinstance(value, str) else value

    def _is_data(self, line: str) -> bool:
        """Return whether a line is stored whole. A relation has no place for a context."""
        found = (form.fullmatch(line.strip()) for form in (_OBSERVATION, _FIELD, _RELATED))
        one = next(filter(None, found), None)
        return one is not None and not (one.re is _RELATED and one[3])

    def _read_properties(self) -> Iterator[Memory]:
        for key, value in self.note.fields.items():
            if key not in _OWN_KEYS:
                texts = [value] if isinstance(value, str) else value
                yield from self._read_value(key, [text for text in texts if text.strip()])
        tags = dict.fromkeys([*self.note.tags, *_TAG.findall(_hide_code(self.note.body))])
        if tags:
            text = f"tags: {', '.join(tags)}"
            yield ImportedFact(f"{self.key}#tags", self.title, text, tags=list(tags), source="note")

    def _read_value(self, key: str, texts: list[str]) -> Iterator[Memory]:
        """Yield the relations to which a property links, or else one fact."""
        if texts and all(_LINK.fullmatch(text.strip()) for text in texts):
            for text in texts:
                yield from self._relate(
                    key, cast("re.Match[str]", _LINK.fullmatch(text.strip()))[1]
                )
        elif texts:
            yield ImportedFact(
                f"{self.key}#{key}", self.title, f"{key}: {', '.join(texts)}", source="note"
            )

    def _relate(self, relation: str, target: str) -> Iterator[ImportedRelation]:
        stem = PurePosixPath(target.strip()).name.removesuffix(".md").strip()
        if stem and not re.fullmatch(r"\.\w{2,4}", PurePosixPath(stem).suffix):  # not an image
            name = self.titles.get(stem.casefold(), stem)
            yield ImportedRelation(f"{self.key}#{relation}#{name}", self.title, relation, name)

    def _read_body(self) -> Iterator[Memory]:
        for line in _hide_code(self.note.body).split("\n"):
            text = line.strip()
            if found := _OBSERVATION.fullmatch(text):
                category, content, context = found.groups()
                yield ImportedFact(
                    write_line_id(f"{self.key}#[{category}]", content),
                    self.title,
                    content,
                    note=context,
                    tags=[category, *_TAG.findall(content)],
                    source="note",
                )
            elif (found := _RELATED.fullmatch(text)) and len(found[1].split()) <= _MOST_WORDS:
                yield from self._relate(found[1], found[2])
            elif found := _FIELD.fullmatch(text):
                yield from self._read_value(found[1].strip(), [found[2]])
            else:
                links = [*_LINK.findall(text), *map(unquote, _PLAIN_LINK.findall(text))]
                for target in links:
                    yield from self._relate("links_to", target)


def _hide_code(body: str) -> str:
    """Return a text with empty lines for the lines of fenced code."""
    lines, fence = list[str](), ""
    for line in body.split("\n"):
        found = _FENCE.match(line)
        lines.append("" if found or fence else line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return "\n".join(lines)


def _is_frame(line: str, title: str) -> bool:
    """Return whether a line is a heading or a mark that an export writes around its items."""
    heading = line.lstrip("#").strip() if _HEADING.match(line) else None
    framed = heading in _FRAME_HEADINGS or heading == title
    return framed or bool(_FRAME.fullmatch(line) or _RULER.fullmatch(line))


def _read_own(name: str, note: FrontedNote, form: NoteFormat) -> Iterator[Item]:
    """Yield the entity of a note that textrawl wrote. Edited and added lines are of this user."""
    fields = note.fields
    key, title, author = as_text(fields.get("id")) or name, note.title or "", getpass.getuser()
    items = list(read_items(note.body, form))
    names = [
        one.values["name"] for one in items if isinstance(one, NoteItem) and one.kind == "alias"
    ]
    guessed = fields.get("guessed") == "true"
    kind = None if guessed else as_text(fields.get("type")) or None
    at, text = read_time(fields.get("created")), as_text(fields.get("description")) or None
    yield Entity(key, title, kind, text, names, at, key)
    for number, item in enumerate(items):
        if not isinstance(item, NoteItem):
            added = drop_mark(item)
            if added and not _is_frame(item.strip(), title):
                yield ImportedFact(
                    f"{key}+{added}"[:400], title, added, author=author, source="note"
                )
            continue
        try:
            if item.kind == "fact":
                yield _read_own_fact(title, item, author)
            elif item.kind == "relation":
                yield _read_own_relation(title, item.values)
        except (KeyError, TypeError, ValueError):
            yield Fault(f"{name}, item {number}", "its comment is damaged")


def _read_own_fact(title: str, item: NoteItem, author: str) -> ImportedFact:
    values = item.values
    if item.edited:
        text = values["text"]
        key = f"{values['id']}+{text}"[:400]
        return ImportedFact(key, title, text, author=author, replaces=values["id"])
    return ImportedFact(
        values["id"],
        title,
        values["text"],
        read_time(values["created_at"]),
        read_time(values.get("said_at")),
        read_time(values.get("valid_from")),
        read_time(values.get("valid_until")),
        author=values["author"],
        confidence=values.get("confidence"),
        source=values.get("source", "conversation"),
        key=values["id"],
        replaced_by=values.get("replaced_by"),
    )


def _read_own_relation(title: str, values: Values) -> ImportedRelation:
    return ImportedRelation(
        values["id"],
        title,
        values.get("label") or values["relation"],
        values["to"],
        read_time(values["created_at"]),
        read_time(values.get("valid_from")),
        read_time(values.get("valid_until")),
        values["author"],
        values.get("strength", 1.0),
        values["id"],
    )


def read_notes(bundle: Bundle) -> Iterator[Item]:
    """Yield the items of a folder of notes."""
    titles = dict[str, str]()
    texts = _list_notes(bundle)
    for name in texts:
        text = read_text(bundle, name)
        if isinstance(text, str) and (title := read_note(text).title):
            titles[PurePosixPath(name).stem.casefold()] = title
    bundle.done = 0
    for name in texts:
        text = read_text(bundle, name)
        if isinstance(text, Fault):
            yield text
            continue
        note = read_note(text)
        form = note.fields.get(MARK)
        if form in NOTE_FORMATS:
            yield from _read_own(name, note, form)
        else:
            yield from _NoteReader(name, note, titles).read()


def _read_rules(bundle: Bundle) -> Iterator[Item]:
    """Yield the rules of agents, each with the headings above it."""
    folder = bundle.path.absolute() if bundle.path.is_dir() else bundle.path.absolute().parent
    for name in list_rules(bundle) or _list_notes(bundle):
        text = read_text(bundle, name)
        if isinstance(text, Fault):
            yield text
            continue
        note = read_note(text)
        fields, ids = Record(note.fields), LineIds()
        project = folder.name if _RULE_FILE.fullmatch(name) else PurePosixPath(name).stem
        title, about = fields.text("name") or project, fields.text("description") or None
        rules = list(_split_rules(_hide_code(note.body)))
        if about or rules:
            yield Entity(f"{name}#entity", title, "project", about)
        for heading, lines in rules:
            rule = drop_mark(" ".join(line.strip() for line in lines))
            former = " ".join(_ITEM.sub("", line, count=1).strip() for line in lines)
            key = ids.write(f"{name}#{heading}", rule, former)
            said = f"{heading}: {rule}" if heading else rule
            yield ImportedFact(key, title, said, note=name, source="document")


def _split_rules(body: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of each list item, row and paragraph with the nearest heading above it."""
    heading, rule = "", list[str]()
    for line in [*_write_rows(body.split("\n")), ""]:
        text, headed = line.strip(), _HEADING.match(line)
        breaks = not text or headed or _RULER.fullmatch(text)
        if rule and (breaks or _begins_item(line, rule[0])):
            yield heading, rule
            rule = []
        if headed:
            heading = line.lstrip("#").strip()
        elif not breaks and not _ASIDE.fullmatch(text):
            rule.append(line)


def _begins_item(line: str, first: str) -> bool:
    """Return whether a line begins an item, and not a date in a paragraph that begins at `first`.

    In a paragraph, only the number 1 begins a list.
    """
    found = _ITEM.match(line)
    return found is not None and (found[1] in (None, "1") or _ITEM.match(first) is not None)


def _write_rows(lines: list[str]) -> Iterator[str]:
    """Yield the lines, each row of a table as an item in which the header names the cells."""
    header = list[str]()
    for place, line in enumerate(lines):
        below = lines[place + 1].strip() if place + 1 < len(lines) else ""
        if "|" not in line:
            header = []
        if header and not _BELOW_HEADER.fullmatch(line.strip()):
            named = zip_longest(header, _split_row(line), fillvalue="")
            yield "- " + ", ".join(f"{name} {cell}".strip() for name, cell in named if cell)
        elif not header and "|" in line and _BELOW_HEADER.fullmatch(below):
            header = _split_row(line)
        elif not header:
            yield line


def _split_row(line: str) -> list[str]:
    cells = _BAR.split(line.strip().removeprefix("|").removesuffix("|"))
    return [cell.replace("\\|", "|").strip() for cell in cells]


def _is_basic_memory(bundle: Bundle) -> bool:
    notes = (
        read_note(bundle.read_head(name).decode("utf-8", "replace"))
        for name in _list_notes(bundle)[:20]
    )
    return any("permalink" in note.fields for note in notes)


def _is_vault(bundle: Bundle) -> bool:
    # A file that only looks like a note could be anything.
    hidden = any(MANIFEST in name or ".obsidian/" in f"/{name}" for name in bundle.sizes)
    return (
        hidden
        or (bundle.path.is_dir() and bool(_list_notes(bundle)))
        or (bundle.path.suffix.lower() == ".md")
    )


FORMATS = (
    ImportFormat("rules", "Agent rules", lambda one: bool(list_rules(one)), _read_rules),
    ImportFormat("basic-memory", "basic-memory", _is_basic_memory, read_notes),
    ImportFormat("obsidian", "Obsidian", _is_vault, read_notes),
)
