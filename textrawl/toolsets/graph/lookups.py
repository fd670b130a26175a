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
from textrawl.toolsets.graph.insight import Insight
from textrawl.toolsets.graph.operations import Graph, Page, PartRow
from textrawl.toolsets.graph.replies import GraphReply, write_number
from textrawl.toolsets.toolset import READS, Document
from textrawl.wire.replies import write_json

_MOST_PARTS = 3000  # more than an answer of the usual budget holds
_MOST_TEXT = 1_000_000  # characters of these parts: more than the largest budget holds
_MOST_OF_ALL = 20_000  # parts of the resource, which a person attaches or a program reads
_MOST_TEXT_OF_ALL = 16_000_000
_FEW = 200  # parts that are written at once, unless they have more than _SHORT characters
_SHORT = 100_000
_GRAPH_CURSOR = re.compile(r"([0-9a-z]{1,10})\.(\d{1,9})")
_PLAIN_CURSOR = re.compile(r"\d{1,9}")


@graph.tool(READS, GraphReply)
async def read_graph(call: Call, cursor: Cursor = "") -> CallToolResult:
    """Read the whole graph, a page at a time: while an answer has nextCursor, there is more."""
    number, skip = None, 0
    if cursor:
        found = _GRAPH_CURSOR.fullmatch(cursor)
        if found is None:
            raise ArgumentInvalid("cursor: give nextCursor of the answer before, as it stands")
        number, skip = int(found[1], 36), int(found[2])
    page = Page(number, skip, _MOST_PARTS, _MOST_TEXT)
    rows = await Graph(call.store).read(page, call.caller)
    reply = GraphReply.build(rows, _name_places(rows), page.count(rows))
    return await _tell(call, "graph", reply, rows)


@graph.tool(READS, GraphReply)
async def search_nodes(call: Call, query: Query, cursor: Cursor = "") -> CallToolResult:
    """Find entities by a part of their name, type or an observation, by words, or by meaning.

    Use it before you answer anything that may depend on earlier conversations. Example:
    {"query":"database migrations"}.
    """
    page = _read_page(cursor)
    rows = await Graph(call.store).search(query, page, call.caller)
    reply = GraphReply.build(rows, _count_on(page, rows), page.count(rows))
    return await _tell(call, "search", reply, rows)


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
    rows = await Graph(call.store).open(names, page, call.caller)
    reply = GraphReply.build(rows, _count_on(page, rows), page.count(rows), with_ids=includeIds)
    if call.app.records_recalls:
        seen = dict.fromkeys(row.number for row in rows if row.kind == "entity")
        await Insight(call.store).note(list(seen), call.caller)
    return await _tell(call, "entity", reply, rows)


async def _tell(
    call: Call, mode: str, reply: GraphReply, rows: Sequence[PartRow]
) -> CallToolResult:
    if len(rows) <= _FEW and sum(row.length for row in rows) <= _SHORT:
        return call.recall(mode, reply)
    return await call.recall_aside(mode, reply)


async def _read_whole(call: Call) -> str:
    page = Page(None, 0, _MOST_OF_ALL, _MOST_TEXT_OF_ALL)
    return await run_aside(_write_whole, page, await Graph(call.store).read(page, call.caller))


def _write_whole(page: Page, rows: Sequence[PartRow]) -> str:
    reply = GraphReply.build(rows, _name_places(rows), page.count(rows))
    return write_json(reply.structured())


graph.documents.append(
    Document(
        "memory://knowledge-graph", "knowledge-graph", "Knowledge graph",
        "All entities with their observations and relations", _read_whole,
    )
)  # fmt: skip


def _read_page(cursor: str) -> Page:
    if cursor and not _PLAIN_CURSOR.fullmatch(cursor):
        raise ArgumentInvalid("cursor: give nextCursor of the answer before, as it stands")
    return Page(None, int(cursor or 0), _MOST_PARTS, _MOST_TEXT)


def _name_places(rows: Sequence[PartRow]) -> list[str]:
    return [f"{write_number(row.number)}.{row.part}" for row in rows]


def _count_on(page: Page, rows: Sequence[PartRow]) -> list[str]:
    return [str(page.skip + place) for place in range(len(rows))]
