"""read_graph, search_nodes, open_nodes: the tools that read."""

import re
from collections.abc import Sequence
from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid
from textrawl.scheduling.workers import run_aside
from textrawl.toolsets.call import Call
from textrawl.toolsets.graph.declaration import MOST_ITEMS, Cursor, Name, Query, graph
from textrawl.toolsets.graph.operations import GraphOperations, Page
from textrawl.toolsets.graph.replies import GraphReply, write_number
from textrawl.toolsets.graph.rows import PartRow
from textrawl.toolsets.toolset import READS, Document
from textrawl.wire.replies import write_json

_MOST_PARTS = 3000  # parts of a page; more parts than fit the default budget
_MOST_TEXT = 1_000_000  # characters of a page; more than fit the largest budget
_MOST_RESOURCE_PARTS = 20_000  # the resource does not have a budget
_MOST_RESOURCE_TEXT = 16_000_000  # characters
_SHORT_PARTS, _SHORT_TEXT = 200, 100_000  # parts and characters; a longer reply needs a thread
_GRAPH_CURSOR = re.compile(r"([0-9a-z]{1,10})\.(\d{1,9})")
_PLAIN_CURSOR = re.compile(r"\d{1,9}")
_CURSOR_INVALID = "cursor: pass nextCursor of the previous answer without changes"


@graph.tool(READS, GraphReply)
async def read_graph(call: Call, cursor: Cursor = "") -> CallToolResult:
    """Read the whole graph, a page at a time: while an answer has nextCursor, there is more."""
    number, skip = None, 0
    if cursor:
        match = _GRAPH_CURSOR.fullmatch(cursor)
        if match is None:
            raise ArgumentInvalid(_CURSOR_INVALID)
        number, skip = int(match[1], 36), int(match[2])
    page = Page(number, skip, _MOST_PARTS, _MOST_TEXT)
    rows = await GraphOperations(call.store).read(page, call.caller)
    reply = GraphReply.build(rows, _write_graph_cursors(rows), page.count(rows))
    return await _recall(call, "graph", reply, rows)


@graph.tool(READS, GraphReply)
async def search_nodes(call: Call, query: Query, cursor: Cursor = "") -> CallToolResult:
    """Find entities by a part of their name, type or an observation, by words, or by meaning.

    Use it before you answer anything that may depend on earlier conversations. Example:
    {"query":"database migrations"}.
    """
    page = _read_page(cursor)
    rows = await GraphOperations(call.store).search(query, page, call.caller)
    reply = GraphReply.build(rows, _write_plain_cursors(page, rows), page.count(rows))
    return await _recall(call, "search", reply, rows)


@graph.tool(READS, GraphReply)
async def open_nodes(
    call: Call,
    names: Annotated[list[Name], Field(max_length=MOST_ITEMS)],
    cursor: Cursor = "",
    includeIds: Annotated[bool, Field(description="ids, to end or reflect on")] = False,
) -> CallToolResult:
    """Read entities by name, with their observations and relations.

    Example: {"names":["Ada"]}.
    """
    page = _read_page(cursor)
    operations = GraphOperations(call.store)
    rows = await operations.open(names, page, call.caller)
    cursors = _write_plain_cursors(page, rows)
    reply = GraphReply.build(rows, cursors, page.count(rows), with_ids=includeIds)
    if call.app.records_recalls:
        numbers = dict.fromkeys(row.number for row in rows if row.kind == "entity")
        await operations.record_use(list(numbers), call.caller)
    return await _recall(call, "entity", reply, rows)


async def _recall(
    call: Call, mode: str, reply: GraphReply, rows: Sequence[PartRow]
) -> CallToolResult:
    if len(rows) <= _SHORT_PARTS and sum(row.length for row in rows) <= _SHORT_TEXT:
        return call.recall(mode, reply)
    return await call.recall_aside(mode, reply)


async def _read_resource(call: Call) -> str:
    page = Page(None, 0, _MOST_RESOURCE_PARTS, _MOST_RESOURCE_TEXT)
    rows = await GraphOperations(call.store).read(page, call.caller)
    return await run_aside(_write_resource, page, rows)


def _write_resource(page: Page, rows: Sequence[PartRow]) -> str:
    reply = GraphReply.build(rows, _write_graph_cursors(rows), page.count(rows))
    return write_json(reply.structured())


graph.documents.append(
    Document(
        "memory://knowledge-graph",
        "knowledge-graph",
        "Knowledge graph",
        "All entities with their observations and relations",
        _read_resource,
    )
)


def _read_page(cursor: str) -> Page:
    if cursor and not _PLAIN_CURSOR.fullmatch(cursor):
        raise ArgumentInvalid(_CURSOR_INVALID)
    return Page(None, int(cursor or 0), _MOST_PARTS, _MOST_TEXT)


def _write_graph_cursors(rows: Sequence[PartRow]) -> list[str]:
    """Return a cursor for each row. The cursor is the place of the row in the whole graph."""
    return [f"{write_number(row.number)}.{row.part}" for row in rows]


def _write_plain_cursors(page: Page, rows: Sequence[PartRow]) -> list[str]:
    """Return a cursor for each row. The cursor is the place of the row in the whole answer."""
    return [str(page.skip + place) for place in range(len(rows))]
