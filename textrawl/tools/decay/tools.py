"""The toolset `decay`, and its tools that save, find, use and link memories."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from mcp.types import CallToolResult
from pydantic import AfterValidator, Field

from textrawl.errors import ArgumentInvalid
from textrawl.memory.backlog import count_backlog, fill_batch
from textrawl.memory.decay import (
    CONTENT_LENGTH,
    NO_ENTITY,
    REINFORCED,
    FadedRow,
    FoundPart,
    LinkedRow,
    LinkPart,
    MemoryPart,
    ObservedPart,
    SavedRow,
    embed_text,
)
from textrawl.memory.decay_analysis import find_entities, rate_strength
from textrawl.tools.call import Call
from textrawl.tools.toolset import CLEAN_FACT, CLEAN_NAME, DELETES, READS, WRITES, Name, Toolset
from textrawl.values.names import check_id
from textrawl.values.text import TAG_LENGTH, clean_tag, clean_value
from textrawl.wire.columns import ROUNDED
from textrawl.wire.replies import SNAKE_CASE, Key, Reply, SnakePart

decay = Toolset(
    "decay",
    "Memories that fade unless they are used, come up for review, and are promoted to notes.",
    (
        "save_memory",
        "search_memory",
        "search_unified",
        "touch_memory",
        "observe_memory_usage",
        "analyze_message",
        "analyze_for_recall",
        "gc",
        "promote_memory",
        "cluster_memories",
        "consolidate_memories",
        "create_relation",
        "read_graph",
        "open_memories",
        "backfill_embeddings",
    ),
)

MOST_TAGS, MOST_ENTITIES, MOST_ITEMS = 50, 100, 100


Content = Annotated[str, CLEAN_FACT, Field(min_length=1, max_length=CONTENT_LENGTH)]
LongText = Annotated[str, Field(max_length=CONTENT_LENGTH)]
Label = Annotated[str, CLEAN_FACT, Field(max_length=500)]
Context = Annotated[str, CLEAN_FACT, Field(max_length=1000)]
Extra = Annotated[dict[str, Any], AfterValidator(clean_value)]
Query = Annotated[str, CLEAN_NAME, Field(max_length=2048)]
EntityNames = Annotated[list[Name], Field(max_length=MOST_ENTITIES)]
Tag = Annotated[str, Field(max_length=TAG_LENGTH), AfterValidator(clean_tag)]
Tags = Annotated[list[Tag], Field(max_length=MOST_TAGS)]
MemoryId = Annotated[str, CLEAN_NAME, AfterValidator(partial(check_id, kind="memory"))]
MemoryIds = Annotated[list[MemoryId], Field(max_length=MOST_ITEMS)]
Strength = Annotated[float, Field(ge=1, le=2)]
Score = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[int, Field(ge=1, le=3650)]
Limit = Annotated[int, Field(ge=1, le=100)]


class DecayReply(Reply):
    """A reply with snake_case keys."""

    model_config = SNAKE_CASE


def shorten(text: str, most: int) -> str:
    """Return a text, or its first `most` characters and an ellipsis. 0 means the whole text."""
    return text if not most or len(text) <= most else f"{text[:most].rstrip()}…"


class DecayFailureReply(DecayReply):
    """A failure, with the reason. The result also has isError."""

    success: Annotated[bool, Key("ok")] = False
    message: Annotated[str, Key("err")]
    promoted_to: Annotated[str | None, Key("to")] = None
    score: Annotated[float | None, Key("s")] = None


def reply_failure(call: Call, reply: DecayFailureReply) -> CallToolResult:
    """Answer with a failure."""
    return call.reply(reply).model_copy(update={"is_error": True})


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
    named = entities or found or []
    row = await call.write_one(
        "save_memory",
        SavedRow,
        entities=named,
        tags=tags or [],
        source=source,
        context=context,
        extra=json.dumps(meta or {}),
        strength=strength or rated or 1.0,
        **await embed_text(call.store, named[0] if named else NO_ENTITY, content),
    )
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


class Pagination(SnakePart):
    """The place of a page among all results."""

    page: int
    page_size: int
    total: int
    has_more: bool


class FoundReply(DecayReply):
    """Memories, best first."""

    items = ("results",)

    success: bool = True
    count: int
    results: Annotated[list[FoundPart], Key("m")]
    pagination: Pagination | None = None
    dropped: Annotated[int | None, Key("cut")] = None

    def choose(self, count: int) -> Self:
        """Return a copy with the best memories."""
        return super().choose(count).model_copy(update={"count": count})


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
    semantic = use_embeddings and bool(query)
    rows = await call.search(
        "search_memories",
        FoundPart,
        query or None,
        "vector" if semantic else None,
        semantic=semantic,
        any_tags=tags or None,
        max_rows=top_k,
        window_days=window_days,
        min_score=min_score,
        statuses=list(STATUSES[status]),
        review=include_review_candidates,
    )
    start = (page - 1) * page_size if page else 0
    parts = rows[start : start + page_size if page else None]
    for part in parts:
        part.content = shorten(part.content, preview_length)
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
    old_score: Annotated[float, Key("was"), ROUNDED]
    new_score: Annotated[float, Key("s"), ROUNDED]
    use_count: Annotated[int, Key("uses")]
    strength: Annotated[float, Key("str")]
    message: str


class ObservedReply(DecayReply):
    """The memories whose use was recorded, or the reason why none was."""

    reinforced: Annotated[bool, Key("ok")]
    reason: Annotated[str | None, Key("note")] = None
    count: int
    cross_domain_count: int | None = None
    results: Annotated[list[ObservedPart] | None, Key("m")] = None


@decay.tool(WRITES, TouchedReply, DecayFailureReply)
async def touch_memory(
    call: Call, memory_id: MemoryId, boost_strength: bool = False
) -> CallToolResult:
    """Make one memory fresh, and count a use. boost_strength adds 0.1 to its strength, up to 2."""
    boost = BOOST if boost_strength else 0.0
    [row] = await _reinforce(call, memories=[memory_id], boost=boost)
    if row.old_score is None or row.new_score is None or row.strength is None:
        return reply_failure(call, DecayFailureReply(message=f"Memory not found: {memory_id}"))
    reply = TouchedReply(
        memory_id=row.id,
        old_score=row.old_score,
        new_score=row.new_score,
        use_count=row.new_use_count or 0,
        strength=row.strength,
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
    rows = await _reinforce(call, memories=memory_ids, context_tags=context_tags, review=True)
    if not rows:
        reason = "auto_reinforce is disabled in config" if memory_ids else "no memory_ids"
        return call.reply(ObservedReply(reinforced=False, reason=reason, count=0))
    found = [row for row in rows if row.status == REINFORCED]
    reply = ObservedReply(
        reinforced=bool(found),
        count=len(found),
        cross_domain_count=sum(bool(row.cross_domain) for row in found),
        results=rows,
    )
    return call.reply(reply)


async def _reinforce(call: Call, **arguments: object) -> list[ObservedPart]:
    """Record uses. Return no rows for a review in a space without automatic reinforcement."""
    return await call.write("reinforce_memories", ObservedPart, **arguments)


LinkType = Literal[
    "related", "causes", "supports", "contradicts", "has_decision", "consolidated_from"
]


class LinkedReply(DecayReply):
    """A stored link."""

    success: Annotated[bool, Key("ok")] = True
    relation_id: Annotated[str, Key("rel")]
    message: str


class StatsPart(SnakePart):
    """Figures about all memories with the status, and about the links of this page."""

    total_memories: int
    total_relations: int
    avg_score: float
    avg_use_count: float
    status_filter: str


class MemoriesReply(DecayReply):
    """Memories with their links. Memories are left out from the end, with their links."""

    items = ("memories",)

    success: bool = True
    memories: Annotated[list[MemoryPart], Key("m")]
    relations: Annotated[list[LinkPart], Key("r")]
    count: int | None = None
    not_found: Annotated[list[str] | None, Key("missing")] = None
    stats: StatsPart | None = None
    next_page: Annotated[int | None, Key("more")] = None
    dropped: Annotated[int | None, Key("cut")] = None

    def choose(self, count: int) -> Self:
        """Return a copy with the first memories and their links."""
        ids = {memory.id for memory in self.memories[:count]}
        links = [link for link in self.relations if {link.source, link.to} & ids]
        update = {"relations": links} | ({"count": count} if self.count else {})
        return super().choose(count).model_copy(update=update)


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
    row = await call.write_one(
        "link_memories",
        LinkedRow,
        from_memory=from_memory_id,
        to_memory=to_memory_id,
        relation_type=relation_type,
        strength=strength,
        metadata=json.dumps(metadata or {}),
    )
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
    skip = (page - 1) * page_size
    memories = await _list_memories(
        call, include_scores, statuses=list(STATUSES[status]), max_rows=page_size, skip=skip
    )
    links = await _list_links(call, memories)
    total, score, uses = 0, 0.0, 0.0
    if memories:
        first = memories[0]
        total, score, uses = first.total, first.mean_score, first.mean_use_count
    stats = StatsPart(
        total_memories=total,
        total_relations=len(links),
        avg_score=round(score, 4),
        avg_use_count=round(uses, 2),
        status_filter=status,
    )
    for memory in memories:
        memory.content = shorten(memory.content, 300)
    more = page + 1 if skip + len(memories) < total else None
    reply = MemoriesReply(memories=memories, relations=links, stats=stats, next_page=more)
    return call.recall("graph", reply)


@decay.tool(READS, MemoriesReply)
async def open_memories(
    call: Call,
    memory_ids: MemoryIds,
    include_relations: bool = True,
    include_scores: bool = True,
) -> CallToolResult:
    """Read memories by id: whole texts, with their links."""
    memories = await _list_memories(call, include_scores, memories=memory_ids)
    found = {memory.id for memory in memories}
    reply = MemoriesReply(
        memories=memories,
        relations=await _list_links(call, memories) if include_relations else [],
        count=len(memories),
        not_found=[memory for memory in memory_ids if memory.lower() not in found] or None,
    )
    return call.recall("open", reply)


async def _list_memories(call: Call, scored: bool, **arguments: object) -> list[MemoryPart]:
    memories = await call.read("list_memories", MemoryPart, **arguments)
    for memory in memories:
        memory.score = memory.score if scored else None
    return memories


async def _list_links(call: Call, memories: Sequence[MemoryPart]) -> list[LinkPart]:
    ids = [memory.id for memory in memories]
    return await call.read("list_links", LinkPart, memories=ids)


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
    model, processed = await call.store.models.find_active(), 0
    while not dry_run and processed < limit:
        if not (count := await fill_batch(call.store.database, model)):
            break
        processed += count
    pending = await count_backlog(call.store.database, model)
    message = f"Made {processed} vectors; {pending} facts wait for one"
    return call.reply(BackfilledReply(processed=processed, pending=pending, message=message))


_SHOWN = 10
_BATCH = 500  # memories that gc ends in one transaction


class CollectedReply(DecayReply):
    """The memories that gc ended or would end."""

    success: bool = True
    dry_run: Annotated[bool, Key("dry")]
    removed_count: int
    archived_count: int
    freed_score_sum: float
    memory_ids: Annotated[list[str], Key("ids")]
    total_affected: Annotated[int, Key("n")]
    message: str


@decay.tool(DELETES, CollectedReply, dry_run="dry_run")
async def gc(
    call: Call,
    dry_run: bool = True,
    archive_instead: bool = False,
    limit: Annotated[int | None, Field(ge=1, le=10_000)] = None,
) -> CallToolResult:
    """Remove or archive memories that faded, lowest score first. Undo can revive them."""
    rows = await call.read("fading_memories", FadedRow, max_rows=limit)
    if not dry_run:
        ended = set[UUID]()
        for start in range(0, len(rows), _BATCH):  # so that no transaction is long
            batch = [row.memory_id for row in rows[start : start + _BATCH]]
            ended.update(
                await call.write("forget_faded", UUID, memories=batch, archive=archive_instead)
            )
        rows = [row for row in rows if row.memory_id in ended]
    verb = "archive" if archive_instead else "remove"
    begun = f"Would {verb}" if dry_run else f"{verb.capitalize()}d"
    reply = CollectedReply(
        dry_run=dry_run,
        removed_count=0 if archive_instead else len(rows),
        archived_count=len(rows) if archive_instead else 0,
        freed_score_sum=round(sum(row.score for row in rows), 4),
        memory_ids=[str(row.memory_id) for row in rows[:_SHOWN]],
        total_affected=len(rows),
        message=f"{begun} {len(rows)} low-scoring memories",
    )
    return call.reply(reply)
