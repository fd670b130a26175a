"""delete_entities, delete_observations, delete_relations: the tools that delete for good."""

from collections.abc import Sequence
from typing import Annotated

from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid, EntityNotFound
from textrawl.graph import Graph, Said
from textrawl.toolsets import DELETES, App
from textrawl.toolsets.graph.declaration import (
    MOST_ITEMS,
    Deletion,
    Name,
    OptionalName,
    Relations,
    gather,
    graph,
)
from textrawl.toolsets.graph.replies import DoneReply, EntityReply, NodePart, say

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
    ctx: Context[App], entityNames: Annotated[list[Name], Field(max_length=MOST_ITEMS)]
) -> CallToolResult:
    """Delete entities for good, with their observations and relations.

    Example: {"entityNames":["Old project"]}.
    """
    app: App = ctx.request_context.lifespan_context
    caller = await app.identify(ctx, "delete_entities")
    rows = await Graph(app.memory).delete_nodes(entityNames, caller)
    missing = [row.name for row in rows if not row.deleted]
    return say(app, _tell("Entities", len(rows) - len(missing), len(rows), missing))


@graph.tool(DELETES, DoneReply, EntityReply)
async def delete_observations(
    ctx: Context[App],
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
    app: App = ctx.request_context.lifespan_context
    caller = await app.identify(ctx, "delete_observations")
    rows = await Graph(app.memory).delete_observations(said, caller)
    row = rows[0] if single else None
    if row is not None and row.observations is None:
        raise EntityNotFound(name)
    if row is not None and row.observations is not None and row.entity_type is not None:
        node = NodePart(
            name=row.name, entity_type=row.entity_type, observations=row.observations
        )  # fmt: skip
        return app.render(EntityReply(entity=node))
    missing = [row.name for row in rows if row.observations is None]
    asked = sum(len(one.observations) for one in said)
    return say(app, _tell("Observations", sum(row.deleted for row in rows), asked, missing))


@graph.tool(DELETES, DoneReply)
async def delete_relations(ctx: Context[App], relations: Relations) -> CallToolResult:
    """Delete relations for good.

    Example: {"relations":[{"from":"Ada","to":"Acme Corp","relationType":"works_at"}]}.
    """
    app: App = ctx.request_context.lifespan_context
    caller = await app.identify(ctx, "delete_relations")
    rows = await Graph(app.memory).delete_edges([item.read() for item in relations], caller)
    missing = list(dict.fromkeys(name for row in rows for name in row.missing))
    return say(app, _tell("Relations", sum(row.deleted for row in rows), len(rows), missing))
