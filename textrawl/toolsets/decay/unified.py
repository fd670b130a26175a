"""search_unified: memories and notes in one list."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.decay.declaration import Days, Limit, Query, Score, Tags, decay
from textrawl.toolsets.decay.replies import DecayReply, shorten
from textrawl.toolsets.decay.unified_operations import Found, UnifiedOperations, Wanted
from textrawl.toolsets.toolset import READS
from textrawl.values.line_text import write_line
from textrawl.wire.replies import Key, SnakePart

_PREVIEW = 300  # characters
Weight = Annotated[float, Field(ge=0, le=2)]


class UnifiedPart(SnakePart):
    """A memory (stm) or a note (ltm). Ids, paths and times are there if the call asks for them."""

    content: Annotated[str, Key("c")]
    title: Annotated[str | None, Key("t")] = None
    source: Annotated[Literal["stm", "ltm"], Key("src")]
    score: Annotated[float, Key("s")]
    tags: Annotated[list[str], Key("tags")]
    path: Annotated[str | None, Key("path")] = None
    memory_id: Annotated[str | None, Key("id")] = None
    created_at: Annotated[str | None, Key("at")] = None
    last_used: Annotated[str | None, Key("used")] = None

    @classmethod
    def build(cls, found: Found, *, verbose: bool) -> Self:
        """Return the part for a result."""
        part = cls(
            content=shorten(found.content, _PREVIEW),
            title=found.title,
            source=found.source,
            score=round(found.score, 4),
            tags=found.tags,
        )
        if verbose:
            part.path, part.memory_id = found.path, found.memory_id
            part.created_at = found.created_at.isoformat()
            part.last_used = found.last_used.isoformat() if found.last_used else None
        return part

    def line(self) -> str:
        """Return the line of the text."""
        places = [f"({place})" for place in (self.memory_id, self.path) if place]
        head = f"[{self.source} {self.score:.2f}]"
        title = f"{write_line(self.title)}:" if self.title else ""
        words = [head, title, write_line(self.content), *(f"#{tag}" for tag in self.tags), *places]
        return " ".join(word for word in words if word)


class UnifiedReply(DecayReply):
    """Memories and notes, the best first. The text is always lines, as the original answers."""

    always_lines: ClassVar[bool] = True

    success: Annotated[bool, Key("ok")] = True
    count: Annotated[int, Key("n")]
    results: Annotated[list[UnifiedPart], Key("r")]
    note: Annotated[str | None, Key("note")] = None
    dropped: Annotated[int | None, Key("cut")] = None

    @classmethod
    def build(cls, found: Sequence[Found], note: str | None, *, verbose: bool) -> Self:
        """Return the reply for the results of a search."""
        parts = [UnifiedPart.build(one, verbose=verbose) for one in found]
        return cls(count=len(parts), results=parts, note=note)

    def lines(self) -> Iterator[str]:
        """Yield a line for each result."""
        yield from (part.line() for part in self.results)
        if not self.results:
            yield "nothing found"
        if self.dropped:
            yield f"cut {self.dropped}"
        if self.note:
            yield f"note {self.note}"

    def size(self) -> int:
        """Return the number of results."""
        return len(self.results)

    def choose(self, count: int) -> Self:
        """Return a copy with the best results."""
        dropped = len(self.results) - count
        return self.model_copy(
            update={"count": count, "results": self.results[:count], "dropped": dropped or None}
        )


@decay.tool(READS, UnifiedReply)
async def search_unified(
    call: Call,
    query: Query = "",
    tags: Tags | None = None,
    limit: Limit = 10,
    stm_weight: Weight = 1.0,
    ltm_weight: Weight = 0.7,
    window_days: Days | None = None,
    min_score: Score | None = None,
    verbose: Annotated[bool, Field(description="ids, paths and times too")] = False,
) -> CallToolResult:
    """Search memories (stm) and the notes of the vault (ltm) together; each has all words."""
    wanted = Wanted(query, tags or (), limit, stm_weight, ltm_weight, window_days, min_score)
    found, note = await UnifiedOperations(call.store, call.app.vault).search(wanted, call.caller)
    return call.recall("unified", UnifiedReply.build(found, note, verbose=verbose))
