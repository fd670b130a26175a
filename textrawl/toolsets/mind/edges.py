"""graph_edge_create, graph_edge_get, graph_edge_update, graph_edge_delete."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.failures import FailureReply, reply_failure
from textrawl.toolsets.mind.declaration import (
    NEVER,
    End,
    EndOrNever,
    Id,
    InstanceId,
    KindName,
    Moment,
    PastMoment,
    Properties,
    Share,
    Text,
    mind,
)
from textrawl.toolsets.mind.operations import MindOperations, Refused, write_fields
from textrawl.toolsets.mind.replies import DoneReply, EdgePart
from textrawl.toolsets.mind.walk_operations import Filter, WalkOperations
from textrawl.toolsets.toolset import DELETES, READS, WRITES
from textrawl.wire.replies import Key, Reply


class EdgeReply(Reply):
    """An edge that was created or changed."""

    success: Annotated[bool, Key("ok")] = True
    message: Annotated[str, Key("msg")]
    edge: Annotated[EdgePart, Key("edge")]


class EdgesReply(Reply):
    """Edges, the newest first. `more` is true if there are more edges than the limit."""

    one_channel = True
    large = True

    success: Annotated[bool, Key("ok")] = True
    edges: Annotated[list[EdgePart], Key("edges")]
    more: Annotated[bool | None, Key("more")] = None
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of edges."""
        return len(self.edges)

    def choose(self, count: int) -> Self:
        """Return a copy with the newest edges."""
        dropped = len(self.edges) - count
        return self.model_copy(update={"edges": self.edges[:count], "dropped": dropped or None})


@mind.tool(WRITES, EdgeReply, FailureReply)
async def graph_edge_create(
    call: Call,
    fromId: Id,
    toId: Id,
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
    fields = write_fields(
        properties=properties,
        strength=weight,
        evidence=evidence,
        occurred_at=occurredAt,
        valid_until=validUntil,
        instance=instanceId,
    )
    return await _connect(call, (fromId, toId), type, fields)


async def _connect(
    call: Call, ends: tuple[str, str], type: str, fields: dict[str, object]
) -> CallToolResult:
    outcome = await MindOperations(call.store).connect(ends, type, fields, call.caller)
    if isinstance(outcome, Refused):
        return reply_failure(call, outcome.message)
    row, stored = outcome
    parts = [EdgePart.build(edge) for edge in stored]
    part = parts[0] if parts else EdgePart(id=str(row.edge_id), type=type)
    return call.reply(EdgeReply(message=f"{'Created' if row.created else 'Found'} edge", edge=part))


@mind.tool(READS, EdgesReply, FailureReply)
async def graph_edge_get(
    call: Call,
    id: Id | None = None,
    fromId: Id | None = None,
    toId: Id | None = None,
    type: KindName | None = None,
    includeDeleted: bool = False,
    onlyValid: Annotated[bool, Field(description="leave out edges that ended")] = False,
    limit: Annotated[int, Field(ge=1, le=500)] = 100,
) -> CallToolResult:
    """Get edges by their id, or by ends and type, the newest first."""
    if id is not None:
        found = await MindOperations(call.store).fetch_edges(
            [id], call.caller, deleted=includeDeleted
        )
        if not found:
            return reply_failure(call, Refused.no_edge(id).message)
        return call.recall("edge", EdgesReply(edges=[EdgePart.build(row) for row in found]))
    wanted = Filter(fromId, toId, type, includeDeleted, onlyValid)
    rows = await WalkOperations(call.store).find_edges(wanted, limit + 1, call.caller)
    parts = [EdgePart.build(row) for row in rows[:limit]]
    return call.recall("edge", EdgesReply(edges=parts, more=len(rows) > limit or None))


@mind.tool(WRITES, EdgeReply, DoneReply, FailureReply)
async def graph_edge_update(
    call: Call,
    id: Id,
    properties: Annotated[Properties | None, Field(description="replace all")] = None,
    weight: Share | None = None,
    evidence: Text | None = None,
    occurredAt: Moment | None = None,
    validUntil: Annotated[EndOrNever | None, Field(description="never: no end")] = None,
    lastConfirmedAt: PastMoment | None = None,
    instanceId: InstanceId | None = None,
) -> CallToolResult:
    """Change values of an edge. Values that are not given stay."""
    fields = write_fields(
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
    return await _update(call, id, fields)


async def _update(call: Call, edge: str, fields: dict[str, object]) -> CallToolResult:
    rows = await MindOperations(call.store).update_edge(edge, fields, call.caller)
    if isinstance(rows, Refused):
        return reply_failure(call, rows.message)
    if not rows:
        return call.reply(DoneReply(message=f"Updated edge: {edge}"))
    return call.reply(EdgeReply(message="Updated edge", edge=EdgePart.build(rows[0])))


@mind.tool(DELETES, DoneReply, FailureReply)
async def graph_edge_delete(call: Call, id: Id) -> CallToolResult:
    """Delete an edge. It stays as history."""
    row = await MindOperations(call.store).delete_edge(id, call.caller)
    if isinstance(row, Refused):
        return reply_failure(call, row.message)
    return call.reply(DoneReply(message="Deleted edge"))
