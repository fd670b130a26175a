"""Tools that search and walk the graph."""

from typing import Annotated, Literal, Self

from mcp.types import CallToolResult
from pydantic import AfterValidator, Field, ValidationInfo

from textrawl.memory.mind import (
    EdgePart,
    GraphCounts,
    MatchPart,
    MindOperations,
    NodePart,
    ReachedPart,
    Refused,
    WalkOperations,
)
from textrawl.tools.call import Call, FailureReply, reply_failure
from textrawl.tools.mind.declaration import (
    Embedding,
    KindName,
    NodeId,
    Query,
    Share,
    mind,
)
from textrawl.tools.toolset import READS
from textrawl.wire.columns import UuidText
from textrawl.wire.replies import Key, Part, SuccessReply

_MOST_NODES = 100  # of a subgraph, with the node in its middle


class WalkReply(SuccessReply):
    """The nodes that a walk reached, the nearest first."""

    items = "results"
    one_channel = True
    large = True

    start_node: Annotated[NodePart, Key("start")]
    results: Annotated[list[ReachedPart], Key("m")]
    dropped: Annotated[int | None, Key("cut")] = None


class SubgraphReply(SuccessReply):
    """The nodes around a node, the nearest first, with the edges that lead to them."""

    items = "nodes"
    one_channel = True
    large = True

    nodes: Annotated[list[NodePart], Key("nodes")]
    edges: Annotated[list[EdgePart], Key("edges")]
    dropped: Annotated[int | None, Key("cut")] = None

    def choose(self, count: int) -> Self:
        """Return a copy with the nearest nodes and the edges between them."""
        ids = {node.id for node in self.nodes[:count]}
        edges = [edge for edge in self.edges if {edge.from_id, edge.to_id} <= ids]
        return super().choose(count).model_copy(update={"edges": edges})


@mind.tool(READS, WalkReply)
async def graph_traverse(
    call: Call,
    startNodeId: NodeId,
    direction: Literal["out", "in", "both"] = "out",
    maxDepth: Annotated[int, Field(ge=1, le=5)] = 2,
    edgeTypes: Annotated[list[KindName] | None, Field(max_length=100)] = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
) -> CallToolResult:
    """Follow valid edges from a node, the nearest nodes first."""
    start = startNodeId.lower()
    reached, nodes = await WalkOperations(call.store).walk(
        start,
        call.caller,
        direction=direction,
        max_depth=maxDepth,
        types=edgeTypes or None,
        max_rows=limit,
    )
    unknown = NodePart(id=start, type="unknown", label="unknown")
    reply = WalkReply(start_node=nodes.get(start, unknown), results=reached)
    return call.recall("walk", reply)


@mind.tool(READS, SubgraphReply, FailureReply)
async def graph_subgraph(
    call: Call, nodeId: NodeId, depth: Annotated[int, Field(ge=1, le=3)] = 2
) -> CallToolResult:
    """Get the nodes around a node, at most 100, and the edges that lead to them."""
    reached, nodes = await WalkOperations(call.store).walk(
        nodeId, call.caller, direction="both", max_depth=depth, max_rows=_MOST_NODES - 1
    )
    if nodeId.lower() not in nodes:
        return reply_failure(call, Refused.no_node(nodeId).message)
    ids = list(dict.fromkeys(edge for part in reached for edge in part.path))
    edges = await MindOperations(call.store).fetch_edges(ids, call.caller)
    return call.recall("walk", SubgraphReply(nodes=list(nodes.values()), edges=edges))


class MatchesReply(SuccessReply):
    """Nodes that a search found, best first."""

    items = "results"

    results: Annotated[list[MatchPart], Key("m")]
    dropped: Annotated[int | None, Key("cut")] = None


class NodesReply(SuccessReply):
    """A page of nodes, last updated first. `total` is the number of nodes on all pages."""

    items = "nodes"
    one_channel = True
    large = True

    nodes: Annotated[list[NodePart], Key("nodes")]
    total: Annotated[int, Key("total")]
    dropped: Annotated[int | None, Key("cut")] = None


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
    return call.recall("search", MatchesReply(results=found))


@mind.tool(READS, NodesReply)
async def graph_node_list(
    call: Call,
    type: KindName | None = None,
    includeDeleted: bool = False,
    limit: Annotated[int, Field(ge=1, le=500)] = 100,
    offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0,
) -> CallToolResult:
    """List nodes, last updated first."""
    nodes, total = await WalkOperations(call.store).list_page(
        type, limit, offset, call.caller, deleted=includeDeleted
    )
    return call.recall("list", NodesReply(nodes=nodes, total=total))


def _describe(title: str, found: ValidationInfo) -> str:
    """Return an insight in words."""
    count = found.data["count"]
    bridge = found.data["type"] == "bridge"
    return f"{title} has {count} edges" if bridge else f"{count} nodes of type {title}"


class InsightPart(Part):
    """A bridge, which is a node with many edges, or a cluster of nodes of one type."""

    type: Annotated[str, Key("t"), Field(validation_alias="kind")]
    count: Annotated[int, Field(exclude=True)]
    description: Annotated[
        str, Key("d"), AfterValidator(_describe), Field(validation_alias="title")
    ]
    node_ids: Annotated[list[UuidText], Key("nodes")]
    edge_ids: Annotated[list[UuidText], Key("edges")]
    confidence: Annotated[float, Key("conf")]


class InsightsReply(SuccessReply):
    """Bridges, then clusters, the largest first."""

    items = "insights"

    insights: Annotated[list[InsightPart], Key("m")]
    dropped: Annotated[int | None, Key("cut")] = None


class StatsReply(GraphCounts, SuccessReply):
    """The counts of the graph, and whether searches compare vectors."""

    vector_search_available: Annotated[bool, Key("vec")]


@mind.tool(READS, InsightsReply)
async def graph_insights(call: Call) -> CallToolResult:
    """Find nodes with many edges (bridges) and types with many nodes (clusters)."""
    found = await call.store.call("graph_insights", InsightPart, **call.caller.reading_home)
    return call.recall("insights", InsightsReply(insights=found))


@mind.tool(READS, StatsReply)
async def graph_stats(call: Call) -> CallToolResult:
    """Count nodes and valid edges by type."""
    [counts] = await call.store.call("graph_statistics", GraphCounts, **call.caller.reading_home)
    available = await WalkOperations(call.store).has_vectors()
    return call.recall("stats", StatsReply(**dict(counts), vector_search_available=available))
