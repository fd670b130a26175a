"""read_graph, search_nodes, open_nodes: the tools that read."""

import re
from collections.abc import Sequence
from typing import Annotated

from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import Field

from textrawl.access import Caller
from textrawl.errors import ArgumentInvalid
from textrawl.graph import Graph, Page, PartRow
from textrawl.insight import Insight
from textrawl.replies import write_json
from textrawl.toolsets import READS, App, Document
from textrawl.toolsets.graph.declaration import MOST_ITEMS, Cursor, Name, Query, graph
from textrawl.toolsets.graph.replies import GraphReply, write_number

_MOST_PARTS = 3000  # more than an answer of the usual budget holds
_MOST_OF_ALL = 20_000  # parts of the resource, which a person attaches or a program reads
_GRAPH_CURSOR = re.compile(r"([0-9a-z]{1,10})\.(\d{1,9})")
_PLAIN_CURSOR = re.compile(r"\d{1,9}")


@graph.tool(READS, GraphReply)
async def read_graph(ctx: Context[App], cursor: Cursor = "") -> CallToolResult:
    """Read the whole graph, a page at a time: while an answer has nextCursor, there is more."""
    page = Page(None, 0, _MOST_PARTS + 1)
    if cursor:
        found = _GRAPH_CURSOR.fullmatch(cursor)
        if found is None:
            raise ArgumentInvalid("cursor: give nextCursor of the answer before, as it stands")
        page = Page(int(found[1], 36), int(found[2]), _MOST_PARTS + 1)
    app: App = ctx.request_context.lifespan_context
    caller = await app.identify(ctx, "read_graph")
    rows = await Graph(app.memory).read(page, caller)
    cursors = [f"{write_number(row.number)}.{row.part}" for row in rows]
    return app.recall(caller, "graph", GraphReply.build(rows, cursors, _MOST_PARTS), None)


@graph.tool(READS, GraphReply)
async def search_nodes(ctx: Context[App], query: Query, cursor: Cursor = "") -> CallToolResult:
    """Find entities by a part of their name, type or an observation, by words, or by meaning.

    Use it before you answer anything that may depend on earlier conversations. Example:
    {"query":"database migrations"}.
    """
    page = _read_page(cursor)
    app: App = ctx.request_context.lifespan_context
    caller = await app.identify(ctx, "search_nodes")
    rows = await Graph(app.memory).search(query, page, caller)
    reply = GraphReply.build(rows, _count_on(page, rows), _MOST_PARTS)
    return app.recall(caller, "search", reply, None)


@graph.tool(READS, GraphReply)
async def open_nodes(
    ctx: Context[App],
    names: Annotated[list[Name], Field(max_length=MOST_ITEMS)],
    cursor: Cursor = "",
    includeIds: Annotated[bool, Field(description="ids, to end or reflect on")] = False,
) -> CallToolResult:
    """Read entities by name, with their observations and relations.

    Example: {"names":["Ada"]}.
    """
    page = _read_page(cursor)
    app: App = ctx.request_context.lifespan_context
    caller = await app.identify(ctx, "open_nodes")
    rows = await Graph(app.memory).open(names, page, caller)
    reply = GraphReply.build(rows, _count_on(page, rows), _MOST_PARTS, with_ids=includeIds)
    if app.takes_notes:
        seen = dict.fromkeys(row.number for row in rows if row.kind == "entity")
        await Insight(app.memory).note(list(seen), caller)
    return app.recall(caller, "entity", reply, None)


async def _read_whole(app: App, caller: Caller) -> str:
    page = Page(None, 0, _MOST_OF_ALL + 1)
    rows = await Graph(app.memory).read(page, caller)
    cursors = [f"{write_number(row.number)}.{row.part}" for row in rows]
    return write_json(GraphReply.build(rows, cursors, _MOST_OF_ALL).structured())


graph.documents.append(
    Document(
        "memory://knowledge-graph", "knowledge-graph", "Knowledge graph",
        "All entities with their observations and relations", _read_whole,
    )
)  # fmt: skip


def _read_page(cursor: str) -> Page:
    if cursor and not _PLAIN_CURSOR.fullmatch(cursor):
        raise ArgumentInvalid("cursor: give nextCursor of the answer before, as it stands")
    return Page(None, int(cursor or 0), _MOST_PARTS + 1)


def _count_on(page: Page, rows: Sequence[PartRow]) -> list[str]:
    return [str(page.skip + place) for place in range(len(rows))]
