"""create_entities, create_relations, add_observations: the tools that add to the graph."""

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid, EntityNotFound
from textrawl.toolsets.call import Call
from textrawl.toolsets.graph.declaration import (
    MOST_ITEMS,
    Addition,
    EntityItem,
    OptionalName,
    Relations,
    graph,
    group_by_entity,
)
from textrawl.toolsets.graph.operations import EntityObservations, GraphOperations, Node
from textrawl.toolsets.graph.replies import (
    AddedPart,
    AddedReply,
    CreatedReply,
    EdgePart,
    EntityReply,
    NodePart,
    RelatedReply,
)
from textrawl.toolsets.toolset import WRITES


@graph.tool(WRITES, CreatedReply)
async def create_entities(
    call: Call,
    entities: Annotated[list[EntityItem], Field(max_length=MOST_ITEMS)],
) -> CallToolResult:
    """Create entities, or add observations to those that are there.

    Answers what is new. Example: {"entities":[{"name":"Ada","entityType":"person",
    "observations":["leads QA"]}]}.
    """
    nodes = [Node(item.name, item.entityType or None, item.observations) for item in entities]
    rows = await GraphOperations(call.store).create(nodes, call.caller)
    return call.reply(CreatedReply.build(rows))


@graph.tool(WRITES, RelatedReply)
async def create_relations(call: Call, relations: Relations) -> CallToolResult:
    """Connect entities that are there, in active voice.

    Answers what is new. Example: {"relations":[{"from":"Ada","to":"Acme Corp",
    "relationType":"works_at"}]}.
    """
    rows = await GraphOperations(call.store).relate(
        [item.read() for item in relations], call.caller
    )
    missing = list(dict.fromkeys(name for row in rows for name in row.missing))
    faults = [f"Entity not found: {name}" for name in missing]
    if rows and all(row.outcome == "missing" for row in rows):
        raise EntityNotFound(missing[0])
    created = [relations[row.place - 1] for row in rows if row.outcome == "created"]
    parts = [
        EdgePart(source=item.source, to=item.to, relation_type=item.relationType)
        for item in created
    ]
    return call.reply(RelatedReply(relations=parts, errors=faults or None))


@graph.tool(WRITES, AddedReply, EntityReply)
async def add_observations(
    call: Call,
    observations: Annotated[list[Addition], Field(max_length=MOST_ITEMS)],
    name: Annotated[
        OptionalName, Field(description="entity, where observations are plain text")
    ] = "",
) -> CallToolResult:
    """Add observations to entities that are there, all or none.

    Example: {"observations":[{"entityName":"Ada","contents":["prefers tea"]}]}.
    """
    items = [EntityObservations(item.entityName, item.contents) for item in observations]
    additions, single = group_by_entity(name, items)
    if not all(addition.entity for addition in additions):
        raise ArgumentInvalid("observations: every item needs entityName", title="Missing name")
    rows = await GraphOperations(call.store).add(additions, call.caller)
    row = rows[0] if single else None
    if row is not None and row.entity_type is not None:
        node = NodePart(name=row.name, entity_type=row.entity_type, observations=row.observations)
        return call.reply(EntityReply(entity=node))
    parts = [AddedPart(entity_name=row.name, added_observations=row.added) for row in rows]
    return call.reply(AddedReply(results=parts))
