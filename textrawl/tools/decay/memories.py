"""Tools that save, find, use and link memories."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid
from textrawl.memory.decay import (
    DecayOperations,
    FoundRow,
    Link,
    LinkRow,
    Memory,
    MemoryRow,
    Search,
    Use,
    UsedRow,
)
from textrawl.memory.decay_analysis import find_entities, rate_strength
from textrawl.tools.call import Call
from textrawl.tools.decay.declaration import (
    Content,
    Context,
    Days,
    DecayReply,
    EntityNames,
    Extra,
    FailureReply,
    Label,
    Limit,
    MemoryId,
    MemoryIds,
    Query,
    Score,
    Strength,
    Tags,
    count_days,
    decay,
    reply_failure,
    shorten,
)
from textrawl.tools.toolset import READS, WRITES
from textrawl.wire.replies import Key, SnakePart


class SavedReply(DecayReply):
    """The id of a saved memory, and what was derived from its text."""

    success: Annotated[bool, Key("ok")] = True
    memory_id: Annotated[str, Key("id")]
    message: str
    has_embedding: bool
    enrichment_applied: bool
    auto_entities: Annotated[list[str] | None, Key("e")] = None
    calculated_strength: Annotated[float | None, Key("str")] = None


@decay.tool(WRITES, SavedReply)
async def save_memory(
    call: Call,
    content: Content,
    tags: Tags | None = None,
    entities: Annotated[EntityNames | None, Field(description="default: found in content")] = None,
    source: Label | None = None,
    context: Context | None = None,
    meta: Extra | None = None,
    strength: Annotated[
        Strength | None, Field(description="2: never forget; default: by markers in content")
    ] = None,
) -> CallToolResult:
    """Save a memory, which fades unless it is used. Example: {"content":"Use JWT in new APIs"}."""
    found = find_entities(content) if entities is None else None
    rated = rate_strength(content, entities or found or []) if strength is None else None
    memory = Memory(
        content=content,
        tags=tags or (),
        entities=entities or found or (),
        source=source,
        context=context,
        extra=meta or {},
        strength=strength or rated or 1.0,
    )
    row = await DecayOperations(call.store).save(memory, call.caller)
    outcome = "is fresh again: it was saved before" if row.duplicate else "saved"
    reply = SavedReply(
        memory_id=str(row.memory_id),
        message=f"Memory {outcome}, with ID: {row.memory_id}",
        has_embedding=row.embedded,
        enrichment_applied=found is not None or rated is not None,
        auto_entities=found,
        calculated_strength=rated,
    )
    return call.reply(reply)


STATUSES = {
    "active": ("active",),
    "promoted": ("promoted",),
    "archived": ("archived",),
    "current": ("active", "promoted"),
}
Status = Literal["active", "promoted", "archived", "current"]


class FoundPart(SnakePart):
    """A memory that a search found."""

    id: Annotated[str, Key("id")]
    content: Annotated[str, Key("c")]
    tags: Annotated[list[str] | None, Key("tags")]
    score: Annotated[float, Key("s")]
    similarity: Annotated[float | None, Key("sim")]
    use_count: Annotated[int, Key("uses")]
    last_used: int
    age_days: float
    review_priority: Annotated[float | None, Key("due")]


class Pagination(SnakePart):
    """The place of a page among all results."""

    page: int
    page_size: int
    total: int
    has_more: bool


class FoundReply(DecayReply):
    """Memories, best first."""

    success: bool = True
    count: int
    results: Annotated[list[FoundPart], Key("m")]
    pagination: Pagination | None = None
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of memories."""
        return len(self.results)

    def choose(self, count: int) -> Self:
        """Return a copy with the best memories."""
        dropped = (len(self.results) - count) or None
        results = self.results[:count]
        return self.model_copy(
            update={"results": results, "count": len(results), "dropped": dropped}
        )


def _build(rows: Sequence[FoundRow], preview_length: int) -> list[FoundPart]:
    now = datetime.now(UTC)
    return [
        FoundPart(
            id=str(row.memory_id),
            content=shorten(row.content, preview_length),
            tags=row.tags or None,
            score=round(row.score, 4),
            similarity=None if row.similarity is None else round(row.similarity, 4),
            use_count=row.use_count,
            last_used=int(row.last_used.timestamp()),
            age_days=count_days(row.created_at, now),
            review_priority=round(row.review_priority, 4) or None,
        )
        for row in rows
    ]


@decay.tool(READS, FoundReply)
async def search_memory(
    call: Call,
    query: Query = "",
    tags: Annotated[Tags | None, Field(description="any of them")] = None,
    top_k: Limit = 10,
    window_days: Annotated[Days | None, Field(description="used within these days")] = None,
    min_score: Annotated[Score | None, Field(description="of decay alone")] = None,
    use_embeddings: Annotated[bool, Field(description="rank by meaning alone")] = False,
    status: Status = "current",
    include_review_candidates: bool = True,
    page: Annotated[int | None, Field(ge=1, le=100)] = None,
    page_size: Limit = 10,
    preview_length: Annotated[int, Field(ge=0, le=5000, description="0: whole texts")] = 300,
) -> CallToolResult:
    """Find memories by decay and similarity. `due`: review it, by using it where it fits.

    Example: {"query":"deadline","tags":["project"]}.
    """
    search = Search(
        query=query or None,
        tags=tags,
        limit=top_k,
        window_days=window_days,
        min_score=min_score,
        statuses=STATUSES[status],
        semantic=use_embeddings,
        review=include_review_candidates,
    )
    rows = await DecayOperations(call.store).search(search, call.caller)
    start = (page - 1) * page_size if page else 0
    parts = _build(rows[start : start + page_size if page else None], preview_length)
    place = None
    if page:
        more = start + len(parts) < len(rows)
        place = Pagination(page=page, page_size=page_size, total=len(rows), has_more=more)
    return call.recall("search", FoundReply(count=len(parts), results=parts, pagination=place))


BOOST = 0.1


class TouchedReply(DecayReply):
    """A memory that is fresh again."""

    success: bool = True
    memory_id: str
    old_score: Annotated[float, Key("was")]
    new_score: Annotated[float, Key("s")]
    use_count: Annotated[int, Key("uses")]
    strength: Annotated[float, Key("str")]
    message: str


class ObservedPart(SnakePart):
    """What a use changed of a memory."""

    id: Annotated[str, Key("id")]
    status: str
    cross_domain: Annotated[bool | None, Key("cross")]
    new_use_count: Annotated[int | None, Key("uses")]
    new_review_count: int | None
    strength: Annotated[float | None, Key("str")]

    @classmethod
    def build(cls, row: UsedRow) -> Self:
        """Return the part for `row`."""
        return cls(
            id=str(row.memory_id),
            status="reinforced" if row.found else "not_found",
            cross_domain=row.cross_domain,
            new_use_count=row.use_count,
            new_review_count=row.review_count,
            strength=None if row.strength is None else round(row.strength, 4),
        )


class ObservedReply(DecayReply):
    """The memories whose use was recorded, or the reason why none was."""

    reinforced: Annotated[bool, Key("ok")]
    reason: Annotated[str | None, Key("note")] = None
    count: int
    cross_domain_count: int | None = None
    results: Annotated[list[ObservedPart] | None, Key("m")] = None


@decay.tool(WRITES, TouchedReply, FailureReply)
async def touch_memory(
    call: Call, memory_id: MemoryId, boost_strength: bool = False
) -> CallToolResult:
    """Make one memory fresh, and count a use. boost_strength adds 0.1 to its strength, up to 2."""
    use = Use([memory_id], boost=BOOST if boost_strength else 0.0)
    rows = await DecayOperations(call.store).reinforce(use, call.caller)
    [row] = rows
    if row.old_score is None or row.new_score is None or row.strength is None:
        return reply_failure(call, FailureReply(message=f"Memory not found: {memory_id}"))
    reply = TouchedReply(
        memory_id=str(row.memory_id),
        old_score=round(row.old_score, 4),
        new_score=round(row.new_score, 4),
        use_count=row.use_count or 0,
        strength=round(row.strength, 4),
        message=f"Memory reinforced. Score: {row.old_score:.2f} -> {row.new_score:.2f}",
    )
    return call.reply(reply)


@decay.tool(WRITES, ObservedReply)
async def observe_memory_usage(
    call: Call,
    memory_ids: MemoryIds,
    context_tags: Annotated[Tags, Field(description="of the conversation")] = [],  # noqa: B006
) -> CallToolResult:
    """Record memories that you used in an answer, not memories that you only found.

    Uses in another domain, by tags, make a memory stronger.
    """
    use = Use(memory_ids, context_tags, review=True)
    rows = await DecayOperations(call.store).reinforce(use, call.caller)
    if not rows:
        reason = "auto_reinforce is disabled in config" if memory_ids else "no memory_ids"
        return call.reply(ObservedReply(reinforced=False, reason=reason, count=0))
    found = [row for row in rows if row.found]
    reply = ObservedReply(
        reinforced=bool(found),
        count=len(found),
        cross_domain_count=sum(bool(row.cross_domain) for row in found),
        results=[ObservedPart.build(row) for row in rows],
    )
    return call.reply(reply)


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


def _build_link(
    rows: Sequence[MemoryRow], preview_length: int, *, scored: bool
) -> list[MemoryPart]:
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
        memories=_build_link(rows, 300, scored=include_scores),
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
        memories=_build_link(rows, 0, scored=include_scores),
        relations=[LinkPart.build(link) for link in links],
        count=len(rows),
        not_found=[memory for memory in memory_ids if memory.lower() not in ids] or None,
    )
    return call.recall("open", reply)


class BackfilledReply(DecayReply):
    """The number of vectors that were made, and of facts that still wait for one."""

    success: bool = True
    processed: Annotated[int, Key("new")]
    pending: Annotated[int, Key("more")]
    message: str


@decay.tool(WRITES, BackfilledReply)
async def backfill_embeddings(
    call: Call, limit: Annotated[int, Field(ge=1, le=1000)] = 500, dry_run: bool = False
) -> CallToolResult:
    """Make missing vectors now. The server also makes them by itself, so this is rarely needed."""
    operations = DecayOperations(call.store)
    processed = 0 if dry_run else await operations.fill_vectors(limit)
    pending = await operations.count_without_vector()
    message = f"Made {processed} vectors; {pending} facts wait for one"
    return call.reply(BackfilledReply(processed=processed, pending=pending, message=message))
