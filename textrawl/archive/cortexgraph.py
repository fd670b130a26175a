"""The memories and relations of CortexGraph as lines of an export.

A memory becomes a fact of its first entity, with a line for its tags, uses and status. Its id
stays the same, so a second import adds nothing.
"""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar, cast
from uuid import UUID, uuid5

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from textrawl.archive.items import SecretGate
from textrawl.archive.line_writing import LineWriter, Numbered
from textrawl.archive.lines import clean
from textrawl.memory.decay import NO_ENTITY
from textrawl.values.reference_file import LineRefused
from textrawl.values.text import clean_fact, clean_tag, count_cleaned
from textrawl.wire.arguments import apply

LONGEST_CONTENT = 50_000
Lines = AsyncIterable[tuple[int, bytes | None]]


def _read_epoch(value: object) -> datetime:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError("must be seconds since 1970")  # noqa: TRY004 - pydantic reads ValueError
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, OSError) as error:
        raise ValueError("is no time") from error


Text = Annotated[str, apply(clean_fact)]
Label = Annotated[str, BeforeValidator(clean), Field(min_length=1, max_length=100)]
Id = Annotated[str, BeforeValidator(clean), Field(min_length=1, max_length=200)]
Epoch = Annotated[datetime, BeforeValidator(_read_epoch)]
Count = Annotated[int, Field(ge=0, le=2_000_000_000)]


class _Line(BaseModel):
    """A line. Fields that this version does not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Meta(_Line):
    """The part `meta` of a memory."""

    tags: Annotated[list[Label], Field(max_length=50)] = []
    source: Annotated[Text, Field(max_length=500)] | None = None
    context: Annotated[Text, Field(max_length=1000)] | None = None
    extra: dict[str, Any] = {}


class CortexMemory(_Line):
    """A memory."""

    id: Id
    content: Annotated[Text, Field(min_length=1, max_length=LONGEST_CONTENT)]
    meta: Meta = Meta()
    entities: Annotated[list[Label], Field(max_length=100)] = []
    created_at: Epoch
    last_used: Epoch
    use_count: Count = 0
    strength: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 1.0
    status: Literal["active", "promoted", "archived"] = "active"
    promoted_at: Epoch | None = None
    promoted_to: Annotated[Text, Field(max_length=1000)] | None = None
    last_review_at: Epoch | None = None
    review_count: Count = 0
    cross_domain_count: Count = 0


class CortexRelation(_Line):
    """A relation between two memories."""

    id: Id
    from_memory_id: Id
    to_memory_id: Id
    relation_type: Label
    strength: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0
    created_at: Epoch
    metadata: dict[str, Any] = {}


L = TypeVar("L", bound=_Line)


@dataclass(frozen=True)
class LastLines:
    """The number of the last line of each id, without the ids that were deleted."""

    numbers: frozenset[int]

    @classmethod
    async def find(cls, lines: Lines) -> "LastLines":
        """Read a file to find the last line of each id.

        A line that cannot be read is included, so that the second reading reports it.
        """
        last, broken = dict[str, int](), list[int]()
        async for number, raw in lines:
            if raw is not None and not raw.strip():
                continue
            try:
                value = _read_object(raw)
                key = str(value.get("id"))
            except LineRefused:
                broken.append(number)
                continue
            last.pop(key, None)
            if not value.get("_deleted"):
                last[key] = number
        return cls(frozenset((*last.values(), *broken)))

    async def choose(self, lines: Lines) -> AsyncIterator[tuple[int, bytes | None]]:
        """Read the file a second time, and yield only the lines in `numbers`."""
        async for number, raw in lines:
            if number in self.numbers:
                yield number, raw


def read_cortex_line(fields: dict[str, Any], kind: type[L]) -> L:
    """Return the memory or relation in a line. Raises LineRefused."""
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise LineRefused(
            "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:5])
        ) from None


def _read_object(raw: bytes | None) -> dict[str, Any]:
    if raw is None:
        raise LineRefused("too long")
    try:
        value = from_json(raw, allow_inf_nan=False)
    except ValueError:
        raise LineRefused("is not JSON") from None
    if not isinstance(value, dict):
        raise LineRefused("is not a JSON object")
    return cast("dict[str, Any]", value)


MEMORIES, RELATIONS = "memories.jsonl", "relations.jsonl"
_NAMESPACE = UUID("c2f4a9d8-5a0e-4d53-8c55-6f4c1e0b7a21")  # of ids that are made from other ids
_LINKS = {"related", "causes", "supports", "contradicts", "has_decision", "consolidated_from"}
_BATCH = 1_000


@dataclass
class CortexGraph(LineWriter):
    """A reader of CortexGraph's files, for an import into one space.

    `refuse` gets the line number and the reason for each line that is skipped, and `tell` the
    numbers of texts that are cleaned.
    """

    refuse: Callable[[int, str], object]
    tell: Callable[[int], object]
    gate: SecretGate

    async def translate(self, memories: Lines, relations: Lines) -> AsyncGenerator[Numbered]:
        """Yield the content as lines of an export, each with its line number in its file."""
        yield self.write_header()
        batch = list[tuple[int, CortexMemory]]()
        async for number, raw in memories:
            try:
                batch += [(number, one) for one in self._read(number, raw, CortexMemory)]
                self.tell(count_cleaned(from_json(raw or b"{}")))
            except LineRefused as refused:
                self.refuse(number, str(refused))
            if len(batch) >= _BATCH:
                for line in self._write_memories(batch):
                    yield line
                batch.clear()
        for line in self._write_memories(batch):
            yield line
        async for number, raw in relations:
            for line in self._write_links(number, raw):
                yield line
        yield self.write_footer()

    def _read(self, number: int, raw: bytes | None, kind: type[L]) -> Iterator[L]:
        """Yield the memory or relation in a line, unless a secret in it is refused."""
        kept = self.gate.admit_fields(_read_object(raw), f"line {number}")
        if kept is not None:
            yield read_cortex_line(kept, kind)

    def _write_memories(self, batch: list[tuple[int, CortexMemory]]) -> Iterator[Numbered]:
        """Write entities, then facts, then memories, because an import stores kinds in batches."""
        for number, memory in batch:
            yield from self._write_entity(number, memory)
        for number, memory in batch:
            yield from self._write_facts(number, memory)
        for number, memory in batch:
            yield number, self._write_memory(number, memory)

    def _write_entity(self, number: int, memory: CortexMemory) -> Iterator[Numbered]:
        name, at = _name_entity(memory), memory.created_at.isoformat()
        if name.casefold() not in self._ids:
            times = {"created_at": at, "updated_at": at}
            yield self.write_node(number, name, "concept", guessed=True, **times)

    def _write_facts(self, number: int, memory: CortexMemory) -> Iterator[Numbered]:
        own, at = self._read_id(memory.id), memory.created_at.isoformat()
        for part, fields in self.write_parts(memory.content):
            line = self.write_origin(own if part == 1 else uuid5(own, str(part))) | fields
            line |= {"entity": str(self.find_id(_name_entity(memory))), "created_at": at}
            line |= {"valid_from": at, "valid_until": self._find_end(memory)}
            yield number, self.write("fact", line)

    def _write_memory(self, number: int, memory: CortexMemory) -> bytes:
        line = memory.model_dump(mode="json", exclude={"content", "meta", "created_at"}) | {
            "id": str(self._read_id(memory.id)),
            "saved": True,
            "tags": self._clean_tags(number, memory.meta.tags),
            "source": memory.meta.source,
            "context": memory.meta.context,
            "extra": memory.meta.extra,
            "ended_at": self._find_end(memory),
        }
        return self.write("memory", line)

    def _clean_tags(self, number: int, tags: list[str]) -> list[str]:
        kept = dict[str, None]()
        for tag in tags:
            try:
                kept[clean_tag(tag)] = None
            except ValueError as error:
                self.refuse(number, str(error))
        return sorted(kept)

    def _write_links(self, number: int, raw: bytes | None) -> Iterator[Numbered]:
        try:
            for relation in self._read(number, raw, CortexRelation):
                yield number, self._write_link(relation)
        except LineRefused as refused:
            self.refuse(number, f"of {RELATIONS}: {refused}")

    def _write_link(self, relation: CortexRelation) -> bytes:
        if relation.relation_type not in _LINKS:
            raise LineRefused(f"relation_type must be one of {', '.join(sorted(_LINKS))}")
        line = {
            "id": str(self._read_id(relation.id)),
            "from_memory": str(self._read_id(relation.from_memory_id)),
            "to_memory": str(self._read_id(relation.to_memory_id)),
            "relation": relation.relation_type,
            "strength": relation.strength,
            "metadata": relation.metadata,
            "created_at": relation.created_at.isoformat(),
        }
        return self.write("link", line)

    def find_id(self, name: str) -> UUID:
        """Return the id of the entity with this name."""
        key = name.casefold()
        return self._ids.setdefault(key, uuid5(_NAMESPACE, f"{self.space}\n{key}"))

    def _read_id(self, own: str) -> UUID:
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
