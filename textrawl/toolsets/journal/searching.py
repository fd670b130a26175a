"""memory_search: entries by meaning, words, recency, graph and instance."""

from typing import Annotated, Literal, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.journal.declaration import InstanceId, Query, journal
from textrawl.toolsets.journal.operations import JournalOperations, JournalSearch
from textrawl.toolsets.journal.rows import HitRow
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key, Part, Reply

Method = Literal["vector", "text"]


class HitPart(Part):
    """An entry that a search found. `tier` and `granularity` are the same."""

    score: Annotated[float, Key("s")]
    tier: Annotated[str, Key("g")]
    age_days: Annotated[int, Key("age")]
    vector_score: Annotated[float | None, Key("sim")]
    method: str
    granularity: str
    date: Annotated[str, Key("d")]
    slug: Annotated[str | None, Key("slug")]
    excerpt: Annotated[str, Key("c")]
    source_instance: Annotated[str, Key("src")]

    @classmethod
    def build(cls, row: HitRow) -> Self:
        """Return the part for `row`."""
        return cls(
            score=round(row.score, 3),
            tier=row.granularity,
            age_days=row.age_days,
            vector_score=None if row.vector_score is None else round(row.vector_score, 3),
            method=row.method,
            granularity=row.granularity,
            date=row.date,
            slug=row.slug,
            excerpt=row.excerpt,
            source_instance=row.source_instance,
        )


class HitsReply(Reply):
    """Entries, best first. `short` has the excerpts for an answer that exceeds its budget."""

    results: Annotated[list[HitPart], Key("m")]
    search_method: Annotated[Method, Key("by")]
    vector_available: bool
    dropped: Annotated[int | None, Key("cut")] = None
    short: Annotated[list[str], Field(exclude=True)]

    @classmethod
    def build(cls, rows: list[HitRow], *, vectors: bool) -> Self:
        """Return the reply for `rows`."""
        return cls(
            results=[HitPart.build(row) for row in rows],
            search_method="vector" if vectors else "text",
            vector_available=vectors,
            short=[row.short_excerpt for row in rows],
        )

    def size(self) -> int:
        """Return the number of entries."""
        return len(self.results)

    def choose(self, count: int) -> Self:
        """Return a copy with the best entries and short excerpts."""
        results = [
            part.model_copy(update={"excerpt": excerpt})
            for part, excerpt in zip(self.results[:count], self.short, strict=False)
        ]
        dropped = (len(self.results) - count) or None
        return self.model_copy(update={"results": results, "dropped": dropped})


@journal.tool(READS, HitsReply)
async def memory_search(
    call: Call,
    query: Query,
    instanceId: Annotated[InstanceId | None, Field(description="prefer its entries")] = None,
    queryEmbedding: Annotated[
        list[float] | None, Field(max_length=4000, description="default: made from query")
    ] = None,
    minScore: Annotated[float, Field(ge=0, le=1)] = 0.3,
    maxResults: Annotated[int, Field(ge=1, le=50)] = 10,
) -> CallToolResult:
    """Search my journal by meaning and words. Example: {"query":"tea with Ben"}."""
    search = JournalSearch(query, instanceId, queryEmbedding, minScore, maxResults)
    rows, vectors = await JournalOperations(call.store).search(search, call.caller)
    return call.recall("search", HitsReply.build(rows, vectors=vectors))
