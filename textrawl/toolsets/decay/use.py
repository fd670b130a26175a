"""touch_memory and observe_memory_usage: the only tools that make a memory fresh."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.decay.declaration import MemoryId, MemoryIds, Tags, decay
from textrawl.toolsets.decay.failures import FailureReply, reply_failure
from textrawl.toolsets.decay.operations import DecayOperations, Use
from textrawl.toolsets.decay.replies import DecayReply
from textrawl.toolsets.decay.rows import UsedRow
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, SnakePart

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
