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
    gather,
    graph,
)
from textrawl.toolsets.graph.operations import Graph, Said
from textrawl.toolsets.graph.replies import DoneReply, EntityReply, NodePart, say_plainly
from textrawl.toolsets.toolset import DELETES

_MOST_NAMED = 20  # entities that are not there: a thousand names would be no sentence


def _tell(what: str, done: int, asked: int, missing: Sequence[str]) -> DoneReply:
    told = f"{what} deleted successfully"
    if done != asked:
        told = f"Deleted {done} of {asked} {what.lower()}"
    if missing:
        named, more = ", ".join(missing[:_MOST_NAMED]), len(missing) - _MOST_NAMED
        told += f". Entity not found: {named}" + (f", and {more} more" if more > 0 else "")
    return DoneReply(message=told)


@graph.tool(DELETES, DoneReply)
async def delete_entities(
    call: Call, entityNames: Annotated[list[Name], Field(max_length=MOST_ITEMS)]
) -> CallToolResult:
    """Delete entities for good, with their observations and relations.

    Example: {"entityNames":["Old project"]}.
    """
    rows = await Graph(call.store).delete_nodes(entityNames, call.caller)
    missing = [row.name for row in rows if not row.deleted]
    return say_plainly(call, _tell("Entities", len(rows) - len(missing), len(rows), missing))


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
    items = [*(deletions or []), *(observations or [])]
    said, single = gather(name, [Said(item.entityName, item.observations) for item in items])
    if (deletions is None and observations is None) or not all(one.entity for one in said):
        raise ArgumentInvalid("deletions: entityName and observations", title="Missing deletions")
    rows = await Graph(call.store).delete_observations(said, call.caller)
    row = rows[0] if single else None
    if row is not None and row.observations is None:
        raise EntityNotFound(name)
    if row is not None and row.observations is not None and row.entity_type is not None:
        node = NodePart(
            name=row.name, entity_type=row.entity_type, observations=row.observations
        )  # fmt: skip
        return call.reply(EntityReply(entity=node))
    missing = [row.name for row in rows if row.observations is None]
    asked = sum(len(one.observations) for one in said)
    return say_plainly(
        call, _tell("Observations", sum(row.deleted for row in rows), asked, missing)
    )


@graph.tool(DELETES, DoneReply)
async def delete_relations(call: Call, relations: Relations) -> CallToolResult:
    """Delete relations for good.

    Example: {"relations":[{"from":"Ada","to":"Acme Corp","relationType":"works_at"}]}.
    """
    rows = await Graph(call.store).delete_edges([item.read() for item in relations], call.caller)
    missing = list(dict.fromkeys(name for row in rows for name in row.missing))
    return say_plainly(
        call, _tell("Relations", sum(row.deleted for row in rows), len(rows), missing)
    )
