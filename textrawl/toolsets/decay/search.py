"""search_memory."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.decay.declaration import Days, Limit, Query, Score, Tags, decay
from textrawl.toolsets.decay.operations import DecayOperations, Search
from textrawl.toolsets.decay.replies import DecayReply, count_days, shorten
from textrawl.toolsets.decay.rows import FoundRow
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key, SnakePart

STATUSES = {
    "active": ("active",),
    "promoted": ("promoted",),
    "archived": ("archived",),
    "current": ("active", "promoted"),
}
Status = Literal["active", "promoted", "archived", "current"]


class FoundPart(SnakePart):
    """A memory that a search found."""

    id: Annotated[str, Key("id")]
    content: Annotated[str, Key("c")]
    tags: Annotated[list[str] | None, Key("tags")]
    score: Annotated[float, Key("s")]
    similarity: Annotated[float | None, Key("sim")]
    use_count: Annotated[int, Key("uses")]
    last_used: int
    age_days: float
    review_priority: Annotated[float | None, Key("due")]


class Pagination(SnakePart):
    """The place of a page among all results."""

    page: int
    page_size: int
    total: int
    has_more: bool


class FoundReply(DecayReply):
    """Memories, best first."""

    success: bool = True
    count: int
    results: Annotated[list[FoundPart], Key("m")]
    pagination: Pagination | None = None
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of memories."""
        return len(self.results)

    def choose(self, count: int) -> Self:
        """Return a copy with the best memories."""
        dropped = (len(self.results) - count) or None
        results = self.results[:count]
        return self.model_copy(
            update={"results": results, "count": len(results), "dropped": dropped}
        )


def _build(rows: Sequence[FoundRow], preview_length: int) -> list[FoundPart]:
    now = datetime.now(UTC)
    return [
        FoundPart(
            id=str(row.memory_id),
            content=shorten(row.content, preview_length),
            tags=row.tags or None,
            score=round(row.score, 4),
            similarity=None if row.similarity is None else round(row.similarity, 4),
            use_count=row.use_count,
            last_used=int(row.last_used.timestamp()),
            age_days=count_days(row.created_at, now),
            review_priority=round(row.review_priority, 4) or None,
        )
        for row in rows
    ]


@decay.tool(READS, FoundReply)
async def search_memory(
    call: Call,
    query: Query = "",
    tags: Annotated[Tags | None, Field(description="any of them")] = None,
    top_k: Limit = 10,
    window_days: Annotated[Days | None, Field(description="used within these days")] = None,
    min_score: Annotated[Score | None, Field(description="of decay alone")] = None,
    use_embeddings: Annotated[bool, Field(description="rank by meaning alone")] = False,
    status: Status = "current",
    include_review_candidates: bool = True,
    page: Annotated[int | None, Field(ge=1, le=100)] = None,
    page_size: Limit = 10,
    preview_length: Annotated[int, Field(ge=0, le=5000, description="0: whole texts")] = 300,
) -> CallToolResult:
    """Find memories by decay and similarity. `due`: review it, by using it where it fits.

    Example: {"query":"deadline","tags":["project"]}.
    """
    search = Search(
        query=query or None,
        tags=tags,
        limit=top_k,
        window_days=window_days,
        min_score=min_score,
        statuses=STATUSES[status],
        semantic=use_embeddings,
        review=include_review_candidates,
    )
    rows = await DecayOperations(call.store).search(search, call.caller)
    start = (page - 1) * page_size if page else 0
    parts = _build(rows[start : start + page_size if page else None], preview_length)
    place = None
    if page:
        more = start + len(parts) < len(rows)
        place = Pagination(page=page, page_size=page_size, total=len(rows), has_more=more)
    return call.recall("search", FoundReply(count=len(parts), results=parts, pagination=place))
