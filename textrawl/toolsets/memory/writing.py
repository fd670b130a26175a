"""remember_fact, build_knowledge, relate_entities: the tools that add."""

from typing import Annotated, Any, Self

from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field

from textrawl.errors import ArgumentInvalid
from textrawl.memory import Edge, Fact
from textrawl.replies import Key, Part, Reply
from textrawl.rows import BatchRow, FactRow, RelationRow
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


class SimilarPart(Part):
    """The fact that comes closest to a new one; it may say something else."""

    id: Annotated[str, Key("id", short_id=True)]
    content: Annotated[str, Key("c")]


class RememberReply(Reply):
    """What became of a fact; `entity_type` is the stored one, told in short where it differs."""

    spared = (("similar",), ("message",), ("entity_name",), ("entity_type", "kept_type"),
              ("entity_id",), ("observation_id",))  # fmt: skip

    success: Annotated[bool, Key("ok")] = True
    duplicate: Annotated[bool | None, Key("dup")] = None
    updated: Annotated[bool | None, Key("updated")] = None
    message: str | None
    entity_id: Annotated[str | None, Key("entity", short_id=True)]
    entity_name: str | None
    entity_type: str | None
    kept_type: Annotated[str | None, Key("t"), Field(exclude=True)]
    observation_id: Annotated[str | None, Key("obs", short_id=True)]
    similar: Annotated[SimilarPart | None, Key("like")] = None

    @classmethod
    def build(cls, row: FactRow, asked_type: str) -> Self:
        """The reply to a fact about an entity of `asked_type`."""
        known = "Updated what is known about" if row.updated else "Already known about"
        verb = known if row.duplicate else "Remembered about"
        return cls(
            message=f"{verb} {row.entity_name} ({row.entity_type})",
            duplicate=row.duplicate or None,
            updated=row.updated or None,
            entity_id=str(row.entity_id),
            entity_name=row.entity_name,
            entity_type=row.entity_type,
            kept_type=row.entity_type if row.entity_type != asked_type else None,
            observation_id=str(row.observation_id),
            similar=SimilarPart(**row.closest) if row.closest else None,
        )


@memory.tool(WRITES, RememberReply)
async def remember_fact(
    ctx: Context[App],
    entityName: Annotated[Name, Field(description="who or what it is about")],
    entityType: EntityType,
    observation: Annotated[FactText, Field(description="one atomic fact")],
    source: Source = None,
    validUntil: Annotated[
        FutureInstant, Field(description="ISO date when it stops being true")
    ] = None,
    confidence: Confidence = None,
    replaces: Annotated[
        FactReference, Field(description="id or text of the fact it corrects")
    ] = "",
) -> CallToolResult:
    """Store one lasting fact about an entity as soon as you learn it.

    Preferences, decisions, people, dates; not secrets or passing remarks. The reply names a close
    fact as like: if the new one corrects that, repeat the call with replaces. Example:
    {"entityName":"Jeff","entityType":"person","observation":"prefers dark mode"}.
    """
    app: App = ctx.request_context.lifespan_context
    fact = Fact(
        entityName, entityType, observation, source, confidence, validUntil, replaces or None
    )
    row = await app.memory.remember(fact, await app.identify(ctx, "remember_fact"))
    return app.render(RememberReply.build(row, entityType))


class FactItem(BaseModel):
    """A fact of a batch."""

    model_config = ConfigDict(extra="forbid")

    entityName: Name  # noqa: N815 - the wire's names, as for parameters
    entityType: EntityType  # noqa: N815
    observation: FactText
    source: Source = None
    validUntil: FutureInstant = None  # noqa: N815
    confidence: Confidence = None
    replaces: FactReference = ""

    def read(self) -> Fact:
        """The fact as it is stored."""
        return Fact(
            self.entityName, self.entityType, self.observation, self.source, self.confidence,
            self.validUntil, self.replaces or None,
        )  # fmt: skip


class RelationItem(BaseModel):
    """A relation of a batch."""

    model_config = ConfigDict(extra="forbid")

    fromEntity: Name  # noqa: N815
    relation: RelationName
    toEntity: Name  # noqa: N815
    fromEntityType: EntityType | None = None  # noqa: N815
    toEntityType: EntityType | None = None  # noqa: N815

    def read(self) -> Edge:
        """The relation as it is stored."""
        return Edge(
            self.fromEntity, self.relation, self.toEntity, self.fromEntityType, self.toEntityType
        )


class FactCounts(Part):
    """How many facts of a batch were new, and how many known."""

    new: Annotated[int, Key("new")]
    dup: Annotated[int, Key("dup")]


class CloseFact(Part):
    """The fact that comes closest to a new one of a batch, whose place is `fact`."""

    fact: Annotated[int, Key("at")]
    id: Annotated[str, Key("id", short_id=True)]
    content: Annotated[str, Key("c")]


class BuildReply(Reply):
    """What became of a batch; `repeated` and `updated` hold places in it, counted from 0."""

    spared = (("repeated", "updated"),
              ("facts_created", "facts_duplicate", "relations_created", "facts"))  # fmt: skip

    success: Annotated[bool, Key("ok")] = True
    facts_created: int | None
    facts_duplicate: int | None
    repeated: list[int] | None = None
    updated: list[int] | None = None
    facts: Annotated[FactCounts | None, Key("facts"), Field(exclude=True)]
    relations_created: Annotated[int | None, Key("rel")]
    similar: Annotated[list[CloseFact] | None, Key("like")] = None

    @classmethod
    def build(cls, row: BatchRow) -> Self:
        """The reply that tells `row`."""
        return cls(
            facts_created=row.facts_created,
            facts_duplicate=row.facts_duplicate,
            repeated=row.repeated or None,
            updated=row.updated or None,
            facts=FactCounts(new=row.facts_created, dup=row.facts_duplicate),
            relations_created=row.relations_created,
            similar=[CloseFact(**one) for one in row.closest or []] or None,
        )

    def compact(self) -> Any:
        """Short keys; the places of facts stand beside their numbers."""
        short = super().compact()
        places = {"at": self.repeated, "upd": self.updated}
        if "facts" in short:
            short["facts"] |= {key: value for key, value in places.items() if value}
        return short

    def size(self) -> int:
        """How many close facts there are."""
        return len(self.similar or [])

    def choose(self, count: int) -> Self:
        """The closest ones."""
        return self.model_copy(update={"similar": (self.similar or [])[:count] or None})


@memory.tool(WRITES, BuildReply)
async def build_knowledge(
    ctx: Context[App],
    facts: Annotated[list[FactItem] | None, Field(max_length=_MOST_ITEMS)] = None,
    relations: Annotated[list[RelationItem] | None, Field(max_length=_MOST_ITEMS)] = None,
) -> CallToolResult:
    """Store many facts and relations at once, all or nothing.

    Use it instead of several single calls. Fields as in remember_fact and relate_entities. Example:
    {"facts":[{"entityName":"Ada","entityType":"person","observation":"leads QA"}]}.
    """
    if not facts and not relations:
        raise ArgumentInvalid("Provide facts, relations, or both", title="Missing facts")
    app: App = ctx.request_context.lifespan_context
    row = await app.memory.build(
        [fact.read() for fact in facts or []],
        [relation.read() for relation in relations or []],
        await app.identify(ctx, "build_knowledge"),
    )
    return app.render(BuildReply.build(row))


class EndPart(Part):
    """An end of a relation."""

    id: Annotated[str, Key("id", short_id=True)]
    name: Annotated[str, Key("n")]
    type: Annotated[str, Key("t")]


class RelateReply(Reply):
    """What became of a relation."""

    spared = (("message",), ("from_entity", "to_entity"), ("relation_id",))

    success: Annotated[bool, Key("ok")] = True
    message: str | None
    relation_id: Annotated[str | None, Key("rel", short_id=True)]
    from_entity: Annotated[EndPart | None, Key("from")]
    to_entity: Annotated[EndPart | None, Key("to")]

    @classmethod
    def build(cls, row: RelationRow, relation: str) -> Self:
        """The reply that tells `row`."""
        verb = "Related" if row.created else "Already related"
        return cls(
            message=f"{verb}: {row.from_name} {relation} {row.to_name}",
            relation_id=str(row.relation_id),
            from_entity=EndPart(id=str(row.from_id), name=row.from_name, type=row.from_stored_type),
            to_entity=EndPart(id=str(row.to_id), name=row.to_name, type=row.to_stored_type),
        )


@memory.tool(WRITES, RelateReply)
async def relate_entities(
    ctx: Context[App],
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
    app: App = ctx.request_context.lifespan_context
    edge = Edge(fromEntity, relation, toEntity, fromEntityType, toEntityType)
    row = await app.memory.relate(edge, await app.identify(ctx, "relate_entities"))
    return app.render(RelateReply.build(row, relation))
