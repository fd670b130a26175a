"""graph_node_search, graph_node_list."""

from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.mind.declaration import Embedding, KindName, Query, Share, mind
from textrawl.toolsets.mind.replies import DIGITS, NodePart
from textrawl.toolsets.mind.walk_operations import WalkOperations
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key, Part, Reply


class MatchPart(Part):
    """A node that a search found, with its score from 0 to 1."""

    node: Annotated[NodePart, Key("node")]
    score: Annotated[float, Key("s")]


class MatchesReply(Reply):
    """Nodes that a search found, best first."""

    success: Annotated[bool, Key("ok")] = True
    results: Annotated[list[MatchPart], Key("m")]
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of results."""
        return len(self.results)

    def choose(self, count: int) -> Self:
        """Return a copy with the best results."""
        dropped = len(self.results) - count
        return self.model_copy(update={"results": self.results[:count], "dropped": dropped or None})


class NodesReply(Reply):
    """A page of nodes, last updated first. `total` is the number of nodes on all pages."""

    one_channel = True
    large = True

    success: Annotated[bool, Key("ok")] = True
    nodes: Annotated[list[NodePart], Key("nodes")]
    total: Annotated[int, Key("total")]
    dropped: Annotated[int | None, Key("cut")] = None

    def size(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    def choose(self, count: int) -> Self:
        """Return a copy with the first nodes."""
        dropped = len(self.nodes) - count
        return self.model_copy(update={"nodes": self.nodes[:count], "dropped": dropped or None})


@mind.tool(READS, MatchesReply)
async def graph_node_search(
    call: Call,
    query: Query,
    queryEmbedding: Embedding | None = None,
    type: KindName | None = None,
    minScore: Share = 0.3,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
) -> CallToolResult:
    """Find nodes by meaning and words. Example: {"query":"what calms her"}."""
    found = await WalkOperations(call.store).search(query, type, minScore, limit, call.caller)
    results = [
        MatchPart(node=NodePart.build(row), score=round(score, DIGITS)) for row, score in found
    ]
    return call.recall("search", MatchesReply(results=results))


@mind.tool(READS, NodesReply)
async def graph_node_list(
    call: Call,
    type: KindName | None = None,
    includeDeleted: bool = False,
    limit: Annotated[int, Field(ge=1, le=500)] = 100,
    offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0,
) -> CallToolResult:
    """List nodes, last updated first."""
    rows, total = await WalkOperations(call.store).list_page(
        type, limit, offset, call.caller, deleted=includeDeleted
    )
    return call.recall("list", NodesReply(nodes=[NodePart.build(row) for row in rows], total=total))
