"""remember_fact: the tool that stores one fact."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.access.principal import WRITES_OR_PROPOSES
from textrawl.toolsets.call import Call
from textrawl.toolsets.memory.declaration import (
    Confidence,
    EntityType,
    FactReference,
    FactText,
    FutureInstant,
    Name,
    PastInstant,
    Source,
    memory,
)
from textrawl.toolsets.memory.operations import Fact, MemoryOperations
from textrawl.toolsets.memory.rows import FactRow
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, Part, Reply, write_id


class SimilarPart(Part):
    """The stored fact that is closest to a new fact. The two can differ in meaning."""

    id: Annotated[str, Key("id", short_id=True)]
    content: Annotated[str, Key("c")]


class RememberReply(Reply):
    """The stored fact. `entity_type` is the stored type of the entity.

    If the caller can only propose, `proposal_id` is set instead of the other ids.

    Compact text shows the stored type only if it differs from the type in the call.
    """

    spared = (
        ("similar",),
        ("message",),
        ("entity_name",),
        ("entity_type", "kept_type"),
        ("entity_id",),
        ("observation_id",),
    )

    success: Annotated[bool, Key("ok")] = True
    duplicate: Annotated[bool | None, Key("dup")] = None
    updated: Annotated[bool | None, Key("updated")] = None
    proposal_id: Annotated[str | None, Key("proposal", short_id=True)] = None
    message: str | None
    entity_id: Annotated[str | None, Key("entity", short_id=True)]
    entity_name: str | None
    entity_type: str | None
    kept_type: Annotated[str | None, Key("t"), Field(exclude=True)]
    observation_id: Annotated[str | None, Key("obs", short_id=True)]
    similar: Annotated[SimilarPart | None, Key("like")] = None

    @classmethod
    def build(cls, row: FactRow, requested_type: str) -> Self:
        """Return the reply for `row`. `requested_type` is the entity type in the call."""
        return cls(
            message=f"{_choose_verb(row)} {row.entity_name} ({row.entity_type})",
            duplicate=row.duplicate or None,
            updated=row.updated or None,
            proposal_id=write_id(row.proposal_id),
            entity_id=write_id(row.entity_id),
            entity_name=row.entity_name,
            entity_type=row.entity_type,
            kept_type=row.entity_type if row.entity_type != requested_type else None,
            observation_id=write_id(row.observation_id),
            similar=SimilarPart(**row.closest) if row.closest else None,
        )


def _choose_verb(row: FactRow) -> str:
    if row.proposal_id:
        return "Proposed before about" if row.duplicate else "Proposed to a reviewer about"
    if row.duplicate:
        return "Updated what is known about" if row.updated else "Already known about"
    return "Remembered about"


@memory.tool(WRITES, RememberReply, scopes=WRITES_OR_PROPOSES)
async def remember_fact(
    call: Call,
    entityName: Annotated[Name, Field(description="who or what it is about")],
    entityType: EntityType,
    observation: Annotated[FactText, Field(description="one atomic fact")],
    source: Source = None,
    validUntil: Annotated[
        FutureInstant, Field(description="ISO date when it stops being true")
    ] = None,
    saidAt: PastInstant = None,
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
    fact = Fact(
        entityName,
        entityType,
        observation,
        source,
        confidence,
        validUntil,
        saidAt,
        replaces or None,
    )
    row = await MemoryOperations(call.store).remember(fact, call.caller)
    return call.reply(RememberReply.build(row, entityType))
