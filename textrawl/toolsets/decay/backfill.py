"""backfill_embeddings."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.decay.declaration import decay
from textrawl.toolsets.decay.operations import DecayOperations
from textrawl.toolsets.decay.replies import DecayReply
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key


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
