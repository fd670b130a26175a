"""The tools that store facts and relations."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Self, cast
from uuid import UUID

from mcp.types import CallToolResult
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from textrawl.access.principal import WRITES_OR_PROPOSES
from textrawl.errors import ArgumentInvalid
from textrawl.memory.fact_rows import BatchRow
from textrawl.memory.facts import Edge, Fact, MemoryOperations
from textrawl.tools.call import Call
from textrawl.tools.memory.declaration import (
    OF_FACTS,
    OF_RELATIONS,
    Begin,
    Confidence,
    End,
    EntityType,
    FactReference,
    FactText,
    GivenType,
    Name,
    PastInstant,
    RelationName,
    Source,
    memory,
)
from textrawl.tools.memory.write_replies import RelateReply, RememberReply, Why
from textrawl.tools.toolset import WRITES
from textrawl.wire.replies import OMIT_EMPTY, SHORT_ID, Key, Part, SuccessReply


@memory.tool(
    WRITES, RememberReply, required=("entityType",), aliases=OF_FACTS, scopes=WRITES_OR_PROPOSES
)
async def remember_fact(
    call: Call,
    *,
    entityName: Annotated[Name, Field(description="who or what it is about")],
    entityType: GivenType = None,
    observation: Annotated[FactText, Field(description="one atomic fact")],
    source: Source = None,
    validFrom: Annotated[Begin, Field(description="ISO date; default: saidAt")] = None,
    validUntil: End = None,
    saidAt: PastInstant = None,
    confidence: Confidence = None,
    replaces: Annotated[
        FactReference, Field(description="id or text of the fact it corrects")
    ] = "",
) -> CallToolResult:
    """Store one lasting fact about an entity as soon as you learn it.

    Preferences, decisions, people, dates; not secrets or passing remarks. The reply names a close
    or contrary (why) fact as like: to correct it, repeat with replaces. Example:
    {"entityName":"Jeff","entityType":"person","observation":"prefers dark mode"}.
    """
    fact = Fact(
        entityName,
        entityType,
        observation,
        source,
        confidence,
        validFrom,
        validUntil,
        saidAt,
        replaces or None,
    )
    row = await MemoryOperations(call.store).remember(fact, call.caller)
    return call.reply(RememberReply.build(row, entityType))


_MOST_ITEMS = 50
_SHOWN = 60  # characters of each close fact in the reply to a batch


def _rename(aliases: Mapping[str, str], values: object) -> object:
    """Return the members of an item with the names of the parameters."""
    if not isinstance(values, dict):
        return values
    members = cast("dict[str, object]", values)
    return {
        alias if (name := aliases.get(alias, alias)) in members else name: value
        for alias, value in members.items()
    }


def _require_type(schema: dict[str, Any]) -> None:
    """Ask for the type of each entity, which can be left out for a known entity."""
    schema["required"] = [
        name for name in schema["properties"] if name in ("entityType", *schema["required"])
    ]


class FactItem(BaseModel):
    """A fact of a batch."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_require_type)

    entityName: Name  # noqa: N815 - JSON keys are in camelCase
    entityType: GivenType = None  # noqa: N815
    observation: FactText
    source: Source = None
    validFrom: Begin = None  # noqa: N815
    validUntil: End = None  # noqa: N815
    saidAt: PastInstant = None  # noqa: N815
    confidence: Confidence = None
    replaces: FactReference = ""

    _accept = model_validator(mode="before")(partial(_rename, OF_FACTS))

    def read(self) -> Fact:
        """Return the fact to store."""
        return Fact(
            self.entityName,
            self.entityType,
            self.observation,
            self.source,
            self.confidence,
            self.validFrom,
            self.validUntil,
            self.saidAt,
            self.replaces or None,
        )


class RelationItem(BaseModel):
    """A relation of a batch."""

    model_config = ConfigDict(extra="forbid")

    fromEntity: Name  # noqa: N815
    relation: RelationName
    toEntity: Name  # noqa: N815
    fromEntityType: EntityType | None = None  # noqa: N815
    toEntityType: EntityType | None = None  # noqa: N815
    validFrom: Begin = None  # noqa: N815
    validUntil: End = None  # noqa: N815

    _accept = model_validator(mode="before")(partial(_rename, OF_RELATIONS))

    def read(self) -> Edge:
        """Return the relation to store."""
        return Edge(
            self.fromEntity,
            self.relation,
            self.toEntity,
            self.fromEntityType,
            self.toEntityType,
            self.validFrom,
            self.validUntil,
        )


class FactCounts(Part):
    """The numbers of new and of duplicate facts in a batch."""

    new: Annotated[int, Key("new")]
    dup: Annotated[int, Key("dup")]


def _begin(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1].rstrip()}…"


class CloseFact(Part):
    """The stored fact beside a new fact of a batch, as in SimilarPart, but only its beginning.

    `fact` is the position of the new fact in the batch, counted from 0.
    """

    fact: Annotated[int, Key("at")]
    id: Annotated[str, Key("id", short_id=True)]
    content: Annotated[str, AfterValidator(_begin), Key("c")]
    why: Annotated[Why | None, Key("why")] = None
    on: Annotated[str | None, Key("on")] = None


class BuildReply(SuccessReply):
    """The result of a batch.

    `repeated` lists the positions of the duplicates in the batch, counted from 0. `updated` lists
    the duplicates that gave the stored fact a new source, confidence, end or `saidAt`. `ended`
    lists the facts that have ended already.

    If the caller can only propose, nothing was stored, and `proposals` has their ids, facts
    first.
    """

    items = "closest"
    spared = (
        ("repeated", "updated", "ended"),
        ("facts_created", "facts_duplicate", "relations_created", "facts"),
    )

    facts_created: int | None
    facts_duplicate: int | None
    repeated: Annotated[list[int] | None, OMIT_EMPTY] = None
    updated: Annotated[list[int] | None, OMIT_EMPTY] = None
    ended: Annotated[list[int] | None, OMIT_EMPTY] = None
    facts: Annotated[FactCounts | None, Key("facts"), Field(exclude=True)] = None
    relations_created: Annotated[int | None, Key("rel")]
    closest: Annotated[list[CloseFact] | None, OMIT_EMPTY, Key("like"), Field(alias="similar")] = (
        None
    )
    proposals: Annotated[
        list[UUID] | None, OMIT_EMPTY, Key("proposals"), Field(alias="proposalIds")
    ] = None

    same_names: Annotated[
        SkipJsonSchema[list[str] | None], OMIT_EMPTY, Key("sameName"), Field(alias="sameName")
    ] = None

    @classmethod
    def build(cls, row: BatchRow) -> Self:
        """Return the reply for `row`."""
        reply = cls.model_validate(row)
        reply.facts = FactCounts(new=row.facts_created, dup=row.facts_duplicate)
        return reply

    def compact(self) -> Any:
        """Return short keys. `facts` holds the counts, and each list of positions if it has any."""
        short = super().compact()
        if self.proposals:
            return {"ok": True, "proposals": [str(one)[:SHORT_ID] for one in self.proposals]}
        positions = {"at": self.repeated, "upd": self.updated, "ended": self.ended}
        if "facts" in short:
            short["facts"] |= {key: value for key, value in positions.items() if value}
        return short


@memory.tool(WRITES, BuildReply, scopes=WRITES_OR_PROPOSES)
async def build_knowledge(
    call: Call,
    facts: Annotated[list[FactItem] | None, Field(max_length=_MOST_ITEMS)] = None,
    relations: Annotated[list[RelationItem] | None, Field(max_length=_MOST_ITEMS)] = None,
) -> CallToolResult:
    """Store many facts and relations at once, all or nothing.

    Use it instead of several single calls. Fields as in remember_fact and relate_entities. Example:
    {"facts":[{"entityName":"Ada","entityType":"person","observation":"leads QA"}]}.
    """
    if not facts and not relations:
        raise ArgumentInvalid("Provide facts, relations, or both", title="Missing facts")
    row = await MemoryOperations(call.store).build(
        [fact.read() for fact in facts or []],
        [relation.read() for relation in relations or []],
        call.caller,
    )
    return call.reply(BuildReply.build(row))


@memory.tool(WRITES, RelateReply, aliases=OF_RELATIONS, scopes=WRITES_OR_PROPOSES)
async def relate_entities(
    call: Call,
    fromEntity: Name,
    relation: Annotated[RelationName, Field(description="a verb")],
    toEntity: Name,
    fromEntityType: Annotated[EntityType | None, Field(description="if new")] = None,
    toEntityType: Annotated[EntityType | None, Field(description="if new")] = None,
    validFrom: Begin = None,
    validUntil: End = None,
    ended: Annotated[bool, Field(description="it is no longer so")] = False,
    replaces: Annotated[bool, Field(description="end the former one")] = False,
) -> CallToolResult:
    """Connect two entities; missing ones are created.

    For what concerns only one use remember_fact. Example:
    {"fromEntity":"Ada","relation":"works_at","toEntity":"Acme Corp"}.
    """
    edge = Edge(fromEntity, relation, toEntity, fromEntityType, toEntityType, validFrom, validUntil)
    memory_operations = MemoryOperations(call.store)
    if ended and replaces:
        raise ArgumentInvalid(
            "ended, replaces: give only one; use replaces with the new relation, or ended with the "
            "former relation"
        )
    if ended and validFrom:
        raise ArgumentInvalid("validFrom: with ended give only validUntil, the day of the end")
    if ended:
        row = await memory_operations.end(edge, call.caller)
    else:
        row = await memory_operations.relate(edge, call.caller, replaces=replaces)
    former = bool(validUntil and validUntil <= datetime.now(UTC))
    return call.reply(RelateReply.build(row, relation, ended=ended, former=former))
