"""The tools of the toolset `review`."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from mcp.types import CallToolResult
from pydantic import AfterValidator, BeforeValidator, Field

from textrawl.errors import ArgumentInvalid
from textrawl.memory import review as operations
from textrawl.memory.command_results import DecidedRow, Decision, PlannedRow, ProposalRow, State
from textrawl.tools.call import Call
from textrawl.tools.memory.search_replies import Answer
from textrawl.tools.memory.tools import PastInstant
from textrawl.tools.toolset import CLEAN_NAME, READS, WRITES, OptionalName, Toolset
from textrawl.values.text import MOST_PROPOSALS, REASON_LENGTH, write_author, write_line
from textrawl.values.times import write_day
from textrawl.wire.columns import UuidText
from textrawl.wire.replies import OMIT_EMPTY, SHORT_ID, Key, Part

review = Toolset("review", "See proposals, and accept or reject them.")


class BesidePart(Part):
    """A stored fact beside a proposal. `why`: repeats, replaces, contradicts, and so on."""

    id: Annotated[str, Key("id", short_id=True)]
    content: Annotated[str, Key("c")]
    why: Annotated[str, Key("why")]


class ProposalPart(Part):
    """A proposal. Only rejected proposals have a reason, and only pending ones facts beside.

    `finding` is what `textrawl tidy` found, or pin, and `evidence` then its reason.
    """

    id: Annotated[UuidText, Key("id", short_id=True)]
    entity_name: Annotated[str, Key("n")]
    content: Annotated[str, Key("c")]
    author: Annotated[str, Key("by"), Field(validation_alias="author_name")]
    space: Annotated[str, Field(validation_alias="space_name")]
    created_at: datetime
    day: Annotated[
        str,
        Key("on"),
        BeforeValidator(write_day),
        Field(exclude=True, validation_alias="created_at"),
    ]
    state: str
    decided: Annotated[
        str | None,
        Key("state"),
        AfterValidator(lambda state: None if state == "pending" else state),
        Field(exclude=True, validation_alias="state"),
    ]
    decided_by: str | None = None
    reason: Annotated[str | None, Key("why")] = None
    evidence: Annotated[str | None, Key("said")] = None
    finding: Annotated[str | None, Key("found")] = None
    observation_id: Annotated[UuidText | None, Key("obs", short_id=True)] = None
    relation_id: Annotated[UuidText | None, Key("rel", short_id=True)] = None
    beside: Annotated[list[BesidePart] | None, Key("beside"), OMIT_EMPTY] = None

    def lines(self) -> Iterator[str]:
        """Yield a line for the proposal, and a line for each fact beside it."""
        state = "" if self.decided is None else f" [{self.state}]"
        why = f" ({write_line(self.reason)})" if self.reason else ""
        name, content = (
            write_author(self.entity_name),
            write_line(self.content).replace(" [", " \\["),
        )
        origin = f"{self.id[:SHORT_ID]} {self.day} {write_author(self.author)}"
        yield f"{origin}: {name}: {content}{state}{why}"
        for fact in self.beside or []:
            yield f"  {fact.why} {fact.id[:SHORT_ID]}: {write_line(fact.content)}"


class ProposalsReply(Answer):
    """A page of proposals, oldest first. `total` is the number of all that match."""

    items = ("proposals",)
    spared = (("total",),)

    total: Annotated[int | None, Key("n")]
    proposals: Annotated[list[ProposalPart], Key("p")]

    @classmethod
    def build(cls, rows: Sequence[ProposalRow]) -> Self:
        """Return the reply with all rows."""
        return cls(
            total=rows[0].total if rows else 0,
            proposals=[ProposalPart.model_validate(row) for row in rows],
        )

    def compact(self) -> Any:
        """Return short keys. Without proposals there is only the number."""
        short = super().compact()
        return short if self.proposals else {"n": 0}

    def lines(self) -> Iterator[str]:
        """Yield the lines of each proposal."""
        if not self.proposals:
            yield "nothing found"
        for proposal in self.proposals:
            yield from proposal.lines()
        yield from self.lines_after_items()


@review.tool(READS, ProposalsReply, scopes=("read", "propose", "review"))
async def list_proposals(
    call: Call,
    author: OptionalName = "",
    entityName: OptionalName = "",
    since: Annotated[PastInstant, Field(description="ISO date: proposed from then")] = None,
    state: State = "pending",
    limit: Annotated[int, Field(ge=1, le=MOST_PROPOSALS)] = 20,
    offset: Annotated[int, Field(ge=0)] = 0,
) -> CallToolResult:
    """List proposals: all of the spaces that you review, elsewhere your own.

    Beside a pending one are the stored facts that it repeats, replaces or contradicts. Example:
    {"entityName":"Ada"}.
    """
    rows = await operations.list_proposals(
        call, author or None, entityName or None, since, state, limit, offset
    )
    return call.reply(ProposalsReply.build(rows))


Reference = Annotated[str, CLEAN_NAME, Field(min_length=8, max_length=36)]
OptionalReason = Annotated[str, CLEAN_NAME, Field(max_length=REASON_LENGTH)]


class DecidedPart(Part):
    """A decided proposal, with the fact or the relation that it became."""

    id: Annotated[UuidText, Key("id", short_id=True)]
    entity_name: str
    observation_id: Annotated[UuidText | None, Key("obs", short_id=True)] = None
    relation_id: Annotated[UuidText | None, Key("rel", short_id=True)] = None
    duplicate: Annotated[bool | None, Key("dup"), OMIT_EMPTY] = None


class PlannedPart(Part):
    """What accepting a proposal would do: new, repeats, replaces, merges, ends, pins or refused."""

    id: Annotated[UuidText, Key("id", short_id=True)]
    entity_name: Annotated[str, Key("n")]
    content: Annotated[str, Key("c")]
    outcome: Annotated[str, Key("would")]
    beside: Annotated[list[BesidePart] | None, Key("beside"), OMIT_EMPTY] = None


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
            decided=[DecidedPart.model_validate(row) for row in rows],
        )

    @classmethod
    def show(cls, rows: Sequence[PlannedRow]) -> Self:
        """Return the reply for a dry run."""
        parts = [PlannedPart.model_validate(row) for row in rows]
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
    if decision == "reject" and not reason:
        raise ArgumentInvalid("Provide reason: the author reads it", title="Missing reason")
    if dryRun:
        return call.reply(DecisionReply.show(await operations.plan_decision(call, ids)))
    rows = await operations.decide(call, ids, decision, reason or None)
    return call.reply(DecisionReply.build(rows))
