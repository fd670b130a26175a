"""forget: delete a chunk or a source for good."""

from typing import Annotated, Literal
from uuid import UUID

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid
from textrawl.toolsets.call import Call
from textrawl.toolsets.corpus.declaration import ChunkId, SourceId, corpus, read_chunk_id
from textrawl.toolsets.corpus.operations import CorpusOperations
from textrawl.toolsets.toolset import DELETES
from textrawl.wire.replies import Key, Reply


class ForgottenReply(Reply):
    """The number of deleted chunks, and whether the source is gone."""

    deleted: Annotated[Literal[True], Key("ok")] = True
    chunks_removed: Annotated[int, Key("chunks")]
    source_removed: Annotated[bool, Key("source")]


def _choose(chunk: str | None, source: str | None) -> tuple[UUID, int | None]:
    """Return the source, and the number of the only chunk to delete.

    A chunk is deleted together with its source if the call names both. Raises ArgumentInvalid.
    """
    if chunk is None and source is None:
        raise ArgumentInvalid("provide chunkId or sourceId", title="Nothing to forget")
    if chunk is None:
        return UUID(source), None
    document, part = read_chunk_id(chunk)
    if source is None:
        return document, part
    if document != UUID(source):
        raise ArgumentInvalid(
            "the chunk is not of this source: call forget for each of them; nothing was deleted",
            title="Two different sources",
        )
    return document, None


@corpus.tool(DELETES, ForgottenReply, anywhere=True)
async def forget(
    call: Call,
    chunkId: Annotated[ChunkId | None, Field(description="delete this chunk")] = None,
    sourceId: Annotated[
        SourceId | None, Field(description="delete this source with all its chunks")
    ] = None,
) -> CallToolResult:
    """Delete a chunk or a source for good, if the user wants it. It cannot be undone.

    A sourceId is the part of a chunkId before the colon.
    """
    document, part = _choose(chunkId, sourceId)
    row = await CorpusOperations(call.store, call.graphs).forget(document, part, call.caller)
    return call.reply(
        ForgottenReply(chunks_removed=row.chunks_removed, source_removed=row.source_removed)
    )
