"""Tools that search and walk the graph."""

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.memory.mind import InsightRow, MindOperations, Refused, Walk, WalkOperations
from textrawl.tools.call import Call, FailureReply, reply_failure
from textrawl.tools.mind.declaration import (
    DIGITS,
    EdgePart,
    Embedding,
    Id,
    KindName,
    NodePart,
    Query,
    Share,
    mind,
)
from textrawl.tools.toolset import READS
from textrawl.wire.replies import Key, Part, Reply

_MOST_NODES = 100  # of a subgraph, with the node in its middle


class ReachedPart(Part):
    """A node that a walk reached, with the ids of the edges that lead to it."""

    node: Annotated[NodePart, Key("node")]
    path: Annotated[list[str], Key("path")]
    depth: Annotated[int, Key("depth")]


class WalkReply(Reply):
    """The nodes that a walk reached, the nearest first."""

    one_channel = True
    large = True

    success: Annotated[bool, Key("ok")] = True
    start_node: Annotated[NodePart, Key("start")]
    results: Annotated[list[ReachedPart], Key("m")]
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of nodes that were reached."""
        return len(self.results)

    def choose(self, count: int) -> Self:
        """Return a copy with the nearest nodes."""
        dropped = len(self.results) - count
        return self.model_copy(update={"results": self.results[:count], "dropped": dropped or None})


class SubgraphReply(Reply):
    """The nodes around a node, the nearest first, with the edges that lead to them."""

    one_channel = True
    large = True

    success: Annotated[bool, Key("ok")] = True
    nodes: Annotated[list[NodePart], Key("nodes")]
    edges: Annotated[list[EdgePart], Key("edges")]
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    def choose(self, count: int) -> Self:
        """Return a copy with the nearest nodes and the edges between them."""
        nodes, dropped = self.nodes[:count], len(self.nodes) - count
        ids = {node.id for node in nodes}
        edges = [edge for edge in self.edges if {edge.from_id, edge.to_id} <= ids]
        return self.model_copy(update={"nodes": nodes, "edges": edges, "dropped": dropped or None})


@mind.tool(READS, WalkReply)
async def graph_traverse(
    call: Call,
    startNodeId: Id,
    direction: Literal["out", "in", "both"] = "out",
    maxDepth: Annotated[int, Field(ge=1, le=5)] = 2,
    edgeTypes: Annotated[list[KindName] | None, Field(max_length=100)] = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
) -> CallToolResult:
    """Follow valid edges from a node, the nearest nodes first."""
    walk = Walk(startNodeId, direction, maxDepth, edgeTypes, limit)
    rows, nodes = await WalkOperations(call.store).walk(walk, call.caller)
    start = nodes.get(UUID(startNodeId))
    unknown = NodePart(id=startNodeId.lower(), type="unknown", label="unknown")
    reply = WalkReply(
        start_node=NodePart.build(start) if start else unknown,
        results=[
            ReachedPart(
                node=NodePart.build(nodes[row.node_id]),
                path=[str(edge) for edge in row.path],
                depth=row.depth,
            )
            for row in rows
        ],
    )
    return call.recall("walk", reply)


@mind.tool(READS, SubgraphReply, FailureReply)
async def graph_subgraph(
    call: Call, nodeId: Id, depth: Annotated[int, Field(ge=1, le=3)] = 2
) -> CallToolResult:
    """Get the nodes around a node, at most 100, and the edges that lead to them."""
    walk = Walk(nodeId, "both", depth, None, _MOST_NODES - 1)
    rows, nodes = await WalkOperations(call.store).walk(walk, call.caller)
    if UUID(nodeId) not in nodes:
        return reply_failure(call, Refused.no_node(nodeId).message)
    ids = list(dict.fromkeys(edge for row in rows for edge in row.path))
    edges = await MindOperations(call.store).fetch_edges(ids, call.caller)
    reply = SubgraphReply(
        nodes=[NodePart.build(node) for node in nodes.values()],
        edges=[EdgePart.build(edge) for edge in edges],
    )
    return call.recall("walk", reply)


class MatchPart(Part):
    """A node that a search found, with its score from 0 to 1."""

    node: Annotated[NodePart, Key("node")]
    score: Annotated[float, Key("s")]


class MatchesReply(Reply):
    """Nodes that a search found, best first."""

    success: Annotated[bool, Key("ok")] = True
    results: Annotated[list[MatchPart], Key("m")]
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of results."""
        return len(self.results)

    def choose(self, count: int) -> Self:
        """Return a copy with the best results."""
        dropped = len(self.results) - count
        return self.model_copy(update={"results": self.results[:count], "dropped": dropped or None})


class NodesReply(Reply):
    """A page of nodes, last updated first. `total` is the number of nodes on all pages."""

    one_channel = True
    large = True

    success: Annotated[bool, Key("ok")] = True
    nodes: Annotated[list[NodePart], Key("nodes")]
    total: Annotated[int, Key("total")]
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    def choose(self, count: int) -> Self:
        """Return a copy with the first nodes."""
        dropped = len(self.nodes) - count
        return self.model_copy(update={"nodes": self.nodes[:count], "dropped": dropped or None})


@mind.tool(READS, MatchesReply)
async def graph_node_search(
    call: Call,
    query: Query,
    queryEmbedding: Embedding | None = None,
    type: KindName | None = None,
    minScore: Share = 0.3,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
) -> CallToolResult:
    """Find nodes by meaning and words. Example: {"query":"what calms her"}."""
    found = await WalkOperations(call.store).search(query, type, minScore, limit, call.caller)
    results = [
        MatchPart(node=NodePart.build(row), score=round(score, DIGITS)) for row, score in found
    ]
    return call.recall("search", MatchesReply(results=results))


@mind.tool(READS, NodesReply)
async def graph_node_list(
    call: Call,
    type: KindName | None = None,
    includeDeleted: bool = False,
    limit: Annotated[int, Field(ge=1, le=500)] = 100,
    offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0,
) -> CallToolResult:
    """List nodes, last updated first."""
    rows, total = await WalkOperations(call.store).list_page(
        type, limit, offset, call.caller, deleted=includeDeleted
    )
    return call.recall("list", NodesReply(nodes=[NodePart.build(row) for row in rows], total=total))


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
