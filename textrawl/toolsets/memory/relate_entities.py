"""relate_entities: the tool that connects two entities."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.memory.declaration import (
    EntityType,
    Name,
    RelationName,
    memory,
)
from textrawl.toolsets.memory.operations import Edge, MemoryOperations
from textrawl.toolsets.memory.rows import RelationRow
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, Part, Reply


class EndPart(Part):
    """An end of a relation."""

    id: Annotated[str, Key("id", short_id=True)]
    name: Annotated[str, Key("n")]
    type: Annotated[str, Key("t")]


class RelateReply(Reply):
    """The stored relation and its ends."""

    spared = (("message",), ("from_entity", "to_entity"), ("relation_id",))

    success: Annotated[bool, Key("ok")] = True
    message: str | None
    relation_id: Annotated[str | None, Key("rel", short_id=True)]
    from_entity: Annotated[EndPart | None, Key("from")]
    to_entity: Annotated[EndPart | None, Key("to")]

    @classmethod
    def build(cls, row: RelationRow, relation: str) -> Self:
        """Return the reply for `row`."""
        verb = "Related" if row.created else "Already related"
        return cls(
            message=f"{verb}: {row.from_name} {relation} {row.to_name}",
            relation_id=str(row.relation_id),
            from_entity=EndPart(id=str(row.from_id), name=row.from_name, type=row.from_stored_type),
            to_entity=EndPart(id=str(row.to_id), name=row.to_name, type=row.to_stored_type),
        )


@memory.tool(WRITES, RelateReply)
async def relate_entities(
    call: Call,
    fromEntity: Name,
    relation: Annotated[RelationName, Field(description="a verb")],
    toEntity: Name,
    fromEntityType: Annotated[EntityType | None, Field(description="if new")] = None,
    toEntityType: Annotated[EntityType | None, Field(description="if new")] = None,
) -> CallToolResult:
    """Connect two entities; missing ones are created.

    For what concerns only one use remember_fact. Example:
    {"fromEntity":"Ada","relation":"works_at","toEntity":"Acme Corp"}.
    """
    edge = Edge(fromEntity, relation, toEntity, fromEntityType, toEntityType)
    row = await MemoryOperations(call.store).relate(edge, call.caller)
    return call.reply(RelateReply.build(row, relation))
