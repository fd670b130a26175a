"""recall: the chunks of documents that match a query."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.corpus.declaration import GraphName, Query, corpus, write_chunk_id
from textrawl.toolsets.corpus.operations import CorpusOperations, Question
from textrawl.toolsets.corpus.rows import FoundChunkRow, ReachableGraphRow
from textrawl.toolsets.toolset import READS
from textrawl.values.graph_name import find_equal
from textrawl.values.instant import write_day
from textrawl.values.line_text import write_line
from textrawl.wire.recall_log import Finding
from textrawl.wire.replies import Key, Part, Reply


class ChunkPart(Part):
    """A chunk that a search found. `line` is the line of the source in which it begins."""

    chunk_id: Annotated[str, Key("id")]
    source_id: str
    graph: Annotated[str, Key("g")]
    text: Annotated[str, Key("c")]
    score: Annotated[float, Key("s")]
    source_name: Annotated[str, Key("n")]
    line: Annotated[int, Key("l")]
    updated_at: datetime
    day: Annotated[str, Key("on"), Field(exclude=True)]
    tokens: Annotated[int, Field(exclude=True)]

    @classmethod
    def build(cls, row: FoundChunkRow) -> Self:
        """Return the part for `row`."""
        return cls(
            chunk_id=write_chunk_id(row.document_id, row.part),
            source_id=str(row.document_id),
            graph=row.graph,
            text=row.content or "",
            score=round(row.score, 3),
            source_name=row.label,
            line=row.line,
            updated_at=row.updated_at,
            day=write_day(row.updated_at),
            tokens=row.tokens,
        )

    def lines(self) -> Iterator[str]:
        """Yield a line about the chunk, and a line with its text."""
        place = write_line(f"{self.graph}/{self.source_name}:{self.line}")
        yield f"{round(self.score * 100)} {self.chunk_id} {self.day} {place}"
        yield write_line(self.text, marks="0123456789")


class RecallReply(Reply):
    """Chunks, best first. `truncated` is true if chunks were left out because of their tokens."""

    large = True
    one_channel = True

    results: Annotated[list[ChunkPart], Key("m")]
    total_tokens: Annotated[int, Key("tok")]
    truncated: bool
    cut: Annotated[bool | None, Key("cut"), Field(exclude=True)]
    unknown_graphs: Annotated[list[str] | None, Key("unknown")] = None
    note: Annotated[str | None, Key("note")] = None

    @classmethod
    def build(cls, rows: Sequence[FoundChunkRow], unknown: list[str], missing: str | None) -> Self:
        """Return the reply for `rows`. `missing` is the reason if the search used no vectors."""
        results = [ChunkPart.build(row) for row in rows if not row.over_cap]
        truncated = len(results) < len(rows)
        return cls(
            results=results,
            total_tokens=sum(part.tokens for part in results),
            truncated=truncated,
            cut=truncated or None,
            unknown_graphs=unknown or None,
            note=f"keyword only: {missing}" if missing else None,
        )

    def size(self) -> int:
        """Return the number of chunks."""
        return len(self.results)

    def choose(self, count: int) -> Self:
        """Return a copy with the best chunks."""
        kept = self.results[:count]
        update = {"results": kept, "total_tokens": sum(part.tokens for part in kept)}
        if count < len(self.results):
            update |= {"truncated": True, "cut": True}
        return self.model_copy(update=update)

    def lines(self) -> Iterator[str]:
        """Yield two lines for each chunk."""
        for part in self.results:
            yield from part.lines()
        if not self.results:
            yield "nothing found"
        if self.truncated:
            yield "cut"
        if self.unknown_graphs:
            yield f"note unknown graphs: {write_line(', '.join(self.unknown_graphs))}"
        if self.note:
            yield f"note {self.note}"


def _choose_names(
    graphs: Sequence[ReachableGraphRow], given: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the names of graphs that `given` means, and the given names that mean none."""
    readable = [graph.name for graph in graphs if graph.readable]
    meant = {name: find_equal(name, readable) for name in given}
    names = list(dict.fromkeys(name for equal in meant.values() for name in equal))
    return names, [name for name, equal in meant.items() if not equal]


@corpus.tool(READS, RecallReply, aliases={"q": "query", "question": "query"})
async def recall(
    call: Call,
    query: Query,
    graphs: Annotated[
        list[GraphName] | None, Field(max_length=100, description="only these; default: all")
    ] = None,
    topK: Annotated[int, Field(ge=1, le=32, description="most chunks")] = 8,
    minScore: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.3,
) -> CallToolResult:
    """Search the user's documents by meaning and words, best chunk first.

    Example: {"query":"database migration strategy","graphs":["work"]}.
    """
    operations = CorpusOperations(call.store, call.graphs)
    names, unknown = None, list[str]()
    if graphs:
        names, unknown = _choose_names(await operations.find_graphs(call.caller), graphs)
    question = Question(query, topK, minScore, call.app.max_recall_tokens)
    rows, missing = await operations.recall(question, names, call.caller)
    reply = RecallReply.build(rows, unknown, missing)
    shown = [row for row in rows if not row.over_cap]
    facts = [(row.graph, str(row.observation_id)) for row in shown]
    finding = Finding(query, facts, max((row.score for row in shown), default=None))
    return call.recall("search", reply, finding=finding)
