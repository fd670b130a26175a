"""list_proposals: the tool that shows proposals to reviewers and to their authors."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.memory.declaration import OptionalName, PastInstant
from textrawl.toolsets.memory.search_replies import Answer
from textrawl.toolsets.review.declaration import review
from textrawl.toolsets.review.operations import Filter, ReviewOperations, State
from textrawl.toolsets.review.rows import ProposalRow
from textrawl.toolsets.toolset import READS
from textrawl.values.instant import write_day
from textrawl.values.limits import MOST_PROPOSALS
from textrawl.values.line_text import write_author, write_line
from textrawl.wire.replies import SHORT_ID, Key, Part, write_id


class BesidePart(Part):
    """A stored fact beside a proposal. `why`: repeats, replaces, contradicts, and so on."""

    id: Annotated[str, Key("id", short_id=True)]
    content: Annotated[str, Key("c")]
    why: Annotated[str, Key("why")]


class ProposalPart(Part):
    """A proposal. Only rejected proposals have a reason, and only pending ones facts beside."""

    id: Annotated[str, Key("id", short_id=True)]
    entity_name: Annotated[str, Key("n")]
    content: Annotated[str, Key("c")]
    author: Annotated[str, Key("by")]
    space: str
    created_at: datetime
    day: Annotated[str, Key("on"), Field(exclude=True)]
    state: str
    decided: Annotated[str | None, Key("state"), Field(exclude=True)]
    decided_by: str | None = None
    reason: Annotated[str | None, Key("why")] = None
    observation_id: Annotated[str | None, Key("obs", short_id=True)] = None
    relation_id: Annotated[str | None, Key("rel", short_id=True)] = None
    beside: Annotated[list[BesidePart] | None, Key("beside")] = None

    @classmethod
    def build(cls, row: ProposalRow) -> Self:
        """Return the part for `row`."""
        return cls(
            id=str(row.id),
            entity_name=row.entity_name,
            content=row.content,
            author=row.author_name,
            space=row.space_name,
            created_at=row.created_at,
            day=write_day(row.created_at),
            state=row.state,
            decided=None if row.state == "pending" else row.state,
            decided_by=row.decided_by,
            reason=row.reason,
            observation_id=write_id(row.observation_id),
            relation_id=write_id(row.relation_id),
            beside=[BesidePart(**fact) for fact in row.beside or []] or None,
        )

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

    spared = (("total",),)

    total: Annotated[int | None, Key("n")]
    proposals: Annotated[list[ProposalPart], Key("p")]

    @classmethod
    def build(cls, rows: Sequence[ProposalRow]) -> Self:
        """Return the reply with all rows."""
        return cls(
            total=rows[0].total if rows else 0, proposals=[ProposalPart.build(row) for row in rows]
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

    def size(self) -> int:
        """Return the number of proposals."""
        return len(self.proposals)

    def choose(self, count: int) -> Self:
        """Return a copy with the `count` oldest proposals."""
        kept = self.proposals[:count]
        return self.cut(len(self.proposals) - len(kept), proposals=kept)


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
    chosen = Filter(author or None, entityName or None, since, state, limit, offset)
    rows = await ReviewOperations(call.store).list(chosen, call.caller)
    return call.reply(ProposalsReply.build(rows))
