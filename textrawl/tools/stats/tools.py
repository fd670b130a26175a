"""The tools of the `stats` toolset."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid
from textrawl.memory.statistics import StatsOperations
from textrawl.memory.store import GraphRow, StatisticsRow
from textrawl.tools.call import Call
from textrawl.tools.toolset import READS, Toolset
from textrawl.wire.replies import Key, Part, Reply

stats = Toolset("stats", "Count what the memory holds.", ("memory_stats", "get_stats"))

Scope = Literal["all", "memory", "knowledge", "conversations", "insights"]

_ABSENT = ("conversations", "insights")  # scopes of the original textrawl


class MemorySize(Part):
    """The size of the memory, without its graphs. Facts that ended are not counted."""

    total_entities: Annotated[int, Key("e")]
    total_observations: Annotated[int, Key("o")]
    total_relations: Annotated[int, Key("r")]

    @staticmethod
    def read_totals(row: StatisticsRow) -> dict[str, int]:
        """Return the fields of this class. The tools have different names for the types."""
        return {
            "total_entities": row.entities,
            "total_observations": row.valid_facts,
            "total_relations": row.relations,
        }


class MemoryStatsReply(MemorySize, Reply):
    """The size of the memory."""

    entities_by_type: Annotated[dict[str, int], Key("by")]

    @classmethod
    def build(cls, row: StatisticsRow) -> Self:
        """Return the reply for `row`."""
        return cls.model_validate({**cls.read_totals(row), "entities_by_type": row.types})


class MemoryPart(MemorySize):
    """The size of the memory, in the reply of get_stats."""

    entity_type_counts: Annotated[dict[str, int], Key("by")]

    @classmethod
    def build(cls, row: StatisticsRow) -> Self:
        """Return the part for `row`."""
        return cls.model_validate({**cls.read_totals(row), "entity_type_counts": row.types})


class KnowledgePart(Part):
    """The size of the documents in all graphs."""

    total_graphs: Annotated[int, Key("g")]
    total_sources: Annotated[int, Key("src")]
    total_chunks: Annotated[int, Key("c")]
    estimated_tokens: Annotated[int, Key("tok")]

    @classmethod
    def build(cls, rows: Sequence[GraphRow]) -> Self:
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
    row = await StatsOperations(call.store).count_memory(call.caller)
    return call.reply(MemoryStatsReply.build(row))


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
    operations, reply = StatsOperations(call.store), StatsReply()
    if scope == "memory":
        reply.memory = MemoryPart.build(await operations.count_memory(call.caller))
    elif scope == "all":
        row = await operations.try_to_count_memory(call.caller)
        reply.memory = MemoryPart.build(row) if row is not None else None
    if scope in ("all", "knowledge"):
        reply.knowledge = KnowledgePart.build(
            await operations.count_graphs(call.caller, call.graphs)
        )
    return call.reply(reply)
