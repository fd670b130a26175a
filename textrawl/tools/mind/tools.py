"""The tools of the `mind` toolset, which store, change, search and walk nodes and edges."""

import json
from datetime import datetime, time
from functools import partial
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from mcp.types import CallToolResult
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
)

from textrawl.memory import mind as mind_graph
from textrawl.memory.mind import EdgePart, NodePart
from textrawl.tools.call import Call, FailureReply
from textrawl.tools.toolset import (
    CLEAN_FACT,
    CLEAN_NAME,
    DELETES,
    READS,
    WRITES,
    Share,
    Toolset,
    read_time,
)
from textrawl.values.names import check_id
from textrawl.values.text import FACT_LENGTH, NAME_LENGTH, QUERY_LENGTH
from textrawl.values.times import read_instant, read_past_instant
from textrawl.wire.columns import UuidText
from textrawl.wire.replies import Key, Part, SuccessReply

mind = Toolset(
    "mind", "A knowledge graph of nodes and edges with confidence, evidence and properties."
)

TYPE_LENGTH = 100
NEVER = "never"
MOST_ITEMS = 200


def _read_end(text: str) -> datetime | str:
    return NEVER if text.strip().lower() == NEVER else read_instant(text)


Query = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=QUERY_LENGTH)]
Label = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=NAME_LENGTH)]
KindName = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=TYPE_LENGTH)]
InstanceId = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=NAME_LENGTH)]
Text = Annotated[str, CLEAN_FACT, Field(min_length=1, max_length=FACT_LENGTH)]
Properties = Annotated[dict[str, Any], AfterValidator(mind_graph.clean_properties)]
_TEXT = WithJsonSchema({"type": "string"})
Moment = Annotated[datetime, read_time(lambda text: read_instant(text, time.min)), _TEXT]
PastMoment = Annotated[datetime, read_time(read_past_instant), _TEXT]
"""`Moment` and `PastMoment` read a date as the beginning of the day, `End` as its end."""
End = Annotated[datetime, read_time(read_instant), _TEXT]
EndOrNever = Annotated[datetime | Literal["never"], read_time(_read_end), _TEXT]
Embedding = Annotated[
    list[float], Field(max_length=10_000, description="ignored: textrawl embeds descriptions")
]
NodeId = Annotated[str, CLEAN_NAME, AfterValidator(partial(check_id, kind="node"))]
EdgeId = Annotated[str, CLEAN_NAME, AfterValidator(partial(check_id, kind="edge"))]


class Item(BaseModel):
    """An item of graph_write_transaction. It is written with the names of the SQL function."""

    model_config = ConfigDict(extra="forbid")

    def write(self) -> dict[str, Any]:
        """Return the values that were given, as the SQL function takes them."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class NodeItem(Item):
    """A node to create."""

    type: KindName
    label: Label
    description: Text | None = None
    properties: Properties | None = None
    confidence: Share | None = None
    memory: Annotated[InstanceId | None, Field(validation_alias="sourceMemoryId")] = None
    first_learned_at: Annotated[PastMoment | None, Field(validation_alias="firstLearnedAt")] = None
    embedding: Annotated[Embedding | None, Field(exclude=True)] = None


class EdgeItem(Item):
    """An edge to create between two nodes, which are given by their labels."""

    source: Annotated[Label, Field(validation_alias="fromLabel", serialization_alias="from")]
    target: Annotated[Label, Field(validation_alias="toLabel", serialization_alias="to")]
    type: KindName
    weight: Annotated[Share | None, Field(serialization_alias="strength")] = None
    evidence: Text | None = None
    properties: Properties | None = None
    occurred_at: Annotated[Moment | None, Field(validation_alias="occurredAt")] = None
    valid_until: Annotated[End | None, Field(validation_alias="validUntil")] = None


class NodeReply(SuccessReply):
    """A node that was found, created or changed."""

    message: Annotated[str | None, Key("msg")] = None
    node: Annotated[NodePart, Key("node")]


class ChangeReply(SuccessReply):
    """A change, for callers that cannot read the space, or a deletion."""

    message: Annotated[str, Key("msg")]


@mind.tool(WRITES, NodeReply)
async def graph_node_create(
    call: Call,
    type: KindName,
    label: Label,
    description: Text | None = None,
    properties: Properties | None = None,
    instanceId: InstanceId | None = None,
    confidence: Annotated[Share | None, Field(json_schema_extra={"default": 0.5})] = None,
    sourceMemoryId: InstanceId | None = None,
    firstLearnedAt: PastMoment | None = None,
    embedding: Embedding | None = None,
) -> CallToolResult:
    """Create a node, or return the node with this label and type.

    Example: {"type":"person","label":"Ada"}.
    """
    node = mind_graph.write_fields(
        type=type,
        label=label,
        description=description,
        confidence=confidence,
        properties=properties,
        memory=sourceMemoryId,
        first_learned_at=firstLearnedAt,
    )
    written = await mind_graph.write_graph(call, [node], [], instanceId)
    [row] = written.rows
    message = f"{'Created' if row.created else 'Found'} node: {label}"
    part = written.nodes.get(str(row.id)) or NodePart(id=str(row.id), type=type, label=label)
    return call.reply(NodeReply(message=message, node=part))


@mind.tool(READS, NodeReply, FailureReply)
async def graph_node_get(call: Call, id: NodeId) -> CallToolResult:
    """Get a node by its id."""
    rows = await mind_graph.fetch_nodes(call, [id])
    if not rows:
        raise mind_graph.refuse_node(id)
    return call.recall("node", NodeReply(node=rows[0]))


@mind.tool(WRITES, NodeReply, ChangeReply, FailureReply)
async def graph_node_update(
    call: Call,
    id: NodeId,
    type: KindName | None = None,
    label: Label | None = None,
    description: Text | None = None,
    properties: Annotated[Properties | None, Field(description="replace all")] = None,
    instanceId: InstanceId | None = None,
    confidence: Share | None = None,
    sourceMemoryId: InstanceId | None = None,
    firstLearnedAt: PastMoment | None = None,
    lastConfirmedAt: PastMoment | None = None,
    embedding: Embedding | None = None,
) -> CallToolResult:
    """Change values of a node. Values that are not given stay."""
    fields = mind_graph.write_fields(
        type=type,
        label=label,
        description=description,
        properties=properties,
        instance=instanceId,
        confidence=confidence,
        memory=sourceMemoryId,
        first_learned_at=firstLearnedAt,
        last_confirmed_at=lastConfirmedAt,
    )
    rows = await mind_graph.update_node(call, id, fields)
    if not rows:
        return call.reply(ChangeReply(message=f"Updated node: {id}"))
    return call.reply(NodeReply(message="Updated node", node=rows[0]))


@mind.tool(DELETES, ChangeReply, FailureReply)
async def graph_node_delete(
    call: Call,
    id: NodeId,
    permanent: Annotated[bool, Field(description="forget the node; undo cannot revive it")] = False,
) -> CallToolResult:
    """Delete a node with its facts and edges. They stay as history unless permanent is true."""
    row = await mind_graph.change_graph(
        call, "delete_node", mind_graph.DeletedRow, node=id, permanent=permanent
    )
    message = f"Deleted node with {row.facts} facts and {row.edges} edges"
    return call.reply(ChangeReply(message=message))


class MatchesReply(SuccessReply):
    """Nodes that a search found, best first."""

    items = ("results",)

    results: Annotated[list[mind_graph.MatchPart], Key("m")]
    dropped: Annotated[int | None, Key("cut")] = None


class NodesReply(SuccessReply):
    """A page of nodes, last updated first. `total` is the number of nodes on all pages."""

    items = ("nodes",)
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
    found = await mind_graph.search_nodes(call, query, type, minScore, limit)
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
    rows = await call.read(
        "list_nodes",
        mind_graph.ListedNodeRow,
        type=type,
        deleted=includeDeleted,
        max_rows=limit,
        skip=offset,
    )
    ids = [row.node_id for row in rows]
    nodes = await mind_graph.fetch_nodes(call, ids, deleted=includeDeleted)
    return call.recall("list", NodesReply(nodes=nodes, total=rows[0].total if rows else 0))


class EdgeReply(SuccessReply):
    """An edge that was created or changed."""

    message: Annotated[str, Key("msg")]
    edge: Annotated[EdgePart, Key("edge")]


class EdgesReply(SuccessReply):
    """Edges, the newest first. `more` is true if there are more edges than the limit."""

    items = ("edges",)
    one_channel = True
    large = True

    edges: Annotated[list[EdgePart], Key("edges")]
    more: Annotated[bool | None, Key("more")] = None
    dropped: Annotated[int | None, Key("cut")] = None


@mind.tool(WRITES, EdgeReply, FailureReply)
async def graph_edge_create(
    call: Call,
    fromId: NodeId,
    toId: NodeId,
    type: KindName,
    properties: Properties | None = None,
    weight: Annotated[Share | None, Field(json_schema_extra={"default": 0.5})] = None,
    evidence: Text | None = None,
    occurredAt: Moment | None = None,
    validUntil: End | None = None,
    instanceId: InstanceId | None = None,
) -> CallToolResult:
    """Connect two nodes. If the edge exists, confirm it with the larger weight.

    Types: feels_about, close_to, loves, helps_with, or any other.
    """
    fields = mind_graph.write_fields(
        properties=properties,
        strength=weight,
        evidence=evidence,
        occurred_at=occurredAt,
        valid_until=validUntil,
        instance=instanceId,
    )
    ends = {"from_node": fromId, "to_node": toId}
    row = await mind_graph.change_graph(
        call, "write_edge", mind_graph.ConnectedRow, type=type, fields=json.dumps(fields), **ends
    )
    stored = await mind_graph.fetch_edges(call, [row.edge_id]) if row.readable else None
    part = stored[0] if stored else EdgePart(id=str(row.edge_id), type=type)
    return call.reply(EdgeReply(message=f"{'Created' if row.created else 'Found'} edge", edge=part))


@mind.tool(READS, EdgesReply, FailureReply)
async def graph_edge_get(
    call: Call,
    id: EdgeId | None = None,
    fromId: NodeId | None = None,
    toId: NodeId | None = None,
    type: KindName | None = None,
    includeDeleted: bool = False,
    onlyValid: Annotated[bool, Field(description="leave out edges that ended")] = False,
    limit: Annotated[int, Field(ge=1, le=500)] = 100,
) -> CallToolResult:
    """Get edges by their id, or by ends and type, the newest first."""
    if id is not None:
        found = await mind_graph.fetch_edges(call, [id], deleted=includeDeleted)
        if not found:
            raise mind_graph.refuse_edge(id)
        return call.recall("edge", EdgesReply(edges=found))
    ids = await call.read(
        "find_edges",
        UUID,
        from_node=fromId,
        to_node=toId,
        type=type,
        deleted=includeDeleted,
        only_valid=onlyValid,
        max_rows=limit + 1,
    )
    edges = await mind_graph.fetch_edges(call, ids[:limit], deleted=includeDeleted)
    reply = EdgesReply(edges=edges, more=len(ids) > limit or None)
    return call.recall("edge", reply)


@mind.tool(WRITES, EdgeReply, ChangeReply, FailureReply)
async def graph_edge_update(
    call: Call,
    id: EdgeId,
    properties: Annotated[Properties | None, Field(description="replace all")] = None,
    weight: Share | None = None,
    evidence: Text | None = None,
    occurredAt: Moment | None = None,
    validUntil: Annotated[EndOrNever | None, Field(description="never: no end")] = None,
    lastConfirmedAt: PastMoment | None = None,
    instanceId: InstanceId | None = None,
) -> CallToolResult:
    """Change values of an edge. Values that are not given stay."""
    fields = mind_graph.write_fields(
        properties=properties,
        strength=weight,
        evidence=evidence,
        occurred_at=occurredAt,
        valid_until=validUntil,
        last_confirmed_at=lastConfirmedAt,
        instance=instanceId,
    )
    if validUntil == NEVER:
        fields["valid_until"] = None
    changes = json.dumps(fields)
    readable = await mind_graph.change_graph(call, "update_edge", bool, edge=id, fields=changes)
    edges = await mind_graph.fetch_edges(call, [id]) if readable else []
    if not edges:  # also if another client has just deleted it
        return call.reply(ChangeReply(message=f"Updated edge: {id}"))
    return call.reply(EdgeReply(message="Updated edge", edge=edges[0]))


@mind.tool(DELETES, ChangeReply, FailureReply)
async def graph_edge_delete(call: Call, id: EdgeId) -> CallToolResult:
    """Delete an edge. It stays as history."""
    await mind_graph.change_graph(call, "delete_edge", UUID, edge=id)
    return call.reply(ChangeReply(message="Deleted edge"))


_MOST_NODES = 100  # of a subgraph, with the node in its middle


class WalkReply(SuccessReply):
    """The nodes that a walk reached, the nearest first."""

    items = ("results",)
    one_channel = True
    large = True

    start_node: Annotated[NodePart, Key("start")]
    results: Annotated[list[mind_graph.ReachedPart], Key("m")]
    dropped: Annotated[int | None, Key("cut")] = None


class SubgraphReply(SuccessReply):
    """The nodes around a node, the nearest first, with the edges that lead to them."""

    items = ("nodes",)
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
    reached, nodes = await mind_graph.walk_graph(
        call,
        start,
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
    reached, nodes = await mind_graph.walk_graph(
        call, nodeId, direction="both", max_depth=depth, max_rows=_MOST_NODES - 1
    )
    if nodeId.lower() not in nodes:
        raise mind_graph.refuse_node(nodeId)
    ids = list(dict.fromkeys(edge for part in reached for edge in part.path))
    edges = await mind_graph.fetch_edges(call, ids)
    return call.recall("walk", SubgraphReply(nodes=list(nodes.values()), edges=edges))


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

    items = ("insights",)

    insights: Annotated[list[InsightPart], Key("m")]
    dropped: Annotated[int | None, Key("cut")] = None


class GraphStatsReply(mind_graph.GraphCounts, SuccessReply):
    """The counts of the graph, and whether searches compare vectors."""

    vector_search_available: Annotated[bool, Key("vec")]


@mind.tool(READS, InsightsReply)
async def graph_insights(call: Call) -> CallToolResult:
    """Find nodes with many edges (bridges) and types with many nodes (clusters)."""
    found = await call.read("graph_insights", InsightPart)
    return call.recall("insights", InsightsReply(insights=found))


@mind.tool(READS, GraphStatsReply)
async def graph_stats(call: Call) -> CallToolResult:
    """Count nodes and valid edges by type."""
    [counts] = await call.read("graph_statistics", mind_graph.GraphCounts)
    available = await mind_graph.has_vectors(call.store)
    return call.recall("stats", GraphStatsReply(**dict(counts), vector_search_available=available))


class TransactionReply(SuccessReply):
    """The nodes and edges of a transaction. The last edges are left out first, then nodes."""

    items = ("nodes", "edges")

    message: Annotated[str, Key("msg")]
    nodes_created: Annotated[int, Key("nodesNew")]
    nodes_reused: Annotated[int, Key("nodesOld")]
    edges_created: Annotated[int, Key("edgesNew")]
    edges_skipped: Annotated[int, Key("skipped")]
    nodes: Annotated[list[NodePart], Key("nodes")]
    edges: Annotated[list[EdgePart], Key("edges")]
    dropped: Annotated[int | None, Key("cut")] = None


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
    written = await mind_graph.write_graph(
        call,
        [node.write() for node in nodes or ()],
        [edge.write() for edge in edges or ()],
        instanceId,
    )
    return call.reply(_build(written, nodes or [], edges or []))


def _build(
    written: mind_graph.WrittenGraph, nodes: list[NodeItem], edges: list[EdgeItem]
) -> TransactionReply:
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


def _node(id: UUID | None, written: mind_graph.WrittenGraph, item: NodeItem) -> NodePart:
    return written.nodes.get(str(id)) or NodePart(id=str(id), type=item.type, label=item.label)


def _edge(id: UUID | None, written: mind_graph.WrittenGraph, item: EdgeItem) -> EdgePart:
    return written.edges.get(str(id)) or EdgePart(id=str(id), type=item.type)
