"""save_memory."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.decay.analysis.entities import find_entities
from textrawl.toolsets.decay.analysis.strength import rate_strength
from textrawl.toolsets.decay.declaration import (
    Content,
    Context,
    EntityNames,
    Extra,
    Label,
    Strength,
    Tags,
    decay,
)
from textrawl.toolsets.decay.operations import DecayOperations, Memory
from textrawl.toolsets.decay.replies import DecayReply
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key


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
