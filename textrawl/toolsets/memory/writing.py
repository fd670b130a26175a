"""remember_fact, build_knowledge, relate_entities: the tools that add."""

from typing import Annotated

from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field

from textrawl.errors import ArgumentInvalid
from textrawl.memory import Edge, Fact
from textrawl.replies import Key, Part, Reply
from textrawl.toolsets import WRITES, App
from textrawl.toolsets.memory.declaration import (
    Confidence,
    EntityType,
    FactReference,
    FactText,
    FutureInstant,
    Name,
    RelationName,
    Source,
    memory,
)

_MOST_ITEMS = 50


class RememberReply(Reply):
    """What became of a fact; `entity_type` is the stored one."""

    success: Annotated[bool, Key("ok")] = True
    duplicate: Annotated[bool | None, Key("dup")] = None
    message: str
    entity_id: Annotated[str, Key("entity", short_id=True)]
    entity_name: str
    entity_type: str
    kept_type: Annotated[str | None, Key("t"), Field(exclude=True)] = None
    observation_id: Annotated[str, Key("obs", short_id=True)]


@memory.tool(WRITES, RememberReply)
async def remember_fact(
    ctx: Context[App],
    entityName: Annotated[Name, Field(description="who or what it is about")],
    entityType: EntityType,
    observation: Annotated[FactText, Field(description="one atomic fact")],
    source: Source = "conversation",
    validUntil: Annotated[
        FutureInstant, Field(description="ISO date when it stops being true")
    ] = None,
    confidence: Confidence = 1.0,
    replaces: Annotated[
        FactReference, Field(description="id or text of the fact it corrects")
    ] = "",
) -> CallToolResult:
    """Store one lasting fact about an entity as soon as you learn it: preferences, decisions,
    people, dates. Not for secrets or passing remarks. Example: {"entityName":"Jeff",
    "entityType":"person","observation":"prefers dark mode"}."""
    app: App = ctx.request_context.lifespan_context
    origin = await app.describe_origin(ctx, "remember_fact")
    fact = Fact(
        entityName, entityType, observation, source, confidence, validUntil, replaces or None
    )
    row = await app.memory.remember(fact, origin)
    verb = "Already known about" if row.duplicate else "Remembered about"
    reply = RememberReply(
        message=f"{verb} {row.entity_name} ({row.entity_type})",
        duplicate=row.duplicate or None,
        entity_id=str(row.entity_id), entity_name=row.entity_name, entity_type=row.entity_type,
        kept_type=row.entity_type if row.entity_type != entityType else None,
        observation_id=str(row.observation_id),
    )  # fmt: skip
    return app.render(reply)


class FactItem(BaseModel):
    """A fact of a batch."""

    model_config = ConfigDict(extra="forbid")

    entityName: Name  # noqa: N815 - the wire's names, as for parameters
    entityType: EntityType  # noqa: N815
    observation: FactText
    source: Source = "conversation"
    validUntil: FutureInstant = None  # noqa: N815
    confidence: Confidence = 1.0
    replaces: FactReference = ""


class RelationItem(BaseModel):
    """A relation of a batch."""

    model_config = ConfigDict(extra="forbid")

    fromEntity: Name  # noqa: N815
    relation: RelationName
    toEntity: Name  # noqa: N815
    fromEntityType: EntityType | None = None  # noqa: N815
    toEntityType: EntityType | None = None  # noqa: N815


class BuildCounts(Part):
    """How many facts were new, how many known."""

    new: int
    dup: int


class BuildReply(Reply):
    """What became of a batch."""

    success: Annotated[bool, Key("ok")] = True
    facts_created: int
    facts_duplicate: int
    relations_created: int

    def compact(self) -> object:
        """Counts, grouped."""
        facts = {"new": self.facts_created, "dup": self.facts_duplicate}
        return {"ok": True, "facts": facts, "rel": self.relations_created}


@memory.tool(WRITES, BuildReply)
async def build_knowledge(
    ctx: Context[App],
    facts: Annotated[list[FactItem] | None, Field(max_length=_MOST_ITEMS)] = None,
    relations: Annotated[list[RelationItem] | None, Field(max_length=_MOST_ITEMS)] = None,
) -> CallToolResult:
    """Store up to 50 facts and 50 relations at once, all or nothing: prefer it to many single
    calls. Fields as in remember_fact and relate_entities."""
    if not facts and not relations:
        raise ArgumentInvalid("Provide facts, relations, or both", title="Missing facts")
    app: App = ctx.request_context.lifespan_context
    row = await app.memory.build(
        [Fact(f.entityName, f.entityType, f.observation, f.source, f.confidence, f.validUntil, f.replaces or None) for f in facts or []],
        [Edge(r.fromEntity, r.relation, r.toEntity, r.fromEntityType, r.toEntityType) for r in relations or []],
        await app.describe_origin(ctx, "build_knowledge"),
    )  # fmt: skip
    return app.render(
        BuildReply(
            facts_created=row.facts_created,
            facts_duplicate=row.facts_duplicate,
            relations_created=row.relations_created,
        )
    )


class EndPart(Part):
    """An end of a relation."""

    id: Annotated[str, Key("id", short_id=True)]
    name: Annotated[str, Key("n")]
    type: Annotated[str, Key("t")]


class RelateReply(Reply):
    """What became of a relation."""

    success: Annotated[bool, Key("ok")] = True
    message: str
    relation_id: Annotated[str, Key("rel", short_id=True)]
    from_entity: Annotated[EndPart, Key("from")]
    to_entity: Annotated[EndPart, Key("to")]


@memory.tool(WRITES, RelateReply)
async def relate_entities(
    ctx: Context[App],
    fromEntity: Name,
    relation: Annotated[RelationName, Field(description="a verb, such as works_at")],
    toEntity: Name,
    fromEntityType: Annotated[EntityType | None, Field(description="if it is new")] = None,
    toEntityType: Annotated[EntityType | None, Field(description="if it is new")] = None,
) -> CallToolResult:
    """Connect two entities, such as Ada works_at Acme Corp; missing ones are created."""
    app: App = ctx.request_context.lifespan_context
    edge = Edge(fromEntity, relation, toEntity, fromEntityType, toEntityType)
    row = await app.memory.relate(edge, await app.describe_origin(ctx, "relate_entities"))
    verb = "Related" if row.created else "Already related"
    return app.render(
        RelateReply(
            message=f"{verb}: {row.from_name} {relation} {row.to_name}",
            relation_id=str(row.relation_id),
            from_entity=EndPart(id=str(row.from_id), name=row.from_name, type=row.from_stored_type),
            to_entity=EndPart(id=str(row.to_id), name=row.to_name, type=row.to_stored_type),
        )
    )
