"""stats: the graphs of the caller with their sizes."""

from collections.abc import Sequence
from typing import Annotated, Self

from mcp.types import CallToolResult

from textrawl.store.graphs import GraphRow
from textrawl.toolsets.call import Call
from textrawl.toolsets.corpus.declaration import corpus
from textrawl.toolsets.corpus.operations import CorpusOperations
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key, Part, Reply


class GraphPart(Part):
    """A graph with the numbers of its sources, chunks and tokens."""

    name: Annotated[str, Key("n")]
    tier: Annotated[str, Key("t")]
    sources: Annotated[int, Key("src")]
    chunks: Annotated[int, Key("chunks")]
    estimated_tokens: Annotated[int, Key("tok")]

    @classmethod
    def build(cls, row: GraphRow) -> Self:
        """Return the part for `row`."""
        return cls(
            name=row.name,
            tier=row.tier,
            sources=row.sources,
            chunks=row.chunks,
            estimated_tokens=row.tokens,
        )


class StatsReply(Reply):
    """The graphs that the caller can read, and their totals. The size in bytes is an estimate."""

    large = True
    one_channel = True

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
        cls, rows: Sequence[GraphRow], place: str, model: tuple[str | None, int], size: int
    ) -> Self:
        """Return the reply for `rows`. `model` is the name of a model with its dimensions."""
        name, dimensions = model
        return cls(
            cortex_path=place,
            graphs=[GraphPart.build(row) for row in rows],
            total_sources=sum(row.sources for row in rows),
            total_chunks=sum(row.chunks for row in rows),
            embedding_model=name,
            embedding_dimensions=dimensions or None,
            cortex_db_size_bytes=size,
        )

    def size(self) -> int:
        """Return the number of graphs."""
        return len(self.graphs)

    def choose(self, count: int) -> Self:
        """Return a copy with the first graphs."""
        dropped = (len(self.graphs) - count) or None
        return self.model_copy(update={"graphs": self.graphs[:count], "dropped": dropped})


@corpus.tool(READS, StatsReply)
async def stats(call: Call) -> CallToolResult:
    """Show the graphs of the user's documents with their sizes, and the embedding model."""
    operations = CorpusOperations(call.store, call.graphs)
    rows = await operations.list_graphs(call.caller)
    model = await operations.find_model()
    size = await operations.measure(model[1], call.caller)
    # The folder of the machine is of no use to somebody who reaches the server over a network.
    folder = None if call.caller.sharing else call.app.folder
    place = str(folder) if folder is not None else size.database
    return call.reply(StatsReply.build(rows, place, model, size.bytes))
