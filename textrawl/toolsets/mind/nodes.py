"""graph_node_create, graph_node_get, graph_node_update, graph_node_delete."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.failures import FailureReply, reply_failure
from textrawl.toolsets.mind.declaration import (
    Embedding,
    Id,
    InstanceId,
    KindName,
    Label,
    PastMoment,
    Properties,
    Share,
    Text,
    mind,
)
from textrawl.toolsets.mind.operations import MindOperations, Node, Refused, write_fields
from textrawl.toolsets.mind.replies import DoneReply, NodePart, NodeReply
from textrawl.toolsets.toolset import DELETES, READS, WRITES


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
    node = Node(type, label, description, confidence, properties, sourceMemoryId, firstLearnedAt)
    written = await MindOperations(call.store).write([node], [], instanceId, call.caller)
    [row] = written.rows
    message = f"{'Created' if row.created else 'Found'} node: {label}"
    stored = written.nodes.get(row.id) if row.id else None
    part = NodePart.build(stored) if stored else NodePart(id=str(row.id), type=type, label=label)
    return call.reply(NodeReply(message=message, node=part))


@mind.tool(READS, NodeReply, FailureReply)
async def graph_node_get(call: Call, id: Id) -> CallToolResult:
    """Get a node by its id."""
    rows = await MindOperations(call.store).fetch([id], call.caller)
    if not rows:
        return reply_failure(call, Refused.no_node(id).message)
    return call.recall("node", NodeReply(node=NodePart.build(rows[0])))


@mind.tool(WRITES, NodeReply, DoneReply, FailureReply)
async def graph_node_update(
    call: Call,
    id: Id,
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
    fields = write_fields(
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
    return await _update(call, id, fields)


async def _update(call: Call, node: str, fields: dict[str, object]) -> CallToolResult:
    rows = await MindOperations(call.store).update(node, fields, call.caller)
    if isinstance(rows, Refused):
        return reply_failure(call, rows.message)
    if not rows:
        return call.reply(DoneReply(message=f"Updated node: {node}"))
    return call.reply(NodeReply(message="Updated node", node=NodePart.build(rows[0])))


@mind.tool(DELETES, DoneReply, FailureReply)
async def graph_node_delete(
    call: Call,
    id: Id,
    permanent: Annotated[bool, Field(description="forget the node; undo cannot revive it")] = False,
) -> CallToolResult:
    """Delete a node with its facts and edges. They stay as history unless permanent is true."""
    row = await MindOperations(call.store).delete(id, call.caller, permanent=permanent)
    if isinstance(row, Refused):
        return reply_failure(call, row.message)
    message = f"Deleted node with {row.facts} facts and {row.edges} edges"
    return call.reply(DoneReply(message=message))
