"""The file of MCP's reference memory server (`@modelcontextprotocol/server-memory`).

This module turns such a file into lines of an export, and writes such files. Ids are made from the
content of a line, so a second import adds nothing. Relations come after all entities, so lines can
have any order.
"""

import unicodedata
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import LiteralString
from uuid import UUID, uuid5

from pydantic_core import to_json

from textrawl.archive.exports import VERSION, choose_spaces
from textrawl.postgres.owner_session import Session
from textrawl.values.reference_file import (
    EntityRecord,
    Fault,
    RelationRecord,
    read_reference_file,
)
from textrawl.values.text import clean_name, clean_relation, escape_json, number_text, split_text

_NAMESPACE = UUID("7d1f7c52-52c1-4a0b-9a55-3a7f5b4f0a6e")  # for ids that are made from lines
_BATCH = 1_000
_TOOL = "import"

Refuse = Callable[[int, str], object]
Numbered = tuple[int, bytes]


@dataclass
class ServerMemory:
    """A reader of a file of the reference memory server, for an import into one space.

    `space` and `space_id` are the name and the id of this space. `author` becomes the author of the
    facts. `refuse` gets the line number and the reason for each part that cannot be used. `tell`
    gets numbers of texts that are cleaned.
    """

    session: Session
    space: str
    space_id: int
    author: str
    refuse: Refuse
    tell: Callable[[int], object]
    _moment: datetime = field(default_factory=lambda: datetime.now(UTC))
    _written: int = 0
    _types: dict[str, str] = field(default_factory=dict[str, str])
    _ids: dict[str, UUID] = field(default_factory=dict[str, UUID])
    _counts: dict[str, int] = field(
        default_factory=lambda: {"space": 0, "entity": 0, "fact": 0, "relation": 0}
    )

    async def translate(self, content: bytes) -> AsyncGenerator[Numbered]:
        """Yield the content of the file as lines of an export, with their line numbers in it."""
        yield 0, to_json({"textrawl": "export", "version": VERSION})
        entities, relations = list[EntityRecord](), list[RelationRecord]()
        for item in read_reference_file(content, self.tell):
            if isinstance(item, Fault):
                self.refuse(item.number, item.reason)
            elif isinstance(item, RelationRecord):
                relations.append(item)
            else:
                entities.append(item)
            if len(entities) >= _BATCH:
                for line in await self._write_entities(entities):
                    yield line
                entities.clear()
        # Write entities, then their facts, because an import stores each kind in batches.
        for line in await self._write_entities(entities):
            yield line
        for line in [*await self._write_ends(relations), *map(self._write_relation, relations)]:
            yield line
        yield 0, to_json({"textrawl": "end", **self._counts})

    async def _write_entities(self, entities: list[EntityRecord]) -> list[Numbered]:
        for kind in {entity.type or "Generic" for entity in entities} - self._types.keys():
            [(self._types[kind],)] = await self.session.call("nearest_type", kind)
        return [*map(self._write_entity, entities), *self._write_facts(entities)]

    def _write_entity(self, entity: EntityRecord) -> Numbered:
        kind = entity.type or "Generic"
        nearest = self._types[kind]
        metadata = {} if nearest == kind else {"type": kind}
        return self._write_node(
            entity.number,
            entity.name,
            entity_type=nearest,
            type_guessed=entity.type is None,
            metadata=metadata,
        )

    def _write_node(self, number: int, name: str, **values: object) -> Numbered:
        at = self._date()
        line = {
            "kind": "entity",
            "space": self.space,
            "id": str(self._find_id(name)),
            "name": name,
            "created_at": at,
            "updated_at": at,
            **values,
        }
        self._counts["entity"] += 1
        return number, to_json(line)

    def _find_id(self, name: str) -> UUID:
        key = _fold(name)
        return self._ids.setdefault(key, uuid5(_NAMESPACE, f"{self.space}\n{key}"))

    def _write_facts(self, entities: list[EntityRecord]) -> Iterator[Numbered]:
        for entity in entities:
            subject = self._find_id(entity.name)
            for said in entity.observations:
                parts = split_text(said.text)
                day = f"{said.said_at.date()} " if said.said_at else ""
                for part, content in enumerate(parts, 1):
                    key = day + (said.text if len(parts) == 1 else f"{part} {said.text}")
                    line = self._write_origin(uuid5(subject, key)) | {
                        "kind": "fact",
                        "entity": str(subject),
                        "text": content,
                        "source": "conversation",
                        "confidence": 1.0,
                    }
                    if said.said_at:
                        line |= dict.fromkeys(("said_at", "valid_from"), said.said_at.isoformat())
                    if len(parts) > 1:
                        line |= {"whole": str(number_text(said.text)), "part": part}
                    self._counts["fact"] += 1
                    yield entity.number, to_json(line)

    async def _write_ends(self, relations: list[RelationRecord]) -> list[Numbered]:
        """Write the entities that only relations name, and that are not in the memory."""
        ends = {
            _fold(end): (relation.number, end)
            for relation in reversed(relations)
            for end in (relation.target, relation.source)
            if _fold(end) not in self._ids
        }
        names = list(ends)
        for place, entity in await self.session.call("find_names", self.space_id, names):
            self._ids[names[place - 1]] = entity
        return [
            self._write_node(number, name, entity_type="concept", type_guessed=True)
            for key, (number, name) in reversed(ends.items())
            if key not in self._ids
        ]

    def _write_relation(self, relation: RelationRecord) -> Numbered:
        source, target = self._find_id(relation.source), self._find_id(relation.target)
        key = clean_relation(relation.label)
        line = self._write_origin(uuid5(_NAMESPACE, f"{source} {key} {target}")) | {
            "kind": "relation",
            "from_entity": str(source),
            "relation": key,
            "label": relation.label,
            "to_entity": str(target),
            "strength": 1.0,
        }
        self._counts["relation"] += 1
        return relation.number, to_json(line)

    def _write_origin(self, number: UUID) -> dict[str, object]:
        """Return the fields that facts and relations share."""
        at = self._date()
        return {
            "space": self.space,
            "id": str(number),
            "valid_from": at,
            "created_at": at,
            "author": self.author,
            "tool": _TOOL,
        }

    def _date(self) -> str:
        """Return a time after those of earlier lines, so that facts keep their order."""
        self._written += 1
        return (self._moment + timedelta(microseconds=self._written)).isoformat()


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", clean_name(name).casefold())


async def write_server_memory(
    session: Session, write: Callable[[bytes], object], space: str, report: Callable[[int], object]
) -> dict[str, int]:
    """Write the valid facts and relations of a space as a file of the reference memory server.

    Return the numbers of lines. `report` gets the number of entities so far. Raises ArgumentInvalid
    for an unknown space.
    """
    space_id = (await choose_spaces(session, [space]))[space]
    counts = {"entity": 0, "relation": 0}
    functions: dict[str, LiteralString] = {"entity": "export_nodes", "relation": "export_edges"}
    for kind, function in functions.items():
        async for page in session.read_lines(function, space_id):
            for line, _ in page:
                write(escape_json(line).encode() + b"\n")
            counts[kind] += len(page)
            report(counts["entity"])
    return counts
