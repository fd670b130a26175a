"""The tools of the `stats` toolset."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid
from textrawl.memory.store import GraphPart, list_graphs, try_to_count
from textrawl.tools.call import Call
from textrawl.tools.toolset import READS, Toolset
from textrawl.wire.replies import Key, Part, Reply

stats = Toolset("stats", "Count what the memory holds.")

Scope = Literal["all", "memory", "knowledge", "conversations", "insights"]

_ABSENT = ("conversations", "insights")  # scopes of the original textrawl


class MemorySize(Part):
    """The size of the memory, without its graphs. Facts that ended are not counted."""

    entities: Annotated[int, Key("e"), Field(alias="totalEntities")]
    valid_facts: Annotated[int, Key("o"), Field(alias="totalObservations")]
    relations: Annotated[int, Key("r"), Field(alias="totalRelations")]


class MemoryStatsReply(MemorySize, Reply):
    """The size of the memory."""

    types: Annotated[dict[str, int], Key("by"), Field(alias="entitiesByType")]


class MemoryPart(MemorySize):
    """The size of the memory, in the reply of get_stats."""

    types: Annotated[dict[str, int], Key("by"), Field(alias="entityTypeCounts")]


class KnowledgePart(Part):
    """The size of the documents in all graphs."""

    total_graphs: Annotated[int, Key("g")]
    total_sources: Annotated[int, Key("src")]
    total_chunks: Annotated[int, Key("c")]
    estimated_tokens: Annotated[int, Key("tok")]

    @classmethod
    def build(cls, rows: Sequence[GraphPart]) -> Self:
        """Return the sums of all graphs."""
        return cls(
            total_graphs=len(rows),
            total_sources=sum(row.sources for row in rows),
            total_chunks=sum(row.chunks for row in rows),
            estimated_tokens=sum(row.tokens for row in rows),
        )


class StatsReply(Reply):
    """The sizes of the requested parts."""

    memory: Annotated[MemoryPart | None, Key("memory")] = None
    knowledge: Annotated[KnowledgePart | None, Key("knowledge")] = None


@stats.tool(READS, MemoryStatsReply)
async def memory_stats(call: Call) -> CallToolResult:
    """Count the entities, facts and relations that I remember. Example: {}."""
    reply = await call.store.call_one("memory_statistics", MemoryStatsReply, **call.caller.reading)
    return call.reply(reply)


@stats.tool(READS, StatsReply)
async def get_stats(
    call: Call,
    scope: Annotated[
        Scope, Field(description="memory: facts; knowledge: documents in graphs")
    ] = "all",
) -> CallToolResult:
    """Count what is stored: facts in the memory, documents in graphs.

    Example: {"scope":"memory"}.
    """
    if scope in _ABSENT:
        raise ArgumentInvalid(
            "scope: use memory, knowledge or all", title=f"textrawl has no {scope} to count"
        )
    reply = StatsReply()
    if scope == "memory":
        reply.memory = await call.store.call_one(
            "memory_statistics", MemoryPart, **call.caller.reading
        )
    elif scope == "all":
        row = await try_to_count(call.store, call.caller)
        reply.memory = MemoryPart.model_validate(row) if row is not None else None
    if scope in ("all", "knowledge"):
        credential = call.caller.principal.credential
        graphs = await list_graphs(call.store.database, credential, call.graphs)
        reply.knowledge = KnowledgePart.build(graphs)
    return call.reply(reply)
