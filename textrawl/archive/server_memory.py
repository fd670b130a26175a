"""The file of MCP's reference memory server (`@modelcontextprotocol/server-memory`).

This module reads such a file as lines of an export, and writes such files.

Each line is one JSON object: {"type": "entity", name, entityType, observations} or
{"type": "relation", from, to, relationType}. Ids are made from the content of a line, so a second
import adds nothing. Relations are imported after all entities, so lines can have any order.
"""

import unicodedata
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString, cast
from uuid import UUID, uuid5

from pydantic_core import to_json

from textrawl.archive.exports import VERSION
from textrawl.errors import ArgumentInvalid
from textrawl.postgres.owner_session import Session
from textrawl.values.reference_line import LineRefused, parse_line, read_name, read_text
from textrawl.values.text import clean_name, clean_relation, escape_json, number_text, split_text

_NAMESPACE = UUID("7d1f7c52-52c1-4a0b-9a55-3a7f5b4f0a6e")  # for ids that are made from lines
_BATCH = 1_000
_TOOL = "import"

Refuse = Callable[[int, str], object]
Numbered = tuple[int, bytes]


@dataclass(frozen=True)
class _Node:
    number: int
    id: UUID
    name: str
    type: str
    observations: list[str]


@dataclass(frozen=True)
class _Edge:
    number: int
    source: str
    label: str
    target: str


@dataclass
class ServerMemory:
    """A reader of a file of the reference memory server, for an import into one space.

    `space` and `space_id` are the name and the id of this space. `author` becomes the author of the
    facts. `refuse` gets the line number and the reason for each skipped line or observation.
    """

    session: Session
    space: str
    space_id: int
    author: str
    refuse: Refuse
    _moment: datetime = field(default_factory=lambda: datetime.now(UTC))
    _types: dict[str, str] = field(default_factory=dict[str, str])
    _ids: dict[str, UUID] = field(default_factory=dict[str, UUID])
    _counts: dict[str, int] = field(
        default_factory=lambda: {"space": 0, "entity": 0, "fact": 0, "relation": 0}
    )

    async def translate(
        self, lines: AsyncIterable[tuple[int, bytes | None]]
    ) -> AsyncGenerator[Numbered]:
        """Yield the content as lines of an export, each with its line number in the file."""
        yield 0, to_json({"textrawl": "export", "version": VERSION})
        nodes, edges = list[_Node](), list[_Edge]()
        async for number, raw in lines:
            item = self._read(number, raw)
            if isinstance(item, _Edge):
                edges.append(item)
            elif item is not None:
                nodes.append(item)
            if len(nodes) >= _BATCH:
                for line in await self._write_nodes(nodes):
                    yield line
                nodes.clear()
        await self._find_names(edges)
        for line in [*await self._write_nodes(nodes), *self._write_edges(edges)]:
            yield line
        yield 0, to_json({"textrawl": "end", **self._counts})

    def _read(self, number: int, raw: bytes | None) -> _Node | _Edge | None:
        if raw is not None and not raw.strip():
            return None
        try:
            line = parse_line(raw)
            return (
                self._read_node(number, line)
                if line["type"] == "entity"
                else _read_edge(number, line)
            )
        except LineRefused as refused:
            self.refuse(number, str(refused))
            return None

    def _read_node(self, number: int, line: dict[str, Any]) -> _Node:
        name = read_name(line, "name")
        kind = read_name(line, "entityType", empty="Generic")
        observations = line.get("observations", [])
        if not isinstance(observations, list):
            raise LineRefused("observations must be a list")
        kept = list[str]()
        for place, text in enumerate(cast("list[Any]", observations), 1):
            try:
                kept.append(read_text(text))
            except ValueError as error:
                self.refuse(number, f"observation {place} {error}")
        key = _fold(name)
        self._ids.setdefault(key, uuid5(_NAMESPACE, f"{self.space}\n{key}"))
        return _Node(number, self._ids[key], name, kind, kept)

    async def _write_nodes(self, nodes: list[_Node]) -> list[Numbered]:
        """Write entities, then their facts, because an import stores each kind in batches."""
        for kind in {node.type for node in nodes} - self._types.keys():
            [(self._types[kind],)] = await self.session.call("nearest_type", kind)
        return [*map(self._write_node, nodes), *self._write_facts(nodes)]

    def _write_node(self, node: _Node) -> Numbered:
        nearest = self._types[node.type]
        at = self._date(node.number)
        line = {
            "kind": "entity",
            "space": self.space,
            "id": str(node.id),
            "name": node.name,
            "entity_type": nearest,
            "metadata": {} if nearest == node.type else {"type": node.type},
            "created_at": at,
            "updated_at": at,
        }
        self._counts["entity"] += 1
        return node.number, to_json(line)

    def _write_facts(self, nodes: list[_Node]) -> Iterator[Numbered]:
        for node in nodes:
            for place, text in enumerate(node.observations):
                parts = split_text(text)
                for part, content in enumerate(parts, 1):
                    self._counts["fact"] += 1
                    key = text if len(parts) == 1 else f"{part} {text}"
                    line = self._write_origin(uuid5(node.id, key), node.number, place) | {
                        "kind": "fact",
                        "entity": str(node.id),
                        "text": content,
                        "source": "conversation",
                        "confidence": 1.0,
                    }
                    if len(parts) > 1:
                        line |= {"whole": str(number_text(text)), "part": part}
                    yield node.number, to_json(line)

    async def _find_names(self, edges: list[_Edge]) -> None:
        """Find in the memory the entities that relations name and the file does not contain."""
        names = {_fold(end) for edge in edges for end in (edge.source, edge.target)}
        absent = sorted(names - self._ids.keys())
        if absent:
            for place, entity in await self.session.call("find_names", self.space_id, absent):
                self._ids[absent[place - 1]] = entity

    def _write_edges(self, edges: list[_Edge]) -> Iterator[Numbered]:
        for edge in edges:
            ends = [self._ids.get(_fold(end)) for end in (edge.source, edge.target)]
            if None in ends:
                absent = edge.source if ends[0] is None else edge.target
                self.refuse(edge.number, f"there is no entity {absent}")
                continue
            self._counts["relation"] += 1
            key = clean_relation(edge.label)
            number = uuid5(_NAMESPACE, f"{ends[0]} {key} {ends[1]}")
            line = self._write_origin(number, edge.number, 0) | {
                "kind": "relation",
                "from_entity": str(ends[0]),
                "relation": key,
                "label": edge.label,
                "to_entity": str(ends[1]),
                "strength": 1.0,
            }
            yield edge.number, to_json(line)

    def _write_origin(self, number: UUID, line: int, place: int) -> dict[str, object]:
        """Return the fields that facts and relations share."""
        at = self._date(line, place)
        return {
            "space": self.space,
            "id": str(number),
            "valid_from": at,
            "created_at": at,
            "author": self.author,
            "tool": _TOOL,
        }

    def _date(self, number: int, place: int = 0) -> str:
        """Return a time after those of earlier lines, so that facts keep their order."""
        return (self._moment + timedelta(microseconds=number + place)).isoformat()


def _read_edge(number: int, line: dict[str, Any]) -> _Edge:
    label = read_name(line, "relationType", longest=100)
    return _Edge(number, read_name(line, "from"), label, read_name(line, "to"))


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", clean_name(name).casefold())


async def write_server_memory(
    session: Session, write: Callable[[bytes], object], space: str, report: Callable[[int], object]
) -> dict[str, int]:
    """Write the valid facts and relations of a space as a file of the reference memory server.

    Return the numbers of lines. `report` gets the number of entities so far. Raises ArgumentInvalid
    for an unknown space.
    """
    space_id = (await session.find_spaces()).get(space)
    if space_id is None:
        raise ArgumentInvalid("see `textrawl space list`", title=f"No space {space}")
    counts = {"entity": 0, "relation": 0}
    functions: dict[str, LiteralString] = {"entity": "export_nodes", "relation": "export_edges"}
    for kind, function in functions.items():
        async for page in session.read_lines(function, space_id):
            for line, _ in page:
                write(escape_json(line).encode() + b"\n")
            counts[kind] += len(page)
            report(counts["entity"])
    return counts
