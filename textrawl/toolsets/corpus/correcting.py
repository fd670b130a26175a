"""correct and apply: propose a new text for a chunk, and store it once the user agrees."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.corpus.correction import write_diff
from textrawl.toolsets.corpus.correction_operations import CorrectionOperations
from textrawl.toolsets.corpus.declaration import (
    ChunkId,
    CorrectionId,
    ProposalText,
    corpus,
    read_chunk_id,
    write_chunk_id,
)
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, Reply

_ONCE = WRITES.model_copy(update={"idempotent_hint": False})
_ASKS = _ONCE.model_copy(update={"open_world_hint": True})  # the tool calls the LLM


class CorrectReply(Reply):
    """A proposed correction. Compact text shows only the changed lines."""

    large = True
    one_channel = True
    spared = (("original_text",), ("proposed_text",), ("diff",))

    correction_id: Annotated[str, Key("id")]
    chunk_id: Annotated[str, Key("chunk")]
    original_text: str | None
    proposed_text: str | None
    diff: Annotated[str | None, Key("diff")]
    expires_at: Annotated[datetime, Key("until")]


class ApplyReply(Reply):
    """A corrected chunk. If `new_embedding_computed` is false, the server makes the vector later.

    `op_log_event_id` is the number of the event in the trail.
    """

    chunk_id: Annotated[str, Key("chunk")]
    applied: Annotated[Literal[True], Key("ok")] = True
    new_embedding_computed: Annotated[bool, Key("vec")]
    op_log_event_id: Annotated[str, Key("event")]


@corpus.tool(_ASKS, CorrectReply, anywhere=True)
async def correct(
    call: Call,
    chunkId: Annotated[ChunkId, Field(description="of recall")],
    proposal: Annotated[ProposalText, Field(description="what should change, in words")],
) -> CallToolResult:
    """Propose a correction of a chunk. Nothing changes until apply, within ten minutes.

    Always show the diff to the user, and call apply only if the user agrees.
    """
    document, part = read_chunk_id(chunkId)
    operations = CorrectionOperations(call.store, call.graphs, call.caller)
    found = await operations.propose(document, part, proposal, call.app.correction_mode)
    reply = CorrectReply(
        correction_id=str(found.row.id),
        chunk_id=chunkId,
        original_text=found.original,
        proposed_text=found.proposed,
        diff=write_diff(found.original, found.proposed),
        expires_at=found.row.apply_until,
    )
    return call.reply(reply)


@corpus.tool(_ONCE, ApplyReply, anywhere=True)
async def apply(
    call: Call, correctionId: Annotated[CorrectionId, Field(description="of correct")]
) -> CallToolResult:
    """Store a correction that the user has seen and wants."""
    operations = CorrectionOperations(call.store, call.graphs, call.caller)
    row, embedded = await operations.apply(UUID(correctionId))
    reply = ApplyReply(
        chunk_id=write_chunk_id(row.document_id, row.part),
        new_embedding_computed=embedded,
        op_log_event_id=str(row.event_id),
    )
    return call.reply(reply)
