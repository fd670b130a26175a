"""The import of entities, facts and relations of another system into one space.

Items become lines of an export. Their ids are made from their contents, so a second import adds
nothing. An item that an earlier import stored is left out, unless it has changed: its fact then
replaces the fact of the earlier import.
"""

import unicodedata
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid5

from pydantic_core import to_json

from textrawl.archive.exports import VERSION
from textrawl.archive.formats import ImportFormat
from textrawl.archive.imports import Import, ImportItem, Row
from textrawl.archive.items import (
    Conversation,
    Entity,
    Fault,
    ImportedFact,
    ImportedLink,
    ImportedNote,
    ImportedRelation,
    ImportFolder,
    Item,
    Memory,
    PlainFact,
    Remark,
    SecretGate,
    digest,
    find_group,
)
from textrawl.postgres.owner_session import Session, as_json
from textrawl.values.reference_file import cut_name
from textrawl.values.text import (
    RELATION_LENGTH,
    clean_name,
    clean_relation,
    clean_tag,
    clean_text,
    number_text,
    split_text,
)

NAMESPACE = UUID("7d1f7c52-52c1-4a0b-9a55-3a7f5b4f0a6e")  # for ids that are made from lines
_BATCH = 1_000
_MOST_CLIENT = 200
_MOST_ID = 500
_STORED = ("entity", "alias", "fact", "relation")
_GUESSED = "concept"  # the type of an entity that only a fact or a relation names

Numbered = tuple[int, bytes]
"""A line of an export, with the number of its item."""
Fields = dict[str, object]


@dataclass(frozen=True)
class _Known:
    digest: str
    stored: UUID
    gone: bool


@dataclass
class MemoryWriter:
    """A writer of items of a format as lines of an export, for an import into one space.

    `space` and `space_id` are the name and the id of this space. `author` becomes the author of the
    facts, unless their items name another. `sources` has the item of each line, by the line's id.
    """

    session: Session
    space: str
    space_id: int
    author: str
    form: ImportFormat
    gate: SecretGate
    lines: set[str]
    """The ids of all facts of the import that are as of `write_line_id`."""
    find_place: Callable[[ImportedFact], Mapping[str, object]] = lambda _: {}
    """Returns the repository and the anchors of a fact, or nothing."""
    folder: ImportFolder = field(default_factory=ImportFolder)
    sources: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    places: list[str] = field(default_factory=lambda: ["the import"])
    """The id of the item of each line, by the line's number."""
    replaces: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """The ids of the fact that a line replaces and of that fact's item, by the line's id."""
    unchanged: int = 0
    changed: int = 0
    _moment: datetime = field(default_factory=lambda: datetime.now(UTC))
    _written: int = 0
    _types: dict[str, str] = field(default_factory=lambda: {_GUESSED: _GUESSED})
    _ids: dict[str, UUID] = field(default_factory=dict[str, UUID])
    _counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("space", "entity", "fact", "relation"), 0)
    )
    _known: dict[str, _Known] = field(default_factory=dict[str, _Known])
    _edited: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """The values of `replaces` for edited lines, by the ids of their items."""

    async def translate(
        self, items: Iterable[Item], refuse: Callable[[int, str], object]
    ) -> AsyncGenerator[Numbered]:
        """Yield the entities, facts and relations as lines of an export.

        `refuse` gets the number and the reason of each fault among the items.
        """
        if self.form.listed:
            scope = as_json([{"space": self.space_id, "system": self.form.name}])
            for source, sign, stored, gone in await self.session.call("imported_items", scope):
                self._known[source] = _Known(sign, stored, gone)
        self._edited = self._find_edited()
        yield 0, to_json({"textrawl": "export", "version": VERSION})
        batch, ends = list[tuple[int, Memory]](), list[tuple[int, Memory]]()
        for number, item in self._admit(items, refuse):
            # The entities that a relation or a link names may come later.
            (ends if isinstance(item, ImportedRelation | ImportedLink) else batch).append(
                (number, item)
            )
            if len(batch) >= _BATCH:
                for line in await self._write_batch(batch):
                    yield line
                batch.clear()
        for line in await self._write_batch([*batch, *ends]):
            yield line
        yield 0, to_json({"textrawl": "end", **self._counts})

    def _admit(
        self, items: Iterable[Item], refuse: Callable[[int, str], object]
    ) -> Iterator[tuple[int, Memory]]:
        """Yield the entities, facts and relations to store with their numbers."""
        admit = self.gate.admit if self.form.listed else self.gate.admit_whole
        for item in items:
            number = len(self.places)
            if isinstance(item, Fault):
                self.places.append(item.place)
                refuse(number, item.reason)
            elif not isinstance(item, Conversation | ImportedNote | Remark):
                self.places.append(item.id)
                if (admitted := admit(item)) is not None:
                    yield number, admitted

    def _find_edited(self) -> dict[str, tuple[str, str]]:
        """Return each line that is the only new line of a group that also lost exactly one line."""
        lines = set(map(shorten, self.lines))
        known = {source for source, one in self._known.items() if not one.gone}
        new, gone = _group(lines - self._known.keys()), _group(known - lines)
        return {
            sources[0]: (str(self._known[gone[group][0]].stored), gone[group][0])
            for group, sources in new.items()
            if len(sources) == len(gone.get(group, ())) == 1
        }

    def find_gone(self) -> int:
        """Return how many items of earlier imports are not in the files any more."""
        known = {source for source, one in self._known.items() if not one.gone}
        gone = known - {former for _, former in self._edited.values()}
        return sum(map(self.folder.expects, gone - set(map(shorten, self.places))))

    async def _write_batch(self, items: Sequence[tuple[int, Memory]]) -> list[Numbered]:
        fresh = [(number, one) for number, one in items if self._is_new(one)]
        entities = [(number, one) for number, one in fresh if isinstance(one, Entity)]
        facts = [(number, one) for number, one in fresh if isinstance(one, ImportedFact)]
        relations = [(number, one) for number, one in fresh if isinstance(one, ImportedRelation)]
        named = [(number, _cut(one.entity)) for number, one in facts]
        named += [
            (number, _cut(end)) for number, one in relations for end in (one.source, one.target)
        ]
        for kind in {one.type or self.form.untyped for _, one in entities} - self._types.keys():
            [(self._types[kind],)] = await self.session.call("nearest_type", kind)
        unknown = await self._find_unknown([_cut(one.name) for _, one in entities])
        lines = [(number, self._write_entity(one, unknown)) for number, one in entities]
        unknown = await self._find_unknown([name for _, name in named])
        ends = {fold(name): (number, name) for number, name in reversed(named)}
        for key in [key for key in reversed(ends) if key in unknown]:
            number, name = ends[key]
            lines.append((number, self._write_node(name, _GUESSED, guessed=True)))
        for number, entity in entities:
            lines += [(number, self._write_alias(entity, name)) for name in entity.aliases]
        written = [(number, *self._write_fact(fact)) for number, fact in facts]
        lines += [(number, line) for number, parts, _ in written for line in parts]
        lines += [(number, line) for number, _, memories in written for line in memories]
        lines += [(number, self._write_relation(one)) for number, one in relations]
        links = ((number, one) for number, one in fresh if isinstance(one, ImportedLink))
        return lines + [(number, self._write("link", one.fields)) for number, one in links]

    def _is_new(self, item: Memory) -> bool:
        """Return whether an item has to be stored. Count an item that is stored as it is."""
        known = self._known.get(shorten(item.id)) if self._known else None
        if known is None or known.digest != digest(item):
            return True
        self.unchanged += 1
        return False

    async def _find_unknown(self, names: Sequence[str]) -> set[str]:
        """Return the folded names of the entities that neither the memory nor a line has yet."""
        keys = list({fold(name) for name in names} - self._ids.keys())
        for place, entity in await self.session.call("find_names", self.space_id, keys):
            self._ids[keys[place - 1]] = entity
        return set(keys) - self._ids.keys()

    def _find_id(self, name: str) -> UUID:
        """Return the id of the entity with this name."""
        return self._ids.setdefault(fold(name), _make_id(self.space, name))

    def _date(self) -> str:
        """Return a time after those of earlier lines, so that facts keep their order."""
        self._written += 1
        return (self._moment + timedelta(microseconds=self._written)).isoformat()

    def _write(self, kind: str, fields: Mapping[str, object]) -> bytes:
        """Return a line of this kind, and count it."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return to_json({"kind": kind, "space": self.space, **fields})

    def _write_node(self, name: str, kind: str, *, guessed: bool, **more: str | None) -> bytes:
        """Return the line of an entity. `kind` is its type as the other system writes it."""
        nearest, at = self._types[kind], self._date()
        line: Fields = {
            "id": str(self._find_id(name)),
            "name": name,
            "entity_type": nearest,
            "type_guessed": guessed,
            "metadata": {} if nearest == kind else {"type": kind},
            "created_at": at,
            "updated_at": at,
        }
        return self._write("entity", line | more)

    def _write_entity(self, entity: Entity, unknown: set[str]) -> bytes:
        name = _cut(entity.name)
        line = entity.key or str(_make_id(self.space, name))
        if fold(name) in unknown:
            self._ids[fold(name)] = UUID(line)
        at = entity.at.isoformat() if entity.at else self._date()
        if self.form.listed:
            self.sources[line] = (shorten(entity.id), digest(entity))
        return self._write_node(
            name,
            entity.type or self.form.untyped,
            guessed=entity.type is None,
            id=line,
            description=entity.description,
            created_at=at,
            updated_at=at,
        )

    def _write_origin(self, key: UUID) -> Fields:
        """Return the fields that facts, relations and other names share."""
        return {"id": str(key), "created_at": self._date(), "author": self.author, "tool": "import"}

    def _write_alias(self, entity: Entity, name: str) -> bytes:
        subject = self._find_id(_cut(entity.name))
        origin = self._write_origin(uuid5(subject, f"alias {fold(name)}"))
        return self._write("alias", origin | {"entity": str(subject), "name": clean_name(name)})

    def _write_fact(self, fact: ImportedFact) -> tuple[list[bytes], list[bytes]]:
        """Return the lines of a fact, and the line with its tags."""
        name, lines, memories = _cut(fact.entity), list[bytes](), list[bytes]()
        seed = f"{fact.day}{fact.text}" if isinstance(fact, PlainFact) else ""
        plain = UUID(fact.key) if fact.key else uuid5(_make_id(self.space, name), seed)
        text = clean_text(fact.text).strip()
        parts, place = split_text(text), self.find_place(fact)
        for part, content in enumerate(parts, 1):
            line = self._write_times(fact, plain if part == 1 else uuid5(plain, str(part)), part)
            line |= {"entity": str(self._find_id(name)), "text": content, "source": fact.source}
            line["confidence"] = 1.0 if fact.confidence is None else fact.confidence
            line |= place
            if len(parts) > 1:
                line |= {"whole": str(number_text(text)), "part": part}
            if self.form.listed:
                system = self.form.name
                note = f"{system}: {clean_name(fact.note)}" if fact.note else system
                line["client"] = note[:_MOST_CLIENT]
            if fact.said_at:
                line["said_at"] = fact.said_at.isoformat()
            lines.append(self._write("fact", line | {"replaced_by": fact.replaced_by}))
            memories += self._write_use(fact, line, part)
        return lines, memories

    def _write_use(self, fact: ImportedFact, line: Fields, part: int) -> Iterator[bytes]:
        """Yield the line with the tags and uses of a fact."""
        use = fact.use if isinstance(fact, PlainFact) and part == 1 else None
        if tags := _clean_tags(fact.tags):
            use = {"saved": False, "tags": tags, "strength": 1.0, "use_count": 0}
            use |= {"last_used": line["created_at"], "status": "active"}
        if use:
            yield self._write("memory", {"id": line["id"], **use})

    def _write_relation(self, relation: ImportedRelation) -> bytes:
        source, target = self._find_id(_cut(relation.source)), self._find_id(_cut(relation.target))
        label, *_ = cut_name(clean_name(relation.relation), RELATION_LENGTH)
        name = clean_relation(label)
        plain = UUID(relation.key) if relation.key else None
        plain = plain or uuid5(NAMESPACE, f"{source} {name} {target}")
        line = self._write_times(relation, plain, 1) | {
            "from_entity": str(source),
            "relation": name,
            "label": label,
            "to_entity": str(target),
            "strength": relation.strength,
        }
        return self._write("relation", line)

    def _write_times(self, item: ImportedFact | ImportedRelation, plain: UUID, part: int) -> Fields:
        """Return the fields that facts and relations share.

        `plain` is the id of an item with a key, and of one whose format is not listed.
        """
        key, former = self._track(item, plain, part) if self.form.listed else (plain, False)
        line = self._write_origin(key)
        line["valid_from"] = line["created_at"]
        if item.at and not former:
            line["created_at"] = line["valid_from"] = item.at.isoformat()
        begin = item.valid_from or (item.said_at if isinstance(item, ImportedFact) else None)
        if begin:
            line["valid_from"] = begin.isoformat()
        if item.valid_until:
            line["valid_until"] = _end(line["valid_from"], item.valid_until)
        if item.author:
            line["author"] = clean_name(item.author)
        return line

    def _track(
        self, item: ImportedFact | ImportedRelation, plain: UUID, part: int
    ) -> tuple[UUID, bool]:
        """Note the item of a line and what it replaces. Return its id, and if it replaces it."""
        sign, source = digest(item), shorten(item.id)
        known = self._known.get(source)
        former = known is not None and not known.gone
        if known or not item.key:
            plain = uuid5(NAMESPACE, f"{self.space}\n{self.form.name}\n{source}\n{sign}\n{part}")
        self.sources[str(plain)] = (source if part == 1 else f"{source}#{part}", sign)
        edited = self._edited.get(source)
        if isinstance(item, ImportedFact) and item.replaces:
            edited = item.replaces, item.replaces  # a note of textrawl has the ids of facts
        if edited:
            former, self.replaces[str(plain)] = True, edited
        self.changed += former and part == 1
        return plain, former


class MemoryImport(Import):
    """An import of the lines of a MemoryWriter. `run_id` is the run of the import."""

    writer: MemoryWriter
    run_id: UUID

    _proposed: set[str]
    """The ids of facts that wait for a review, so that their tags are not stored."""

    async def begin(self, writer: MemoryWriter, command: str) -> None:
        """Begin the import, or continue an interrupted one. `command` is as of DocumentImport."""
        self.writer, self._proposed = writer, set()
        own = {"system": writer.form.name, "folder": writer.folder.describe(), "command": command}
        scope = as_json([{"space": writer.space_id, **own}])
        [(self.run_id,)] = await self._session.call("begin_import", scope)

    async def finish(self) -> None:
        """End the import."""
        scope = as_json([{"space": self.writer.space_id, "run": str(self.run_id)}])
        await self._session.call("close_import", scope)

    async def _import_rows(self, kind: str, batch: Sequence[ImportItem]) -> list[Row]:
        if kind not in _STORED:
            stored, waiting = list[ImportItem](), list[ImportItem]()
            for item in batch:
                (waiting if item.payload.get("id") in self._proposed else stored).append(item)
            rows = await super()._import_rows(kind, stored) if stored else []
            return [*rows, *((item.payload["place"], None, "proposed") for item in waiting)]
        payloads = [item.payload | self._name_source(item) for item in batch]
        rows = await self._session.call("import_items", as_json(payloads), kind, self.run_id)
        waiting = {"proposed", "waiting"}
        self._proposed |= {str(stored) for _, stored, outcome in rows if outcome in waiting}
        return [(*row, "known" if outcome == "waiting" else outcome) for *row, outcome in rows]

    def _name_source(self, item: ImportItem) -> dict[str, Any]:
        line: str = getattr(item.line, "id", "")
        source = self.writer.sources.get(line)
        if source is None:
            return {}
        fact, item_id = self.writer.replaces.get(line, (None, None))
        origin = {"source_id": source[0], "digest": source[1]}
        return origin | {"replaces": fact, "replaced_source": item_id}


@lru_cache(maxsize=1000)  # the facts of an entity follow each other
def fold(name: str) -> str:
    """Return the form of a name in which names of one file are compared."""
    return unicodedata.normalize("NFC", clean_name(name).casefold())


@lru_cache(maxsize=1000)
def _make_id(space: str, name: str) -> UUID:
    return uuid5(NAMESPACE, f"{space}\n{fold(name)}")


@lru_cache(maxsize=1000)
def _cut(name: str) -> str:
    return cut_name(clean_name(name))[0]


def shorten(source: str) -> str:
    """Return the id of an item in a form that can be stored."""
    return clean_name(source)[:_MOST_ID] or "-"


def _group(sources: Iterable[str]) -> dict[str, list[str]]:
    groups = dict[str, list[str]]()
    for source in sources:
        if group := find_group(source):
            groups.setdefault(group, []).append(source)
    return groups


def _clean_tags(tags: Sequence[str]) -> list[str]:
    kept = dict[str, None]()
    for tag in tags:
        try:
            kept[clean_tag(tag)[:100]] = None
        except ValueError:
            continue
    return list(kept)[:50]


def _end(begin: object, end: datetime) -> str:
    """Return an end that is not before the begin."""
    return max(datetime.fromisoformat(str(begin)), end).isoformat()
