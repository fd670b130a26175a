"""The tools of the toolset `corpus`."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Annotated, Literal, Self
from uuid import UUID

from mcp.types import CallToolResult
from pydantic import AfterValidator, BeforeValidator, Field

from textrawl.errors import ArgumentInvalid
from textrawl.memory.corpus import (
    Clip,
    CorpusOperations,
    CorpusQuestion,
    CorpusSizeRow,
    CorrectionOperations,
    FoundChunkRow,
    choose_graph,
    find_equal,
    write_chunk_id,
    write_diff,
)
from textrawl.memory.store import GraphPart, list_graphs
from textrawl.tools.call import Call
from textrawl.tools.toolset import CLEAN_NAME, DELETES, READS, WRITES, Toolset
from textrawl.values.names import check_id
from textrawl.values.text import NAME_LENGTH, clean_fact, clean_name, write_line
from textrawl.wire.replies import Finding, Key, Part, Reply, Score

corpus = Toolset(
    "corpus",
    "Documents in graphs, found in chunks, with limits of tokens and graphs that stay private.",
)

TEXT_LENGTH = 200_000
_PROPOSAL_LENGTH = 10_000

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SOURCE, _CHUNK = re.compile(_UUID), re.compile(rf"{_UUID}:[1-9][0-9]{{0,4}}")


def _clean_text(value: object) -> object:
    return clean_fact(value) if isinstance(value, str) and len(value) <= TEXT_LENGTH else value


def _check(kind: str, form: re.Pattern[str]) -> AfterValidator:
    return AfterValidator(lambda value: check_id(value.lower(), kind, form))


Text = Annotated[str, BeforeValidator(_clean_text), Field(min_length=1, max_length=TEXT_LENGTH)]
Label = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=NAME_LENGTH)]
GraphName = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=NAME_LENGTH)]
Query = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=2048)]
SourceId = Annotated[str, CLEAN_NAME, _check("source", _SOURCE)]
ChunkId = Annotated[str, CLEAN_NAME, _check("chunk", _CHUNK)]
CorrectionId = Annotated[str, CLEAN_NAME, _check("correction", _SOURCE)]
ProposalText = Annotated[
    str, BeforeValidator(_clean_text), Field(min_length=1, max_length=_PROPOSAL_LENGTH)
]


def read_chunk_id(chunk: str) -> tuple[UUID, int]:
    """Return the source and the number of a chunk."""
    document, _, part = chunk.partition(":")
    return UUID(document), int(part)


class ChunkPart(Part):
    """A chunk that a search found. `line` is the line of the source in which it begins."""

    chunk_id: Annotated[str, Key("id")]
    document_id: Annotated[UUID, Field(alias="sourceId")]
    graph: Annotated[str, Key("g")]
    content: Annotated[str, Key("c"), Field(alias="text")]
    score: Annotated[Score, Key("s")]
    label: Annotated[str, Key("n"), Field(alias="sourceName")]
    line: Annotated[int, Key("l")]
    updated_at: datetime
    day: Annotated[str, Key("on"), Field(exclude=True)]
    tokens: Annotated[int, Field(exclude=True)]

    def lines(self) -> Iterator[str]:
        """Yield a line about the chunk, and a line with its text."""
        place = write_line(f"{self.graph}/{self.label}:{self.line}")
        yield f"{round(self.score * 100)} {self.chunk_id} {self.day} {place}"
        yield write_line(self.content, marks="0123456789")


class RecallReply(Reply):
    """Chunks, best first. `truncated` is true if chunks were left out because of their tokens."""

    large = True
    one_channel = True
    items = ("results",)

    results: Annotated[list[ChunkPart], Key("m")]
    total_tokens: Annotated[int, Key("tok")]
    truncated: bool
    shortened: Annotated[bool | None, Key("cut"), Field(exclude=True)]
    unknown_graphs: Annotated[list[str] | None, Key("unknown")] = None
    note: Annotated[str | None, Key("note")] = None

    @classmethod
    def build(cls, rows: Sequence[FoundChunkRow], unknown: list[str], missing: str | None) -> Self:
        """Return the reply for `rows`. `missing` is the reason if the search used no vectors."""
        results = [ChunkPart.model_validate(row) for row in rows if not row.over_cap]
        truncated = len(results) < len(rows)
        return cls(
            results=results,
            total_tokens=sum(part.tokens for part in results),
            truncated=truncated,
            shortened=truncated or None,
            unknown_graphs=unknown or None,
            note=f"keyword only: {missing}" if missing else None,
        )

    def choose(self, count: int) -> Self:
        """Return a copy with the best chunks."""
        kept = self.results[:count]
        update = {"results": kept, "total_tokens": sum(part.tokens for part in kept)}
        if count < len(self.results):
            update |= {"truncated": True, "shortened": True}
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


@corpus.tool(READS, RecallReply, aliases={"q": "query", "question": "query"})
async def recall(
    call: Call,
    query: Query,
    graphs: Annotated[
        list[GraphName] | None, Field(max_length=100, description="only these; default: all")
    ] = None,
    topK: Annotated[int, Field(ge=1, le=32, description="most chunks")] = 8,
    minScore: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.4,
) -> CallToolResult:
    """Search the user's documents by meaning and words, best chunk first.

    Example: {"query":"database migration strategy","graphs":["work"]}.
    """
    operations = CorpusOperations(call, call.graphs)
    names, unknown = None, list[str]()
    if graphs:
        readable = [graph.name for graph in await operations.find_graphs() if graph.readable]
        meant = {name: find_equal(name, readable) for name in graphs}
        names = list(dict.fromkeys(chain.from_iterable(meant.values())))
        unknown = [name for name, equal in meant.items() if not equal]
    question = CorpusQuestion(query, topK, minScore, call.settings.max_recall_tokens)
    rows, missing = await operations.recall(question, names)
    reply = RecallReply.build(rows, unknown, missing)
    shown = [row for row in rows if not row.over_cap]
    facts = [(row.graph, str(row.observation_id)) for row in shown]
    finding = Finding(query, facts, max((row.score for row in shown), default=None))
    return call.recall("search", reply, finding=finding)


_LABEL_LENGTH = 60  # characters of the first line that label a text without a label
_HEADING = "#>*- "  # marks at the beginning of a line of Markdown


class RememberedReply(Reply):
    """A stored text. `duplicate` is true if the graph had the text already."""

    source_id: Annotated[str, Key("id")]
    graph_id: Annotated[str, Key("g")]
    node_count: Annotated[int, Key("n")]
    duplicate: Annotated[Literal[True] | None, Key("dup")] = None


def _write_label(text: str, kind: str) -> str:
    """Return the first words of a text, or its kind if no line has a word."""
    for line in text.splitlines():
        name = clean_name(line).lstrip(_HEADING)
        if len(name) > _LABEL_LENGTH:
            cut = name[:_LABEL_LENGTH]
            return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut}…"
        if name:
            return name
    return kind


@corpus.tool(
    WRITES,
    RememberedReply,
    anywhere=True,
    aliases={
        "note": "text",
        "content": "text",
        "body": "text",
        "targetEngram": "target_engram",
    },
)
async def remember(
    call: Call,
    text: Text,
    graphId: Annotated[GraphName | None, Field(description="exact slug of a graph")] = None,
    target_engram: Annotated[
        GraphName | None, Field(description="name of a graph, as the user says it; preferred")
    ] = None,
    label: Annotated[Label | None, Field(description="short name of the text")] = None,
    kind: Annotated[
        Literal["clip", "ai-conversation"], Field(description="a note, or a turn of our talk")
    ] = "clip",
) -> CallToolResult:
    """Store a text among the user's documents. No graph is created for an unknown name.

    Example: {"text":"We use PostgreSQL.","target_engram":"Work decisions","label":"DB choice"}.
    """
    operations = CorpusOperations(call, call.graphs)
    graph = choose_graph(await operations.find_graphs(), graphId, target_engram)
    clip = Clip(text, label or _write_label(text, kind), kind)
    row = await operations.remember(clip, graph.name)
    reply = RememberedReply(
        source_id=str(row.document_id),
        graph_id=graph.name,
        node_count=row.chunk_count,
        duplicate=None if row.changed else True,
    )
    return call.reply(reply)


_ONCE = WRITES.model_copy(update={"idempotent_hint": False})
_ASKS = _ONCE.model_copy(update={"open_world_hint": True})  # the tool calls the LLM


class CorrectReply(Reply):
    """A proposed correction. Compact text shows only the changed lines."""

    large = True
    one_channel = True
    spared = (("original_text",), ("proposed_text",), ("diff",))

    correction_id: Annotated[str, Key("id")]
    chunk_id: Annotated[str, Key("chunk")]
    original_text: str | None
    proposed_text: str | None
    diff: Annotated[str | None, Key("diff")]
    expires_at: Annotated[datetime, Key("until")]


class ApplyReply(Reply):
    """A corrected chunk. If `new_embedding_computed` is false, the server makes the vector later.

    `op_log_event_id` is the number of the event in the trail.
    """

    chunk_id: Annotated[str, Key("chunk")]
    applied: Annotated[Literal[True], Key("ok")] = True
    new_embedding_computed: Annotated[bool, Key("vec")]
    op_log_event_id: Annotated[str, Key("event")]


@corpus.tool(_ASKS, CorrectReply, anywhere=True)
async def correct(
    call: Call,
    chunkId: Annotated[ChunkId, Field(description="of recall")],
    proposal: Annotated[ProposalText, Field(description="what should change, in words")],
) -> CallToolResult:
    """Propose a correction of a chunk. Nothing changes until apply, within ten minutes.

    Always show the diff to the user, and call apply only if the user agrees.
    """
    document, part = read_chunk_id(chunkId)
    operations = CorrectionOperations(call, call.graphs)
    found = await operations.propose(document, part, proposal, call.settings.correction_mode)
    reply = CorrectReply(
        correction_id=str(found.row.id),
        chunk_id=chunkId,
        original_text=found.original,
        proposed_text=found.proposed,
        diff=write_diff(found.original, found.proposed),
        expires_at=found.row.apply_until,
    )
    return call.reply(reply)


@corpus.tool(_ONCE, ApplyReply, anywhere=True)
async def apply(
    call: Call, correctionId: Annotated[CorrectionId, Field(description="of correct")]
) -> CallToolResult:
    """Store a correction that the user has seen and wants."""
    operations = CorrectionOperations(call, call.graphs)
    row, embedded = await operations.apply(UUID(correctionId))
    reply = ApplyReply(
        chunk_id=write_chunk_id(row.document_id, row.part),
        new_embedding_computed=embedded,
        op_log_event_id=str(row.event_id),
    )
    return call.reply(reply)


class ForgottenReply(Reply):
    """The number of deleted chunks, and whether the source is gone."""

    deleted: Annotated[Literal[True], Key("ok"), Field(init=False)] = True
    chunks_removed: Annotated[int, Key("chunks")]
    source_removed: Annotated[bool, Key("source")]


def _choose(chunk: str | None, source: str | None) -> tuple[UUID, int | None]:
    """Return the source, and the number of the only chunk to delete.

    A chunk is deleted together with its source if the call names both. Raises ArgumentInvalid.
    """
    if chunk is None and source is None:
        raise ArgumentInvalid("provide chunkId or sourceId", title="Nothing to forget")
    if chunk is None:
        return UUID(source), None
    document, part = read_chunk_id(chunk)
    if source is None:
        return document, part
    if document != UUID(source):
        raise ArgumentInvalid(
            "the chunk is not of this source: call forget for each of them; nothing was deleted",
            title="Two different sources",
        )
    return document, None


@corpus.tool(DELETES, ForgottenReply, anywhere=True)
async def forget(
    call: Call,
    chunkId: Annotated[ChunkId | None, Field(description="delete this chunk")] = None,
    sourceId: Annotated[
        SourceId | None, Field(description="delete this source with all its chunks")
    ] = None,
) -> CallToolResult:
    """Delete a chunk or a source for good, if the user wants it. It cannot be undone.

    A sourceId is the part of a chunkId before the colon.
    """
    document, part = _choose(chunkId, sourceId)
    reply = await call.store.call_one(
        "forget_source",
        ForgottenReply,
        document=document,
        chunk_part=part,
        graphs=call.graphs,
        **call.caller.signing,
    )
    return call.reply(reply)


class CorpusStatsReply(Reply):
    """The graphs that the caller can read, and their totals. The size in bytes is an estimate."""

    large = True
    one_channel = True
    items = ("graphs",)

    cortex_path: Annotated[str, Key("at")]
    graphs: Annotated[list[GraphPart], Key("g")]
    total_sources: Annotated[int, Key("src")]
    total_chunks: Annotated[int, Key("chunks")]
    embedding_model: Annotated[str | None, Key("model")]
    embedding_dimensions: Annotated[int | None, Key("dims")]
    cortex_db_size_bytes: Annotated[int, Key("bytes")]
    dropped: Annotated[int | None, Key("cut")] = None

    @classmethod
    def build(
        cls, rows: Sequence[GraphPart], place: str, model: tuple[str | None, int], size: int
    ) -> Self:
        """Return the reply for `rows`. `model` is the name of a model with its dimensions."""
        name, dimensions = model
        return cls(
            cortex_path=place,
            graphs=list(rows),
            total_sources=sum(row.sources for row in rows),
            total_chunks=sum(row.chunks for row in rows),
            embedding_model=name,
            embedding_dimensions=dimensions or None,
            cortex_db_size_bytes=size,
        )


@corpus.tool(READS, CorpusStatsReply)
async def stats(call: Call) -> CallToolResult:
    """Show the graphs of the user's documents with their sizes, and the embedding model."""
    credential = call.caller.principal.credential
    rows = await list_graphs(call.store.database, credential, call.graphs)
    model = await CorpusOperations(call, call.graphs).find_model()
    size = await call.store.call_one(
        "measure_graphs",
        CorpusSizeRow,
        credential=credential,
        names=call.graphs,
        dimensions=model[1],
    )
    # The folder of the machine is of no use to somebody who reaches the server over a network.
    shown = call.settings.database_url is None and not call.caller.sharing
    place = str(call.settings.data_dir) if shown else size.database
    return call.reply(CorpusStatsReply.build(rows, place, model, size.bytes))
