"""Folders of Markdown: notes that textrawl wrote, Obsidian vaults, basic-memory, rules of agents.

A note is an entity. Its links become relations, its properties and observations facts, and a text
of other lines becomes a document too. A rule of an agent is a fact about its project.
"""

import getpass
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from posixpath import normpath
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
    Remark,
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
from textrawl.memory.chunking import name_cells
from textrawl.memory.vault import Note as FrontedNote
from textrawl.memory.vault import read_note

_MOST_WORDS = 4  # of a relation before a link; more are a sentence
_OWN_KEYS = {
    *("title", "type", "permalink", "tags", "tag", "aliases", "alias", "id", "description"),
    *("created", "created_at", "date", "modified", "updated", "cssclasses", "publish", "name"),
}
_UNUSED_KEYS = ("modified", "updated", "cssclasses", "publish")
_PAGE_KEYS = {"alias", "aliases", "description", "tags", "title", "type"}
# Properties in which Logseq keeps the state of its editor.
_STATE = re.compile(
    r"(?:background|card|hl|logseq|ls|query|template)\b.*"
    r"|collapsed|created-at|filters|heading|icon|id|public|updated-at"
)
_TYPE_TAGS = {"person", "people", "contact", "project", "place", "location", "city", "country",
              "organization", "organisation", "company", "team", "event", "projekt", "ort", "firma",
              "persona", "proyecto", "lugar", "empresa", "personne", "projet", "lieu"}  # fmt: skip
_LINK = re.compile(r"!?\[\[([^\[\]|#^\n]*)(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_PLAIN_LINK = re.compile(r"!?\[[^\[\]\n]*\]\(([^()\s]+\.md)(?:#[^()\s]*)?\)")
_OBSERVATION = re.compile(r"[-*] \[([^\W\d_][^\[\]()]{1,49})\] (.+?(?: \(([^()]+)\))?)")
_RELATED = re.compile(r"[-*] ([^\[\]:#]+?):? \[\[([^\[\]|#^]+)[^\[\]]*\]\](?: \(([^()]+)\))?")
_FIELD = re.compile(r"(?:[-*] )?([\w][\w -]{0,60}):: +(.+)")
_TAG = re.compile(r"(?<![\w#/&])#(?!\d+(?![\w/-]))(\w[\w/-]*)")  # not #12, an issue
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
_COMMENT = re.compile(r"<!--(?!.*-->.*\S).*")
# The import of another file, with a few words around it.
_POINTER = re.compile(r"(?:[-*+] +)?(?:\S+ +){0,4}@\S+\.\w{1,5}(?: +\S+){0,3}|@\S+")
_TITLED = re.compile(r"(?:.*/)?(?:CLAUDE(?:\.local)?|AGENTS|GEMINI)\.md")
# Words of the title of a rule file that name no project.
_USUAL = re.compile(
    r"(?i)(?:(?:claude|agents?|gemini)(?:\.local)?(?:\.md)?:?|project|repo(?:sitory)?|code(?:base)?"
    r"|coding|develop\w*|guid\w+|instructions?|rules?|overview|context|conventions?|notes?"
    r"|standards?|documentation|contribut\w+|about|global|user|personal|preferences|reference|build"
    r"|test(?:ing|s)?|commands?|architecture|setup|style|workflows?|best|practices|general|how|to"
    r"|use|for|the|this|in|of|and|with|working|\W+)(?:\s+|$)"
)
_MOST_TITLE_WORDS = 4  # of a title that names a project; more are a sentence


def _list_notes(bundle: Bundle) -> list[str]:
    """Return the notes of a folder, without those in hidden folders and in the trash."""
    kept = (name for name in bundle.sizes if name.lower().endswith(".md"))
    return sorted(
        name for name in kept if not any(part.startswith(".") for part in name.split("/")[:-1])
    )


def has_text(bundle: Bundle) -> bool:
    """Return whether a note of a folder is not empty."""
    return any(bundle.read_head(name).strip() for name in _list_notes(bundle))


def list_rules(bundle: Bundle) -> list[str]:
    """Return the rule files of a folder, or all notes if it is the folder of Claude's memory."""
    notes = _list_notes(bundle) if bundle.path.name == "memory" else []
    if any(PurePosixPath(name).name == "MEMORY.md" for name in notes):
        return notes
    return sorted(name for name in bundle.sizes if _RULE_FILE.fullmatch(name))


@dataclass
class _NoteReader:
    """A reader of one note, whose entity is called `title`.

    `targets` has the names of all notes by what links to them, in lower case.
    """

    name: str
    key: str
    note: FrontedNote
    title: str
    targets: dict[str, str]
    links_itself: bool = False

    def read(self) -> Iterator[Item]:
        fields = Record(self.note.fields)
        at = fields.time("created", "created_at", "date")
        entity = Entity(
            self.key,
            self.title,
            self._find_type(fields.text("type")),
            fields.text("description") or None,
            [one for one in _list_aliases(self.note) if one.casefold() != self.title.casefold()],
            at,
        )
        known = entity.type or entity.description or entity.aliases
        if not self.note.body and not known and not any(self._read_properties()):
            yield Remark(self.name, "Empty, so left out")
            return
        yield entity
        seen = set[str]()
        for item in (*self._read_properties(), *self._read_body()):
            if item.id not in seen:
                seen.add(item.id)
                yield item
        rest = [line for line in self.note.body.split("\n") if not self._is_data(line)]
        if any(line.strip() and not _is_frame(line.strip(), self.title) for line in rest):
            yield ImportedNote(self.key, self.title, self.note.body, at)
        for text in self._list_omissions(fields, at):
            yield Remark(self.name, text)

    def _list_omissions(self, fields: Record, at: datetime | None) -> Iterator[str]:
        for key in filter(fields.get, _UNUSED_KEYS):
            yield f"The property {key} is left out"
        if at is None and any(map(fields.get, ("created", "created_at", "date"))):
            yield "The day of its creation cannot be read, so left out"
        if self.links_itself:
            yield "Links of a note to itself are left out"

    def _find_type(self, given: str) -> str | None:
        """Return the type that a note gives, or that of its tags."""
        if given not in ("", "note"):
            return (_LINK.findall(given) or [given])[0]
        first = self.note.body.split("\n", 1)[0].split()
        more = first if all(_TAG.fullmatch(word) for word in first) else []
        tags = (tag.lower().rpartition("/")[2].strip("#") for tag in (*self.note.tags, *more))
        return next((tag for tag in tags if tag.removesuffix("s") in _TYPE_TAGS), None)

    def _is_data(self, line: str) -> bool:
        """Return whether a line is stored whole. A relation has no place for a context."""
        found = (form.fullmatch(line.strip()) for form in (_OBSERVATION, _FIELD, _RELATED))
        one = next(filter(None, found), None)
        return one is not None and not (one.re is _RELATED and one[3])

    def _read_properties(self) -> Iterator[Memory]:
        for key, value in self.note.fields.items():
            if key not in _OWN_KEYS:
                yield from self._read_value(key, [value] if isinstance(value, str) else value)
        tags = dict.fromkeys([*self.note.tags, *_TAG.findall(_hide_code(self.note.body))])
        if tags:
            text = f"tags: {', '.join(tags)}"
            yield ImportedFact(f"{self.key}#tags", self.title, text, tags=list(tags), source="note")

    def _read_value(self, key: str, texts: list[str]) -> Iterator[Memory]:
        """Yield the relations to which a property links, or else one fact."""
        texts = [text for text in texts if text.strip().lower() not in {"", "~", "null"}]
        if _STATE.fullmatch(key):
            return
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
        place = target.strip().removesuffix(".md")
        stem = PurePosixPath(place).name.strip()
        if stem and not re.fullmatch(r"\.\w{2,4}", PurePosixPath(stem).suffix):  # not an image
            beside = normpath(PurePosixPath(self.name).parent / place)
            keys = (key.casefold() for key in (beside, place, stem))
            name = next((self.targets[key] for key in keys if key in self.targets), stem)
            if name == self.title:
                self.links_itself = True
            else:
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


def _read_own(name: str, own: str, note: FrontedNote, form: NoteFormat) -> Iterator[Item]:
    """Yield the entity of a note that textrawl wrote. Edited and added lines are of this user."""
    fields = note.fields
    key, title, author = as_text(fields.get("id")) or own, note.title or "", getpass.getuser()
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


def _list_aliases(note: FrontedNote) -> list[str]:
    values = [note.fields.get(key, []) for key in ("aliases", "alias", "name")]
    texts = [one.split(",") if isinstance(one, str) else one for one in values]
    return [name.strip(" []") for names in texts for name in names if name.strip(" []")]


def _lift_fields(note: FrontedNote) -> FrontedNote:
    """Return a note whose first lines, as Logseq writes them, are properties."""
    fields, lines = dict(note.fields), note.body.split("\n")
    for place, line in enumerate(lines):
        if not (found := _FIELD.fullmatch(line.strip())):
            break
        key, value = found[1].strip(), found[2].strip()
        if key in _PAGE_KEYS and key not in fields:
            fields[key] = value if key == "type" else value.replace("[[", "").replace("]]", "")
            lines[place] = ""
    return replace(note, fields=fields, body="\n".join(lines).strip())


class _NoteNames:
    """The titles and the names of the notes of a folder by their paths.

    `targets` has the names by what can link to them, in lower case: a path, its end, other names.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.titles, self.targets = dict[str, str](), dict[str, str]()
        aliases = dict[str, list[str]]()
        for path in _list_notes(bundle):
            if isinstance(text := read_text(bundle, path), str):
                note = _lift_fields(read_note(text))
                # Logseq writes the page A/B? as A___B%3F.md.
                title = unquote(PurePosixPath(path).stem).replace("___", "/")
                self.titles[path] = note.title or title
                aliases[path] = _list_aliases(note)
        bundle.done = 0
        self.names = _name_notes(self.titles)
        for path in sorted(self.names, key=lambda one: one.count("/")):
            for ending in (*_list_endings(path), ""):
                self._link(f"{ending}{PurePosixPath(path).stem}", path)
        for path, title in self.titles.items():
            for name in (title, *aliases[path]):
                self._link(name, path)

    def _link(self, target: str, path: str) -> None:
        self.targets.setdefault(target.casefold(), self.names[path])


def _list_endings(path: str) -> list[str]:
    """Return the last folders of a path, then the last two, and so on: Kiel/, Trips/Kiel/."""
    folders = path.split("/")[:-1]
    ends = (folders[place:] for place in reversed(range(len(folders))))
    return ["".join(f"{one}/" for one in end) for end in ends] or [""]


def _name_notes(titles: dict[str, str]) -> dict[str, str]:
    """Return the names of notes by their paths. Notes of one title are told apart by folders."""
    names, groups = dict[str, str](), dict[str, list[str]]()
    for path, title in titles.items():
        groups.setdefault(title.casefold(), []).append(path)
    for paths in groups.values():
        endings = Counter(ending for path in paths for ending in _list_endings(path))
        for path in paths:
            own = (one for one in _list_endings(path) if endings[one] == 1)
            folder = next(own, None) if len(paths) > 1 else ""
            names[path] = path[:-3] if folder is None else f"{folder}{titles[path]}"
    return names


def read_notes(bundle: Bundle) -> Iterator[Item]:
    """Yield the items of a folder of notes."""
    notes = _NoteNames(bundle)
    for name in _list_notes(bundle):
        text = read_text(bundle, name)
        if isinstance(text, Fault):
            yield text
            continue
        note = _lift_fields(read_note(text))
        form = note.fields.get(MARK)
        key = bundle.folder.write_id(name, Record(note.fields).text("permalink"))
        if form in NOTE_FORMATS:
            yield from _read_own(name, key, note, form)
            continue
        title = notes.names[name]
        if title != notes.titles[name]:
            yield Remark(name, "Named with their folders, because notes share a name")
        yield from _NoteReader(name, key, note, title, notes.targets).read()


def _read_rules(bundle: Bundle) -> Iterator[Item]:
    """Yield the rules of agents, each with the headings above it."""
    names = list_rules(bundle) or _list_notes(bundle)
    projects = _find_projects(bundle, names)
    for name in names:
        text = read_text(bundle, name)
        if isinstance(text, Fault):
            yield text
            continue
        note = read_note(text)
        fields, ids, place = Record(note.fields), LineIds(), bundle.folder.write_id(name)
        body = _hide_code(note.body)
        above = [str(one) for one in PurePosixPath(name).parents]
        project = next(projects[one] for one in above if one in projects)
        own = project if _RULE_FILE.fullmatch(name) else PurePosixPath(name).stem
        title, about = fields.text("name") or own, fields.text("description") or None
        rules = list(_split_rules(body))
        if about or rules:
            yield Entity(f"{place}#entity", title, "project", about)
        for heading, lines in rules:
            rule = drop_mark(" ".join(line.strip() for line in lines))
            former = " ".join(_ITEM.sub("", line, count=1).strip() for line in lines)
            key = ids.write(f"{place}#{heading}", rule, former)
            said = f"{heading}: {rule}" if heading and _find_project(heading) != title else rule
            yield ImportedFact(key, title, said, note=name, source="document")
        if body != note.body:
            yield Remark(name, "Blocks of code are left out of these rules")
        if any(_POINTER.fullmatch(line.strip()) for line in body.split("\n")):
            yield Remark(name, "Lines that only point to another file are left out of these rules")


def _find_projects(bundle: Bundle, names: list[str]) -> dict[str, str]:
    """Return the project of the rule files in each folder: as a title there, or the folder."""
    folder = bundle.path.absolute()
    found = {".": folder.name if bundle.path.is_dir() else folder.parent.name}
    for name in filter(_TITLED.fullmatch, reversed(names)):
        text = read_text(bundle, name)
        head = read_note(text).body.split("\n", 1)[0] if isinstance(text, str) else ""
        if head.startswith("# ") and (title := _find_project(head.removeprefix("# "))):
            found[str(PurePosixPath(name).parent)] = title
    bundle.done = 0
    return found


def _find_project(heading: str) -> str:
    """Return the name of the project in the title of a rule file, or an empty text."""
    words, before = heading[:100].strip(" #"), ""
    while words != before:
        before, words = words, _USUAL.sub("", words, count=1) if _USUAL.match(words) else words
        last = words.rpartition(" ")[2]
        words = words.removesuffix(last).strip() if _USUAL.fullmatch(last) else words
        words = words.strip(" -:,.\u2013\u2014#")
    return words if len(words.split()) <= _MOST_TITLE_WORDS else ""


def _split_rules(body: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of each list item, row and paragraph with the nearest heading above it."""
    heading, rule = "", list[str]()
    for line in [*name_cells(body.split("\n")), ""]:
        text, headed = line.strip(), _HEADING.match(line)
        breaks = not text or headed or _RULER.fullmatch(text)
        if rule and (breaks or _begins_item(line, rule[0])):
            yield heading, rule
            rule = []
        if headed:
            heading = line.lstrip("#").strip()
        elif not breaks and not (_COMMENT.fullmatch(text) or _POINTER.fullmatch(text)):
            rule.append(line)


def _begins_item(line: str, first: str) -> bool:
    """Return whether a line begins an item, and not a date in a paragraph that begins at `first`.

    In a paragraph, only the number 1 begins a list.
    """
    found = _ITEM.match(line)
    return found is not None and (found[1] in (None, "1") or _ITEM.match(first) is not None)


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
    ImportFormat(
        "rules", "Agent rules", lambda one: bool(list_rules(one)), _read_rules, local=True
    ),
    ImportFormat("basic-memory", "basic-memory", _is_basic_memory, read_notes, local=True),
    ImportFormat("obsidian", "Obsidian", _is_vault, read_notes, local=True),
)
