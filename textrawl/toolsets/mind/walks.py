"""graph_traverse, graph_subgraph."""

from typing import Annotated, Literal, Self
from uuid import UUID

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.failures import FailureReply, reply_failure
from textrawl.toolsets.mind.declaration import Id, KindName, mind
from textrawl.toolsets.mind.operations import MindOperations, Refused
from textrawl.toolsets.mind.replies import EdgePart, NodePart
from textrawl.toolsets.mind.walk_operations import Walk, WalkOperations
from textrawl.toolsets.toolset import READS
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
