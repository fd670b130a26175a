"""The import of entities, facts and relations of another system into one space.

Items become lines of an export. An item that an earlier import stored is left out, unless it has
changed: its fact then replaces the fact of the earlier import.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from textrawl.archive.imports import Import, ImportItem, Row
from textrawl.archive.items import (
    Conversation,
    Entity,
    Fault,
    ImportedFact,
    ImportedNote,
    ImportedRelation,
    Item,
    Memory,
    SecretGate,
    digest,
    find_group,
)
from textrawl.archive.line_writing import NAMESPACE, Fields, LineWriter, Numbered, fold
from textrawl.postgres.owner_session import as_json
from textrawl.values.reference_file import cut_name
from textrawl.values.text import RELATION_LENGTH, clean_name, clean_relation, clean_tag, clean_text

_BATCH = 1_000
_MOST_CLIENT = 200
_MOST_ID = 500
_STORED = ("entity", "alias", "fact", "relation")


@dataclass(frozen=True)
class _Known:
    digest: str
    stored: UUID
    gone: bool


@dataclass
class MemoryWriter(LineWriter):
    """A writer of the items of `system`. `sources` has the item of each line, by the line's id."""

    system: str
    gate: SecretGate
    lines: set[str]
    """The ids of all facts of the import that are as of `write_line_id`."""
    sources: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    places: list[str] = field(default_factory=lambda: ["the import"])
    """The id of the item of each line, by the line's number."""
    replaces: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """The ids of the fact that a line replaces and of that fact's item, by the line's id."""
    unchanged: int = 0
    changed: int = 0
    _known: dict[str, _Known] = field(default_factory=dict[str, _Known])
    _edited: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """The values of `replaces` for edited lines, by the ids of their items."""

    async def translate(self, items: Iterable[Item]) -> AsyncGenerator[Numbered]:
        """Yield the entities, facts and relations as lines of an export."""
        scope = as_json([{"space": self.space_id, "system": self.system}])
        for source, sign, stored, gone in await self.session.call("imported_items", scope):
            self._known[source] = _Known(sign, stored, gone)
        self._edited = self._find_edited()
        yield self.write_header()
        batch, relations = list[tuple[int, Memory]](), list[tuple[int, ImportedRelation]]()
        for number, item in self._admit(items):
            if isinstance(item, ImportedRelation):
                relations.append((number, item))
            else:
                batch.append((number, item))
            if len(batch) >= _BATCH:
                for line in await self._write_batch(batch):
                    yield line
                batch.clear()
        for line in await self._write_batch([*batch, *relations]):
            yield line
        yield self.write_footer()

    def _admit(self, items: Iterable[Item]) -> Iterator[tuple[int, Memory]]:
        """Yield the entities, facts and relations to store with their numbers."""
        for item in items:
            if not isinstance(item, Conversation | ImportedNote | Fault):
                self.places.append(item.id)
                if (admitted := self.gate.admit(item)) is not None:
                    yield len(self.places) - 1, admitted

    def _find_edited(self) -> dict[str, tuple[str, str]]:
        """Return each line that is the only new line of a group that also lost exactly one line."""
        lines = set(map(_shorten, self.lines))
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
        return len(known - set(map(_shorten, self.places))) - len(self._edited)

    async def _write_batch(self, items: Sequence[tuple[int, Memory]]) -> list[Numbered]:
        fresh = [(number, one) for number, one in items if self._is_new(one)]
        entities = [(number, one) for number, one in fresh if isinstance(one, Entity)]
        facts = [(number, one) for number, one in fresh if isinstance(one, ImportedFact)]
        relations = [(number, one) for number, one in fresh if isinstance(one, ImportedRelation)]
        named = [(number, _cut(one.entity)) for number, one in facts]
        named += [
            (number, _cut(end)) for number, one in relations for end in (one.source, one.target)
        ]
        await self.find_types({one.type for _, one in entities})
        unknown = await self.find_unknown([_cut(one.name) for _, one in entities])
        lines = [self._write_entity(number, one, unknown) for number, one in entities]
        unknown = await self.find_unknown([name for _, name in named])
        ends = {fold(name): (number, name) for number, name in reversed(named)}
        for key in unknown & ends.keys():
            number, name = ends[key]
            lines.append(self.write_node(number, _cut(name), "concept", guessed=True))
        for number, entity in entities:
            lines += [(number, self._write_alias(entity, name)) for name in entity.aliases]
        written = [(number, *self._write_fact(fact)) for number, fact in facts]
        lines += [(number, line) for number, parts, _ in written for line in parts]
        lines += [(number, line) for number, _, memories in written for line in memories]
        return lines + [(number, self._write_relation(one)) for number, one in relations]

    def _is_new(self, item: Memory) -> bool:
        """Return whether an item has to be stored. Count an item that is stored as it is."""
        known = self._known.get(_shorten(item.id))
        if known is None or known.digest != digest(item):
            return True
        self.unchanged += 1
        return False

    def _write_entity(self, number: int, entity: Entity, unknown: set[str]) -> Numbered:
        key = fold(_cut(entity.name))
        line = entity.key or str(uuid5(NAMESPACE, f"{self.space}\n{key}"))
        if key in unknown:
            self._ids[key] = UUID(line)
        at = entity.at.isoformat() if entity.at else self.date()
        self.sources[line] = (_shorten(entity.id), digest(entity))
        return self.write_node(
            number,
            _cut(entity.name),
            entity.type or "concept",
            guessed=entity.type is None,
            id=line,
            description=entity.description,
            created_at=at,
            updated_at=at,
        )

    def _write_alias(self, entity: Entity, name: str) -> bytes:
        subject = self.find_id(_cut(entity.name))
        fields: Fields = {"entity": str(subject), "name": clean_name(name)}
        key = uuid5(subject, f"alias {fold(name)}")
        origin = self.write_origin(key)
        del origin["valid_from"]
        return self.write("alias", origin | fields)

    def _write_fact(self, fact: ImportedFact) -> tuple[list[bytes], list[bytes]]:
        """Return the lines of a fact, and the line with its tags."""
        subject, lines, memories = self.find_id(_cut(fact.entity)), list[bytes](), list[bytes]()
        note = f"{self.system}: {clean_name(fact.note)}" if fact.note else self.system
        for part, fields in self.write_parts(clean_text(fact.text).strip()):
            line = self._write_times(fact, part) | fields
            line |= {"entity": str(subject), "client": note[:_MOST_CLIENT], "source": fact.source}
            line["confidence"] = 1.0 if fact.confidence is None else fact.confidence
            if fact.said_at:
                line["said_at"] = fact.said_at.isoformat()
            lines.append(self.write("fact", line | {"replaced_by": fact.replaced_by}))
            if tags := _clean_tags(fact.tags):
                memories.append(self._write_tags(line, tags))
        return lines, memories

    def _write_tags(self, line: Fields, tags: list[str]) -> bytes:
        fields: Fields = {"id": line["id"], "saved": False, "tags": tags, "strength": 1.0}
        used: Fields = {"use_count": 0, "last_used": line["created_at"], "status": "active"}
        return self.write("memory", fields | used)

    def _write_relation(self, relation: ImportedRelation) -> bytes:
        source, target = self.find_id(_cut(relation.source)), self.find_id(_cut(relation.target))
        label, *_ = cut_name(clean_name(relation.relation), RELATION_LENGTH)
        line = self._write_times(relation, 1) | {
            "from_entity": str(source),
            "relation": clean_relation(label),
            "label": label,
            "to_entity": str(target),
            "strength": relation.strength,
        }
        return self.write("relation", line)

    def _write_times(self, item: ImportedFact | ImportedRelation, part: int) -> Fields:
        """Return the fields that facts and relations share. Note what they replace."""
        sign, source = digest(item), _shorten(item.id)
        known = self._known.get(source)
        former = known is not None and not known.gone
        if item.key and not known:
            key = UUID(item.key) if part == 1 else uuid5(UUID(item.key), str(part))
        else:
            key = uuid5(NAMESPACE, f"{self.space}\n{self.system}\n{source}\n{sign}\n{part}")
        line = self.write_origin(key)
        self.sources[str(key)] = (source if part == 1 else f"{source}#{part}", sign)
        edited = self._edited.get(source)
        if isinstance(item, ImportedFact) and item.replaces:
            edited = item.replaces, item.replaces  # a note of textrawl has the ids of facts
        if edited:
            former, self.replaces[str(key)] = True, edited
        self.changed += former and part == 1
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


class MemoryImport(Import):
    """An import of the lines of a MemoryWriter. `run_id` is the run of the import."""

    writer: MemoryWriter
    run_id: UUID

    async def begin(self, writer: MemoryWriter, command: str) -> None:
        """Begin the import, or continue an interrupted one. `command` is as of DocumentImport."""
        self.writer = writer
        scope = as_json([{"space": writer.space_id, "system": writer.system, "command": command}])
        [(self.run_id,)] = await self._session.call("begin_import", scope)

    async def finish(self) -> None:
        """End the import."""
        scope = as_json([{"space": self.writer.space_id, "run": str(self.run_id)}])
        await self._session.call("close_import", scope)

    async def _import_rows(self, kind: str, batch: Sequence[ImportItem]) -> list[Row]:
        if kind not in _STORED:
            return await super()._import_rows(kind, batch)
        payloads = [item.payload | self._name_source(item) for item in batch]
        return await self._session.call("import_items", as_json(payloads), kind, self.run_id)

    def _name_source(self, item: ImportItem) -> dict[str, Any]:
        line: str = getattr(item.line, "id", "")
        source = self.writer.sources.get(line)
        if source is None:
            return {}
        fact, item_id = self.writer.replaces.get(line, (None, None))
        origin = {"source_id": source[0], "digest": source[1]}
        return origin | {"replaces": fact, "replaced_source": item_id}


def _cut(name: str) -> str:
    return cut_name(clean_name(name))[0]


def _shorten(source: str) -> str:
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
