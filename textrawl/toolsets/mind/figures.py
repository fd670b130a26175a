"""graph_insights, graph_stats."""

from datetime import datetime
from typing import Annotated, Self

from mcp.types import CallToolResult

from textrawl.toolsets.call import Call
from textrawl.toolsets.mind.declaration import mind
from textrawl.toolsets.mind.rows import InsightRow
from textrawl.toolsets.mind.walk_operations import WalkOperations
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key, Part, Reply


class InsightPart(Part):
    """A bridge, which is a node with many edges, or a cluster of nodes of one type."""

    type: Annotated[str, Key("t")]
    description: Annotated[str, Key("d")]
    node_ids: Annotated[list[str], Key("nodes")]
    edge_ids: Annotated[list[str], Key("edges")]
    confidence: Annotated[float, Key("conf")]

    @classmethod
    def build(cls, row: InsightRow) -> Self:
        """Return the part for `row`."""
        description = (
            f"{row.title} has {row.count} edges"
            if row.kind == "bridge"
            else f"{row.count} nodes of type {row.title}"
        )
        return cls(
            type=row.kind,
            description=description,
            node_ids=[str(node) for node in row.node_ids],
            edge_ids=[str(edge) for edge in row.edge_ids],
            confidence=row.confidence,
        )


class InsightsReply(Reply):
    """Bridges, then clusters, the largest first."""

    success: Annotated[bool, Key("ok")] = True
    insights: Annotated[list[InsightPart], Key("m")]
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of insights."""
        return len(self.insights)

    def choose(self, count: int) -> Self:
        """Return a copy with the first insights."""
        update = {"insights": self.insights[:count], "dropped": self.size() - count or None}
        return self.model_copy(update=update)


class StatsReply(Reply):
    """The numbers of nodes and valid edges, also for the 50 most frequent types of each."""

    success: Annotated[bool, Key("ok")] = True
    total_nodes: Annotated[int, Key("nodes")]
    total_edges: Annotated[int, Key("edges")]
    nodes_by_type: Annotated[dict[str, int], Key("nodeTypes")]
    edges_by_type: Annotated[dict[str, int], Key("edgeTypes")]
    oldest_node: Annotated[datetime | None, Key("oldest")]
    newest_node: Annotated[datetime | None, Key("newest")]
    vector_search_available: Annotated[bool, Key("vec")]


@mind.tool(READS, InsightsReply)
async def graph_insights(call: Call) -> CallToolResult:
    """Find nodes with many edges (bridges) and types with many nodes (clusters)."""
    rows = await WalkOperations(call.store).find_insights(call.caller)
    reply = InsightsReply(insights=[InsightPart.build(row) for row in rows])
    return call.recall("insights", reply)


@mind.tool(READS, StatsReply)
async def graph_stats(call: Call) -> CallToolResult:
    """Count nodes and valid edges by type."""
    operations = WalkOperations(call.store)
    row = await operations.count(call.caller)
    reply = StatsReply(
        total_nodes=row.nodes,
        total_edges=row.edges,
        nodes_by_type=_keep_frequent(row.node_types),
        edges_by_type=_keep_frequent(row.edge_types),
        oldest_node=row.oldest,
        newest_node=row.newest,
        vector_search_available=await operations.has_vectors(),
    )
    return call.recall("stats", reply)


def _keep_frequent(counts: dict[str, int], most: int = 50) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most])
