"""graph_write_transaction: nodes and edges in one transaction."""

from typing import Annotated, Self
from uuid import UUID

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.mind.declaration import MOST_ITEMS, EdgeItem, InstanceId, NodeItem, mind
from textrawl.toolsets.mind.operations import Edge, MindOperations, Node, Written
from textrawl.toolsets.mind.replies import EdgePart, NodePart
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, Reply


class TransactionReply(Reply):
    """The nodes and edges of a transaction. The last edges are left out first, then nodes."""

    success: Annotated[bool, Key("ok")] = True
    message: Annotated[str, Key("msg")]
    nodes_created: Annotated[int, Key("nodesNew")]
    nodes_reused: Annotated[int, Key("nodesOld")]
    edges_created: Annotated[int, Key("edgesNew")]
    edges_skipped: Annotated[int, Key("skipped")]
    nodes: Annotated[list[NodePart], Key("nodes")]
    edges: Annotated[list[EdgePart], Key("edges")]
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of nodes and edges."""
        return len(self.nodes) + len(self.edges)

    def choose(self, count: int) -> Self:
        """Return a copy with the first nodes, then the first edges."""
        nodes, edges = self.nodes[:count], self.edges[: max(0, count - len(self.nodes))]
        dropped = self.size() - len(nodes) - len(edges)
        return self.model_copy(update={"nodes": nodes, "edges": edges, "dropped": dropped or None})


@mind.tool(WRITES, TransactionReply)
async def graph_write_transaction(
    call: Call,
    nodes: Annotated[list[NodeItem] | None, Field(max_length=MOST_ITEMS)] = None,
    edges: Annotated[list[EdgeItem] | None, Field(max_length=MOST_ITEMS)] = None,
    instanceId: InstanceId | None = None,
) -> CallToolResult:
    """Create nodes and edges at once, all or none.

    Edges name labels of this call, or of existing nodes. Example: {"nodes":[{"type":"person",
    "label":"Ada"}],"edges":[{"fromLabel":"Ada","toLabel":"tea","type":"loves"}]}.
    """
    written = await MindOperations(call.store).write(
        [_read_node(node) for node in nodes or ()],
        [_read_edge(edge) for edge in edges or ()],
        instanceId,
        call.caller,
    )
    return call.reply(_build(written, nodes or [], edges or []))


def _read_node(item: NodeItem) -> Node:
    return Node(
        item.type,
        item.label,
        item.description,
        item.confidence,
        item.properties,
        item.sourceMemoryId,
        item.firstLearnedAt,
    )


def _read_edge(item: EdgeItem) -> Edge:
    return Edge(
        item.fromLabel,
        item.toLabel,
        item.type,
        item.weight,
        item.evidence,
        item.properties,
        item.occurredAt,
        item.validUntil,
    )


def _build(written: Written, nodes: list[NodeItem], edges: list[EdgeItem]) -> TransactionReply:
    node_rows, edge_rows = written.list_rows("node"), written.list_rows("edge")
    new_nodes = sum(row.created for row in node_rows)
    new_edges = sum(row.created for row in edge_rows)
    skipped = sum(row.id is None for row in edge_rows)
    message = f"Created {new_nodes} nodes and {new_edges} edges"
    if reused := len(node_rows) - new_nodes:
        message += f"; {reused} nodes existed"
    if skipped:
        message += f"; skipped {skipped} edges, because an end is missing"
    shown_nodes = {row.id: _node(row.id, written, nodes[row.place - 1]) for row in node_rows}
    shown_edges = {row.id: _edge(row.id, written, edges[row.place - 1]) for row in edge_rows}
    return TransactionReply(
        message=message,
        nodes_created=new_nodes,
        nodes_reused=reused,
        edges_created=new_edges,
        edges_skipped=skipped,
        nodes=list(shown_nodes.values()),
        edges=[edge for id, edge in shown_edges.items() if id is not None],
    )


def _node(id: UUID | None, written: Written, item: NodeItem) -> NodePart:
    stored = written.nodes.get(id) if id else None
    if stored is not None:
        return NodePart.build(stored)
    return NodePart(id=str(id), type=item.type, label=item.label)


def _edge(id: UUID | None, written: Written, item: EdgeItem) -> EdgePart:
    stored = written.edges.get(id) if id else None
    return EdgePart.build(stored) if stored is not None else EdgePart(id=str(id), type=item.type)
