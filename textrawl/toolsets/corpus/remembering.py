"""remember: store a text in a graph."""

from typing import Annotated, Literal, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.corpus.declaration import GraphName, Label, Text, corpus
from textrawl.toolsets.corpus.graph_choice import choose_graph
from textrawl.toolsets.corpus.operations import Clip, CorpusOperations
from textrawl.toolsets.corpus.rows import StoredSourceRow
from textrawl.toolsets.toolset import WRITES
from textrawl.values.text import clean_name
from textrawl.wire.replies import Key, Reply

_LABEL_LENGTH = 60  # characters of the first line that label a text without a label
_HEADING = "#>*- "  # marks at the beginning of a line of Markdown


class RememberedReply(Reply):
    """A stored text. `duplicate` is true if the graph had the text already."""

    source_id: Annotated[str, Key("id")]
    graph_id: Annotated[str, Key("g")]
    node_count: Annotated[int, Key("n")]
    duplicate: Annotated[Literal[True] | None, Key("dup")] = None

    @classmethod
    def build(cls, row: StoredSourceRow, graph: str) -> Self:
        """Return the reply for `row`."""
        return cls(
            source_id=str(row.document_id),
            graph_id=graph,
            node_count=row.chunk_count,
            duplicate=None if row.changed else True,
        )


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
    operations = CorpusOperations(call.store, call.graphs)
    graph = choose_graph(await operations.find_graphs(call.caller), graphId, target_engram)
    clip = Clip(text, label or _write_label(text, kind), kind)
    row = await operations.remember(clip, graph.name, call.caller)
    return call.reply(RememberedReply.build(row, graph.name))
