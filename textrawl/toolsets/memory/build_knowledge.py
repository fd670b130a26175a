"""build_knowledge: the tool that stores many facts and relations in one call."""

from typing import Annotated, Any, Self

from mcp.types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field

from textrawl.access.principal import WRITES_OR_PROPOSES
from textrawl.errors import ArgumentInvalid
from textrawl.toolsets.call import Call
from textrawl.toolsets.memory.declaration import (
    Confidence,
    EntityType,
    FactReference,
    FactText,
    FutureInstant,
    Name,
    PastInstant,
    RelationName,
    Source,
    memory,
)
from textrawl.toolsets.memory.operations import Edge, Fact, MemoryOperations
from textrawl.toolsets.memory.rows import BatchRow
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import SHORT_ID, Key, Part, Reply

_MOST_ITEMS = 50


class FactItem(BaseModel):
    """A fact of a batch."""

    model_config = ConfigDict(extra="forbid")

    entityName: Name  # noqa: N815 - JSON keys are in camelCase
    entityType: EntityType  # noqa: N815
    observation: FactText
    source: Source = None
    validUntil: FutureInstant = None  # noqa: N815
    saidAt: PastInstant = None  # noqa: N815
    confidence: Confidence = None
    replaces: FactReference = ""

    def read(self) -> Fact:
        """Return the fact to store."""
        return Fact(
            self.entityName,
            self.entityType,
            self.observation,
            self.source,
            self.confidence,
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

    def read(self) -> Edge:
        """Return the relation to store."""
        return Edge(
            self.fromEntity, self.relation, self.toEntity, self.fromEntityType, self.toEntityType
        )


class FactCounts(Part):
    """The numbers of new and of duplicate facts in a batch."""

    new: Annotated[int, Key("new")]
    dup: Annotated[int, Key("dup")]


class CloseFact(Part):
    """The stored fact that is closest to a new fact.

    `fact` is the position of the new fact in the batch, counted from 0.
    """

    fact: Annotated[int, Key("at")]
    id: Annotated[str, Key("id", short_id=True)]
    content: Annotated[str, Key("c")]


class BuildReply(Reply):
    """The result of a batch.

    `repeated` lists the positions of the duplicates in the batch, counted from 0. `updated` lists
    the duplicates that gave the stored fact a new source, confidence, end or `saidAt`.

    If the caller can only propose, nothing was stored, and `proposal_ids` has the proposals, facts
    first.
    """

    spared = (
        ("repeated", "updated"),
        ("facts_created", "facts_duplicate", "relations_created", "facts"),
    )

    success: Annotated[bool, Key("ok")] = True
    facts_created: int | None
    facts_duplicate: int | None
    repeated: list[int] | None = None
    updated: list[int] | None = None
    facts: Annotated[FactCounts | None, Key("facts"), Field(exclude=True)]
    relations_created: Annotated[int | None, Key("rel")]
    similar: Annotated[list[CloseFact] | None, Key("like")] = None
    proposal_ids: Annotated[list[str] | None, Key("proposals")] = None

    @classmethod
    def build(cls, row: BatchRow) -> Self:
        """Return the reply for `row`."""
        return cls(
            facts_created=row.facts_created,
            facts_duplicate=row.facts_duplicate,
            repeated=row.repeated or None,
            updated=row.updated or None,
            facts=FactCounts(new=row.facts_created, dup=row.facts_duplicate),
            relations_created=row.relations_created,
            similar=[CloseFact(**one) for one in row.closest or []] or None,
            proposal_ids=[str(one) for one in row.proposals or []] or None,
        )

    def compact(self) -> Any:
        """Return short keys. `facts` holds the counts, and each list of positions if it has any."""
        short = super().compact()
        if self.proposal_ids:
            return {"ok": True, "proposals": [one[:SHORT_ID] for one in self.proposal_ids]}
        positions = {"at": self.repeated, "upd": self.updated}
        if "facts" in short:
            short["facts"] |= {key: value for key, value in positions.items() if value}
        return short

    def size(self) -> int:
        """Return the number of close facts."""
        return len(self.similar or [])

    def choose(self, count: int) -> Self:
        """Return a copy with the first `count` close facts."""
        return self.model_copy(update={"similar": (self.similar or [])[:count] or None})


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
