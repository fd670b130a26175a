"""decide_proposals: the tool that accepts or rejects proposals."""

from collections.abc import Sequence
from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid
from textrawl.toolsets.call import Call
from textrawl.toolsets.cleaning import CLEAN_NAME
from textrawl.toolsets.memory.search_replies import Answer
from textrawl.toolsets.review.declaration import review
from textrawl.toolsets.review.listing import BesidePart
from textrawl.toolsets.review.operations import Decision, ReviewOperations
from textrawl.toolsets.review.rows import DecidedRow, PlannedRow
from textrawl.toolsets.toolset import WRITES
from textrawl.values.limits import MOST_PROPOSALS, REASON_LENGTH
from textrawl.wire.replies import Key, Part, write_id

Reference = Annotated[str, CLEAN_NAME, Field(min_length=8, max_length=36)]
OptionalReason = Annotated[str, CLEAN_NAME, Field(max_length=REASON_LENGTH)]


class DecidedPart(Part):
    """A decided proposal, with the fact or the relation that it became."""

    id: Annotated[str, Key("id", short_id=True)]
    entity_name: str
    observation_id: Annotated[str | None, Key("obs", short_id=True)] = None
    relation_id: Annotated[str | None, Key("rel", short_id=True)] = None
    duplicate: Annotated[bool | None, Key("dup")] = None

    @classmethod
    def build(cls, row: DecidedRow) -> Self:
        """Return the part for `row`."""
        return cls(
            id=str(row.id),
            entity_name=row.entity_name,
            observation_id=write_id(row.observation_id),
            relation_id=write_id(row.relation_id),
            duplicate=row.duplicate or None,
        )


class PlannedPart(Part):
    """What accepting a proposal would do: new, repeats, replaces or refused."""

    id: Annotated[str, Key("id", short_id=True)]
    entity_name: Annotated[str, Key("n")]
    content: Annotated[str, Key("c")]
    outcome: Annotated[str, Key("would")]
    beside: Annotated[list[BesidePart] | None, Key("beside")] = None

    @classmethod
    def build(cls, row: PlannedRow) -> Self:
        """Return the part for `row`."""
        return cls(
            id=str(row.id),
            entity_name=row.entity_name,
            content=row.content,
            outcome=row.outcome,
            beside=[BesidePart(**fact) for fact in row.beside] or None,
        )


class DecisionReply(Answer):
    """The decided proposals, or what a dry run would store."""

    spared = (("message",),)

    success: Annotated[bool, Key("ok")] = True
    dry_run: Annotated[bool | None, Key("dry")] = None
    message: str | None
    decided: Annotated[list[DecidedPart] | None, Key("p")] = None
    plan: Annotated[list[PlannedPart] | None, Key("plan")] = None

    @classmethod
    def build(cls, rows: Sequence[DecidedRow]) -> Self:
        """Return the reply for decided proposals."""
        state = rows[0].state if rows else "decided"
        return cls(
            message=f"{state.capitalize()}: {len(rows)}",
            decided=[DecidedPart.build(row) for row in rows],
        )

    @classmethod
    def show(cls, rows: Sequence[PlannedRow]) -> Self:
        """Return the reply for a dry run."""
        parts = [PlannedPart.build(row) for row in rows]
        return cls(dry_run=True, message="Nothing was decided: a dry run", plan=parts)

    def size(self) -> int:
        """Return the number of proposals."""
        return len(self.decided or self.plan or [])

    def choose(self, count: int) -> Self:
        """Return a copy with the first `count` proposals."""
        decided, plan = (part and part[:count] for part in (self.decided, self.plan))
        return self.cut(max(self.size() - count, 0), decided=decided, plan=plan)


@review.tool(WRITES, DecisionReply, scopes=("review",), anywhere=True)
async def decide_proposals(
    call: Call,
    ids: Annotated[list[Reference], Field(min_length=1, max_length=MOST_PROPOSALS)],
    decision: Decision,
    reason: Annotated[OptionalReason, Field(description="reject: why, for the author")] = "",
    dryRun: Annotated[bool, Field(description="show what accepting would store")] = False,
) -> CallToolResult:
    """Accept or reject proposals as the user decides, all or none.

    An accepted fact is stored with its author. Example:
    {"ids":["0b5c9e1f"],"decision":"reject","reason":"outdated"}.
    """
    operations = ReviewOperations(call.store)
    if decision == "reject" and not reason:
        raise ArgumentInvalid("Provide reason: the author reads it", title="Missing reason")
    if dryRun:
        return call.reply(DecisionReply.show(await operations.plan(ids, call.caller)))
    rows = await operations.decide(ids, decision, reason or None, call.caller)
    return call.reply(DecisionReply.build(rows))
