"""gc: end the memories that nobody needs any more."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.decay.declaration import decay
from textrawl.toolsets.decay.operations import DecayOperations
from textrawl.toolsets.decay.replies import DecayReply
from textrawl.toolsets.toolset import DELETES
from textrawl.wire.replies import Key

_SHOWN = 10


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
    operations = DecayOperations(call.store)
    rows = await operations.find_faded(limit, call.caller)
    if not dry_run:
        ended = await operations.forget_faded(rows, call.caller, archive=archive_instead)
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
