"""relate_entities: the tool that connects two entities."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.access.principal import WRITES_OR_PROPOSES
from textrawl.errors import ArgumentInvalid
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
from textrawl.wire.replies import Key, Part, Reply, write_id


class EndPart(Part):
    """One of the two entities of a relation. It has no id if the relation is only proposed."""

    id: Annotated[str | None, Key("id", short_id=True)]
    name: Annotated[str, Key("n")]
    type: Annotated[str, Key("t")]


class RelateReply(Reply):
    """The stored or ended relation and its two entities.

    `ended` has the targets of the relations that the call ended. If the caller can only propose,
    `proposal_id` is set instead of `relation_id`.
    """

    spared = (("message",), ("ended",), ("from_entity", "to_entity"), ("relation_id",))

    success: Annotated[bool, Key("ok")] = True
    proposal_id: Annotated[str | None, Key("proposal", short_id=True)] = None
    message: str | None
    relation_id: Annotated[str | None, Key("rel", short_id=True)]
    from_entity: Annotated[EndPart | None, Key("from")]
    to_entity: Annotated[EndPart | None, Key("to")]
    ended: Annotated[list[str] | None, Key("ended")] = None

    @classmethod
    def build(cls, row: RelationRow, relation: str, *, ended: bool) -> Self:
        """Return the reply for `row`."""
        if ended:
            verb = "Ended" if row.ended else "Had ended already"
        elif row.proposal_id:
            verb = "Proposed to a reviewer" if row.created else "Proposed before"
        else:
            verb = "Related" if row.created else "Already related"
        former = f"; ended: {', '.join(row.ended)}" if row.ended and not ended else ""
        return cls(
            message=f"{verb}: {row.from_name} {relation} {row.to_name}{former}",
            proposal_id=write_id(row.proposal_id),
            relation_id=write_id(row.relation_id),
            from_entity=EndPart(
                id=write_id(row.from_id), name=row.from_name, type=row.from_stored_type
            ),
            to_entity=EndPart(id=write_id(row.to_id), name=row.to_name, type=row.to_stored_type),
            ended=row.ended or None,
        )


@memory.tool(WRITES, RelateReply, scopes=WRITES_OR_PROPOSES)
async def relate_entities(
    call: Call,
    fromEntity: Name,
    relation: Annotated[RelationName, Field(description="a verb")],
    toEntity: Name,
    fromEntityType: Annotated[EntityType | None, Field(description="if new")] = None,
    toEntityType: Annotated[EntityType | None, Field(description="if new")] = None,
    ended: Annotated[bool, Field(description="it is no longer so")] = False,
    replaces: Annotated[bool, Field(description="end the former one")] = False,
) -> CallToolResult:
    """Connect two entities; missing ones are created.

    For what concerns only one use remember_fact. Example:
    {"fromEntity":"Ada","relation":"works_at","toEntity":"Acme Corp"}.
    """
    edge = Edge(fromEntity, relation, toEntity, fromEntityType, toEntityType)
    memory_operations = MemoryOperations(call.store)
    if ended and replaces:
        raise ArgumentInvalid(
            "ended, replaces: give only one; use replaces with the new relation, or ended with the "
            "former relation"
        )
    if ended:
        row = await memory_operations.end(edge, call.caller)
    else:
        row = await memory_operations.relate(edge, call.caller, replaces=replaces)
    return call.reply(RelateReply.build(row, relation, ended=ended))
