"""create_relation, read_graph, open_memories."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid
from textrawl.toolsets.call import Call
from textrawl.toolsets.decay.declaration import Extra, Limit, MemoryId, MemoryIds, Score, decay
from textrawl.toolsets.decay.operations import DecayOperations, Link
from textrawl.toolsets.decay.replies import DecayReply, count_days, shorten
from textrawl.toolsets.decay.rows import LinkRow, MemoryRow
from textrawl.toolsets.decay.search import STATUSES, Status
from textrawl.toolsets.toolset import READS, WRITES
from textrawl.wire.replies import Key, SnakePart

LinkType = Literal[
    "related", "causes", "supports", "contradicts", "has_decision", "consolidated_from"
]


class LinkedReply(DecayReply):
    """A stored link."""

    success: Annotated[bool, Key("ok")] = True
    relation_id: Annotated[str, Key("rel")]
    message: str


class LinkPart(SnakePart):
    """A link between two memories."""

    source: Annotated[str, Key("from"), Field(alias="from")]
    to: Annotated[str, Key("to")]
    type: Annotated[str, Key("rel")]
    strength: Annotated[float, Key("str")]

    @classmethod
    def build(cls, row: LinkRow) -> Self:
        """Return the part for `row`."""
        return cls(
            source=str(row.from_id),
            to=str(row.to_id),
            type=row.relation_type,
            strength=round(row.strength, 4),
        )


class MemoryPart(SnakePart):
    """A memory with everything that the decay tools know of it."""

    id: Annotated[str, Key("id")]
    content: Annotated[str, Key("c")]
    entities: Annotated[list[str] | None, Key("e")]
    tags: Annotated[list[str] | None, Key("tags")]
    source: str | None
    context: str | None
    meta: dict[str, Any] | None
    created_at: int
    last_used: int
    use_count: Annotated[int, Key("uses")]
    strength: Annotated[float, Key("str")]
    status: str
    promoted_to: str | None
    score: Annotated[float | None, Key("s")]
    age_days: float

    @classmethod
    def build(cls, row: MemoryRow, preview_length: int, *, scored: bool) -> Self:
        """Return the part for `row`."""
        return cls(
            id=str(row.memory_id),
            content=shorten(row.content, preview_length),
            entities=row.entities or None,
            tags=row.tags or None,
            source=row.source,
            context=row.context,
            meta=row.extra or None,
            created_at=int(row.created_at.timestamp()),
            last_used=int(row.last_used.timestamp()),
            use_count=row.use_count,
            strength=round(row.strength, 4),
            status=row.status,
            promoted_to=row.promoted_to,
            score=round(row.score, 4) if scored else None,
            age_days=count_days(row.created_at, datetime.now(UTC)),
        )


class StatsPart(SnakePart):
    """Figures about all memories with the status, and about the links of this page."""

    total_memories: int
    total_relations: int
    avg_score: float
    avg_use_count: float
    status_filter: str


class MemoriesReply(DecayReply):
    """Memories with their links. Memories are left out from the end, with their links."""

    success: bool = True
    memories: Annotated[list[MemoryPart], Key("m")]
    relations: Annotated[list[LinkPart], Key("r")]
    count: int | None = None
    not_found: Annotated[list[str] | None, Key("missing")] = None
    stats: StatsPart | None = None
    next_page: Annotated[int | None, Key("more")] = None
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of memories."""
        return len(self.memories)

    def choose(self, count: int) -> Self:
        """Return a copy with the first memories and their links."""
        kept = self.memories[:count]
        ids = {memory.id for memory in kept}
        links = [link for link in self.relations if {link.source, link.to} & ids]
        update = {"memories": kept, "relations": links, "dropped": len(self.memories) - count}
        return self.model_copy(update=update | ({"count": count} if self.count else {}))


def _build(rows: Sequence[MemoryRow], preview_length: int, *, scored: bool) -> list[MemoryPart]:
    return [MemoryPart.build(row, preview_length, scored=scored) for row in rows]


@decay.tool(WRITES, LinkedReply)
async def create_relation(
    call: Call,
    from_memory_id: MemoryId,
    to_memory_id: MemoryId,
    relation_type: LinkType,
    strength: Score = 1.0,
    metadata: Extra | None = None,
) -> CallToolResult:
    """Link two memories."""
    if from_memory_id.lower() == to_memory_id.lower():
        raise ArgumentInvalid("to_memory_id: is the same memory as from_memory_id")
    link = Link(from_memory_id, to_memory_id, relation_type, strength, metadata or {})
    row = await DecayOperations(call.store).link(link, call.caller)
    verb = "Created" if row.created else "Updated"
    return call.reply(
        LinkedReply(relation_id=str(row.link_id), message=f"{verb} the relation {relation_type}")
    )


@decay.tool(READS, MemoriesReply)
async def read_graph(
    call: Call,
    status: Status = "active",
    include_scores: bool = True,
    page: Annotated[int, Field(ge=1, le=100_000)] = 1,
    page_size: Limit = 50,
) -> CallToolResult:
    """Read memories page by page, last used first, with the links between them."""
    operations = DecayOperations(call.store)
    skip = (page - 1) * page_size
    rows = await operations.read_page(STATUSES[status], page_size, skip, call.caller)
    links = await operations.list_links([row.memory_id for row in rows], call.caller)
    total = rows[0].total if rows else 0
    stats = StatsPart(
        total_memories=total,
        total_relations=len(links),
        avg_score=round(rows[0].mean_score, 4) if rows else 0,
        avg_use_count=round(rows[0].mean_use_count, 2) if rows else 0,
        status_filter=status,
    )
    reply = MemoriesReply(
        memories=_build(rows, 300, scored=include_scores),
        relations=[LinkPart.build(link) for link in links],
        stats=stats,
        next_page=page + 1 if skip + len(rows) < total else None,
    )
    return call.recall("graph", reply)


@decay.tool(READS, MemoriesReply)
async def open_memories(
    call: Call,
    memory_ids: MemoryIds,
    include_relations: bool = True,
    include_scores: bool = True,
) -> CallToolResult:
    """Read memories by id: whole texts, with their links."""
    operations = DecayOperations(call.store)
    rows = await operations.open(memory_ids, call.caller)
    found = [row.memory_id for row in rows]
    links = await operations.list_links(found, call.caller) if include_relations else []
    ids = {str(memory) for memory in found}
    reply = MemoriesReply(
        memories=_build(rows, 0, scored=include_scores),
        relations=[LinkPart.build(link) for link in links],
        count=len(rows),
        not_found=[memory for memory in memory_ids if memory.lower() not in ids] or None,
    )
    return call.recall("open", reply)
