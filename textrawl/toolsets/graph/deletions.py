"""delete_entities, delete_observations, delete_relations: the tools that delete for good."""

from collections.abc import Sequence
from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid, EntityNotFound
from textrawl.toolsets.call import Call
from textrawl.toolsets.graph.declaration import (
    MOST_ITEMS,
    Deletion,
    Name,
    OptionalName,
    Relations,
    graph,
    group_by_entity,
)
from textrawl.toolsets.graph.operations import EntityObservations, GraphOperations
from textrawl.toolsets.graph.replies import DoneReply, EntityReply, NodePart, reply_plainly
from textrawl.toolsets.toolset import DELETES

_MOST_NAMED = 20  # the most missing entities that a message names. A call can name a thousand.


def _write_message(kind: str, deleted: int, requested: int, missing: Sequence[str]) -> DoneReply:
    message = f"{kind} deleted successfully"
    if deleted != requested:
        message = f"Deleted {deleted} of {requested} {kind.lower()}"
    if missing:
        names, more = ", ".join(missing[:_MOST_NAMED]), len(missing) - _MOST_NAMED
        message += f". Entity not found: {names}" + (f", and {more} more" if more > 0 else "")
    return DoneReply(message=message)


@graph.tool(DELETES, DoneReply)
async def delete_entities(
    call: Call, entityNames: Annotated[list[Name], Field(max_length=MOST_ITEMS)]
) -> CallToolResult:
    """Delete entities for good, with their observations and relations.

    Example: {"entityNames":["Old project"]}.
    """
    rows = await GraphOperations(call.store).delete_nodes(entityNames, call.caller)
    missing = [row.name for row in rows if not row.deleted]
    deleted = len(rows) - len(missing)
    return reply_plainly(call, _write_message("Entities", deleted, len(rows), missing))


@graph.tool(DELETES, DoneReply, EntityReply)
async def delete_observations(
    call: Call,
    deletions: Annotated[list[Deletion] | None, Field(max_length=MOST_ITEMS)] = None,
    name: Annotated[OptionalName, Field(description="entity, with observations")] = "",
    observations: Annotated[list[Deletion] | None, Field(max_length=MOST_ITEMS)] = None,
) -> CallToolResult:
    """Delete observations for good, by their exact text.

    Example: {"deletions":[{"entityName":"Ada","observations":["prefers tea"]}]}.
    """
    items = [
        EntityObservations(item.entityName, item.observations)
        for item in (*(deletions or []), *(observations or []))
    ]
    groups, single = group_by_entity(name, items)
    if (deletions is None and observations is None) or not all(one.entity for one in groups):
        raise ArgumentInvalid(
            "deletions: give entityName and observations", title="Missing deletions"
        )
    rows = await GraphOperations(call.store).delete_observations(groups, call.caller)
    row = rows[0] if single else None
    if row is not None and row.observations is None:
        raise EntityNotFound(name)
    if row is not None and row.observations is not None and row.entity_type is not None:
        node = NodePart(name=row.name, entity_type=row.entity_type, observations=row.observations)
        return call.reply(EntityReply(entity=node))
    missing = [row.name for row in rows if row.observations is None]
    requested = sum(len(group.observations) for group in groups)
    deleted = sum(row.deleted for row in rows)
    return reply_plainly(call, _write_message("Observations", deleted, requested, missing))


@graph.tool(DELETES, DoneReply)
async def delete_relations(call: Call, relations: Relations) -> CallToolResult:
    """Delete relations for good.

    Example: {"relations":[{"from":"Ada","to":"Acme Corp","relationType":"works_at"}]}.
    """
    rows = await GraphOperations(call.store).delete_edges(
        [item.read() for item in relations], call.caller
    )
    missing = list(dict.fromkeys(name for row in rows for name in row.missing))
    deleted = sum(row.deleted for row in rows)
    return reply_plainly(call, _write_message("Relations", deleted, len(rows), missing))
