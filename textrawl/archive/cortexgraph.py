"""The memories and relations of CortexGraph as lines of an export.

A memory becomes a fact of its first entity, with a line for its tags, uses and status. Its id
stays the same, so a second import adds nothing.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid5

from pydantic_core import to_json

from textrawl.archive.cortexgraph_lines import CortexMemory, CortexRelation, read_cortex_line
from textrawl.archive.exports import VERSION
from textrawl.toolsets.decay.operations import NO_ENTITY
from textrawl.values.long_text import number_text, split_text
from textrawl.values.reference_line import LineRefused
from textrawl.values.tag import clean_tag

MEMORIES, RELATIONS = "memories.jsonl", "relations.jsonl"
_NAMESPACE = UUID("c2f4a9d8-5a0e-4d53-8c55-6f4c1e0b7a21")  # of ids that are made from other ids
_LINKS = {"related", "causes", "supports", "contradicts", "has_decision", "consolidated_from"}
_BATCH = 1_000
_TOOL = "import"

Refuse = Callable[[int, str], object]
Lines = AsyncIterable[tuple[int, bytes | None]]
Numbered = tuple[int, bytes]


@dataclass
class CortexGraph:
    """A reader of CortexGraph's files, for an import into one space.

    `author` becomes the author of the facts. `refuse` gets the line number and the reason for each
    line that is skipped.
    """

    space: str
    author: str
    refuse: Refuse
    _moment: datetime = field(default_factory=lambda: datetime.now(UTC))
    _entities: dict[str, UUID] = field(default_factory=dict[str, UUID])
    _counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("entity", "fact", "memory", "link"), 0)
    )

    async def translate(self, memories: Lines, relations: Lines) -> AsyncGenerator[Numbered]:
        """Yield the content as lines of an export, each with its line number in its file."""
        yield 0, to_json({"textrawl": "export", "version": VERSION})
        batch = list[tuple[int, CortexMemory]]()
        async for number, raw in memories:
            try:
                batch.append((number, read_cortex_line(raw, CortexMemory)))
            except LineRefused as refused:
                self.refuse(number, str(refused))
            if len(batch) >= _BATCH:
                for line in self._write_memories(batch):
                    yield line
                batch.clear()
        for line in self._write_memories(batch):
            yield line
        async for number, raw in relations:
            try:
                yield number, self._write_link(read_cortex_line(raw, CortexRelation))
            except LineRefused as refused:
                self.refuse(number, f"of {RELATIONS}: {refused}")
        footer = {"space": 0, "relation": 0, **self._counts}
        yield 0, to_json({"textrawl": "end", **footer})

    def _write_memories(self, batch: list[tuple[int, CortexMemory]]) -> Iterator[Numbered]:
        """Write entities, then facts, then memories, because an import stores kinds in batches."""
        for number, memory in batch:
            yield from self._write_entity(number, memory)
        for number, memory in batch:
            yield from self._write_facts(number, memory)
        for number, memory in batch:
            yield number, self._write_memory(number, memory)

    def _write_entity(self, number: int, memory: CortexMemory) -> Iterator[Numbered]:
        name = _name_entity(memory)
        if name.casefold() in self._entities:
            return
        own = uuid5(_NAMESPACE, f"{self.space}\n{name.casefold()}")
        self._entities[name.casefold()] = own
        at = memory.created_at.isoformat()
        line = {
            "id": str(own),
            "name": name,
            "entity_type": "concept",
            "type_guessed": True,
            "created_at": at,
            "updated_at": at,
        }
        yield number, self._write("entity", line)

    def _write_facts(self, number: int, memory: CortexMemory) -> Iterator[Numbered]:
        own, parts = self._find_id(memory.id), split_text(memory.content)
        for part, content in enumerate(parts, 1):
            at = memory.created_at.isoformat()
            line = {
                "id": str(own if part == 1 else uuid5(own, str(part))),
                "entity": str(self._entities[_name_entity(memory).casefold()]),
                "text": content,
                "source": "conversation",
                "confidence": 1.0,
                "valid_from": at,
                "valid_until": self._find_end(memory),
                "author": self.author,
                "tool": _TOOL,
                "created_at": at,
            }
            if len(parts) > 1:
                line |= {"whole": str(number_text(memory.content)), "part": part}
            yield number, self._write("fact", line)

    def _write_memory(self, number: int, memory: CortexMemory) -> bytes:
        line = memory.model_dump(mode="json", exclude={"content", "meta", "created_at"}) | {
            "id": str(self._find_id(memory.id)),
            "saved": True,
            "tags": self._clean_tags(number, memory.meta.tags),
            "source": memory.meta.source,
            "context": memory.meta.context,
            "extra": memory.meta.extra,
            "ended_at": self._find_end(memory),
        }
        return self._write("memory", line)

    def _clean_tags(self, number: int, tags: list[str]) -> list[str]:
        kept = dict[str, None]()
        for tag in tags:
            try:
                kept[clean_tag(tag)] = None
            except ValueError as error:
                self.refuse(number, str(error))
        return sorted(kept)

    def _write_link(self, relation: CortexRelation) -> bytes:
        if relation.relation_type not in _LINKS:
            raise LineRefused(f"relation_type must be one of {', '.join(sorted(_LINKS))}")
        line = {
            "id": str(self._find_id(relation.id)),
            "from_memory": str(self._find_id(relation.from_memory_id)),
            "to_memory": str(self._find_id(relation.to_memory_id)),
            "relation": relation.relation_type,
            "strength": relation.strength,
            "metadata": relation.metadata,
            "created_at": relation.created_at.isoformat(),
        }
        return self._write("link", line)

    def _write(self, kind: str, line: Mapping[str, object]) -> bytes:
        self._counts[kind] += 1
        return to_json({"kind": kind, "space": self.space, **line})

    def _find_id(self, own: str) -> UUID:
        """Return the id itself if it is a UUID, else a UUID that is made from it."""
        try:
            return UUID(own)
        except ValueError:
            return uuid5(_NAMESPACE, f"{self.space}\n{own}")

    def _find_end(self, memory: CortexMemory) -> str | None:
        """Return the end of an archived memory, which searches do not find any more."""
        return self._moment.isoformat() if memory.status == "archived" else None


def _name_entity(memory: CortexMemory) -> str:
    return memory.entities[0] if memory.entities else NO_ENTITY
