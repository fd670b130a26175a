"""memory_consolidate: the entries of a period become one entry."""

from typing import Annotated, Literal, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.journal.consolidation_operations import ConsolidationOperations, Outcome
from textrawl.toolsets.journal.declaration import EntryDate, journal
from textrawl.toolsets.toolset import WRITES
from textrawl.wire.replies import Key, Part, Reply

_ASKS = WRITES.model_copy(update={"open_world_hint": True})  # the tool calls the LLM


class ConsolidationPart(Part):
    """The outcome of one period."""

    granularity: str
    date_str: Annotated[str, Key("date")]
    success: Annotated[bool, Key("ok")]
    error: Annotated[str | None, Key("err")] = None


class ConsolidatedReply(Reply):
    """The outcomes of all periods. `success` is false if a period failed."""

    success: Annotated[bool, Key("ok")]
    message: Annotated[str, Key("msg")]
    consolidations: Annotated[list[ConsolidationPart], Key("periods")]

    @classmethod
    def build(cls, granularity: str, outcomes: list[Outcome]) -> Self:
        """Return the reply for `outcomes`."""
        parts = [
            ConsolidationPart(
                granularity=granularity,
                date_str=outcome.period.name,
                success=outcome.error is None,
                error=outcome.error,
            )
            for outcome in outcomes
        ]
        stored = sum(part.success for part in parts)
        message = f"I consolidated {stored} of {len(parts)} {granularity} periods"
        return cls(
            success=stored == len(parts),
            message=message if parts else f"There is no {granularity} period to consolidate",
            consolidations=parts,
        )

    def size(self) -> int:
        """Return the number of periods."""
        return len(self.consolidations)

    def choose(self, count: int) -> Self:
        """Return a copy with the first periods."""
        return self.model_copy(update={"consolidations": self.consolidations[:count]})


@journal.tool(_ASKS, ConsolidatedReply)
async def memory_consolidate(
    call: Call,
    granularity: Literal["weekly", "monthly", "yearly"],
    targetDate: Annotated[
        EntryDate | None, Field(description="a period, or a day in it; default: the last one over")
    ] = None,
    all: Annotated[bool, Field(description="every period that is due")] = False,
) -> CallToolResult:
    """Sum up periods that are over: days into a week, weeks into a month, months into a year.

    Needs an LLM; takes minutes. Example: {"granularity":"weekly","targetDate":"2026-W19"}.
    """
    operations = ConsolidationOperations(call.store, call.caller)
    outcomes = await operations.consolidate(granularity, targetDate, every=all)
    reply = ConsolidatedReply.build(granularity, outcomes)
    return call.reply(reply).model_copy(update={"is_error": not reply.success})
