"""The file of MCP's reference memory server (`@modelcontextprotocol/server-memory`).

This module turns such a file into lines of an export, and writes such files. Relations come after
all entities, so lines can have any order.
"""

from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, replace
from typing import LiteralString, TypeVar
from uuid import uuid5

from textrawl.archive.exports import choose_spaces
from textrawl.archive.items import SecretGate
from textrawl.archive.line_writing import NAMESPACE, LineWriter, Numbered, fold
from textrawl.postgres.owner_session import Session
from textrawl.values.reference_file import (
    EntityRecord,
    RecordFault,
    RelationRecord,
    read_reference_file,
)
from textrawl.values.text import clean_relation, escape_json, split_text

_BATCH = 1_000
_NAMES = ("name", "type", "source", "label", "target")  # of records
_Record = TypeVar("_Record", EntityRecord, RelationRecord)

Refuse = Callable[[int, str], object]


@dataclass
class ServerMemory(LineWriter):
    """A reader of a file of the reference memory server, for an import into one space.

    `refuse` gets the line number and the reason for each part that cannot be used. `tell` gets
    numbers of texts that are cleaned.
    """

    refuse: Refuse
    tell: Callable[[int], object]
    gate: SecretGate

    async def translate(self, content: bytes) -> AsyncGenerator[Numbered]:
        """Yield the content of the file as lines of an export, with their line numbers in it."""
        yield self.write_header()
        entities, relations = list[EntityRecord](), list[RelationRecord]()
        for item in read_reference_file(content, self.tell):
            if isinstance(item, RecordFault):
                self.refuse(item.number, item.reason)
            elif isinstance(item, RelationRecord):
                relations += self._admit_names(item)
            else:
                entities += self._admit_entity(item)
            if len(entities) >= _BATCH:
                for line in await self._write_entities(entities):
                    yield line
                entities.clear()
        # Write entities, then their facts, because an import stores each kind in batches.
        for line in await self._write_entities(entities):
            yield line
        for line in [*await self._write_ends(relations), *map(self._write_relation, relations)]:
            yield line
        yield self.write_footer()

    def _admit_names(self, record: _Record) -> Iterator[_Record]:
        """Yield the record as it is stored, unless a secret in its names is refused."""
        names = {name: getattr(record, name) for name in _NAMES if hasattr(record, name)}
        kept = self.gate.admit_fields(names, f"line {record.number}")
        if kept is not None:
            yield replace(record, **kept)

    def _admit_entity(self, entity: EntityRecord) -> Iterator[EntityRecord]:
        for named in self._admit_names(entity):
            place = f"line {named.number}, {named.name}"
            texts = [
                replace(said, **fields)
                for said in named.observations
                if (fields := self.gate.admit_fields({"text": said.text}, place)) is not None
            ]
            yield replace(named, observations=tuple(texts))

    async def _write_entities(self, entities: list[EntityRecord]) -> list[Numbered]:
        await self.find_types({entity.type for entity in entities})
        nodes = [self.write_node(one.number, one.name, one.type) for one in entities]
        return [*nodes, *self._write_facts(entities)]

    def _write_facts(self, entities: list[EntityRecord]) -> Iterator[Numbered]:
        for entity in entities:
            subject = self.find_id(entity.name)
            for said in entity.observations:
                day = f"{said.said_at.date()} " if said.said_at and not said.inherited else ""
                whole = len(split_text(said.text)) == 1
                times = (
                    dict.fromkeys(("said_at", "valid_from"), said.said_at.isoformat())
                    if said.said_at
                    else {}
                )
                for part, fields in self.write_parts(said.text):
                    key = uuid5(subject, day + (said.text if whole else f"{part} {said.text}"))
                    line = self.write_origin(key) | {"entity": str(subject)} | fields | times
                    yield entity.number, self.write("fact", line)

    async def _write_ends(self, relations: list[RelationRecord]) -> list[Numbered]:
        """Write the entities that only relations name, and that are not in the memory."""
        ends = {
            fold(end): (relation.number, end)
            for relation in reversed(relations)
            for end in (relation.target, relation.source)
        }
        unknown = await self.find_unknown(list(ends))
        return [
            self.write_node(number, name, "concept", guessed=True)
            for key, (number, name) in reversed(ends.items())
            if key in unknown
        ]

    def _write_relation(self, relation: RelationRecord) -> Numbered:
        source, target = self.find_id(relation.source), self.find_id(relation.target)
        key = clean_relation(relation.label)
        line = self.write_origin(uuid5(NAMESPACE, f"{source} {key} {target}")) | {
            "from_entity": str(source),
            "relation": key,
            "label": relation.label,
            "to_entity": str(target),
            "strength": 1.0,
        }
        return relation.number, self.write("relation", line)


async def write_server_memory(
    session: Session, write: Callable[[bytes], object], space: str, report: Callable[[int], object]
) -> dict[str, int]:
    """Write the valid facts and relations of a space as a file of the reference memory server.

    Return the numbers of lines. `report` gets the number of entities so far. Raises ArgumentInvalid
    for an unknown space.
    """
    space_id = (await choose_spaces(session, [space]))[space]
    counts = {"entity": 0, "relation": 0}
    functions: dict[str, LiteralString] = {
        "entity": "export_reference_entities",
        "relation": "export_reference_relations",
    }
    for kind, function in functions.items():
        async for page in session.read_lines(function, space_id):
            for line, _ in page:
                write(escape_json(line).encode() + b"\n")
            counts[kind] += len(page)
            report(counts["entity"])
    return counts
