"""A graph that is sensitive, or that a token cannot read, is in no cell for a caller."""

import json
from collections.abc import Iterator
from dataclasses import make_dataclass
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.attacks.site import add_graphs, add_spaces, issue
from tests.support.cluster import ClusterMemory
from tests.support.whole_memory import open_whole
from textrawl.access.access_token import hash_token
from textrawl.cluster.opening import open_connection
from textrawl.errors import TextrawlError
from textrawl.postgres.database import Database
from textrawl.postgres.sqlstates import DataRefused

pytestmark = pytest.mark.anyio

Call = tuple[LiteralString, str, dict[str, Any]]

_CHUNKS = json.dumps([[1, 0, 3, 1]])
# Each function of graphs with a column of its answer, and its arguments: {} is the graph.
CALLS: list[Call] = [
    ("recall_chunks", "content", {"query": "canary", "graphs": ["{}"], "min_score": 0}),
    ("list_graphs", "name", {"names": ["{}"]}),
    ("reachable_graphs", "name", {"names": ["{}"]}),
    ("measure_graphs", "bytes", {"names": ["{}"]}),
    ("known_sources", "label", {"graph": "{}"}),
    ("fetch_document", "content", {"document": "{source}"}),
    ("read_chunk", "content", {"document": "{source}", "chunk_part": 1}),
    ("propose_correction", "id", {"document": "{source}", "chunk_part": 1, "original": "canary",
                                  "proposed": "b", "proposal": "c"}),
    ("forget_source", "chunks_removed", {"document": "{source}"}),
    ("store_source", "document_id", {"graph": "{}", "path": "file/x", "label": "x",
                                     "content": "new", "chunks": _CHUNKS, "sha256": "0" * 64}),
]  # fmt: skip


@pytest.fixture
def team(memory: ClusterMemory) -> Iterator[psycopg.Connection[Any]]:
    """Two people, each with a graph that is read and one that is sensitive."""
    with open_whole(memory) as owner:
        add_spaces(owner)
        for space in ("red", "green"):
            issue(owner, f"of {space}", space, "read", "write", "forget")
            add_graphs(owner, space)
        yield owner


async def test_no_call_tells_a_sealed_or_foreign_graph_from_none(
    memory: ClusterMemory, team: psycopg.Connection[Any]
) -> None:
    query = "select s.name, c.document_id from source c join space s on s.id = c.space_id"
    sources: dict[str, UUID] = dict(team.execute(query).fetchall())
    token = hash_token(issue(team, "of red", "red", "read", "write", "forget"))
    async with open_connection(memory.dsn(), timeout=20) as database:
        for call in CALLS:
            none, *hidden, readable = [
                await _attempt(database, call, graph, sources.get(graph, uuid4()), token)
                for graph in ("nothing", "red-safe", "green-papers", "green-safe", "red-papers")
            ]
            assert hidden == [none] * 3, call
            assert readable != none, call


async def _attempt(database: Database, call: Call, graph: str, source: UUID, token: bytes) -> str:
    """What a call says about a graph, without the names that were given to it."""
    function, column, arguments = call
    given = {name: _fill(value, graph, source) for name, value in arguments.items()}
    row: type[object] = make_dataclass("Row", [column])
    try:
        answer = repr(await database.call(function, row, credential=token, **given))
    except (DataRefused, TextrawlError) as error:
        answer = f"{error} {vars(error)}"
    return answer.replace(graph, "GRAPH").replace(str(source), "SOURCE")


def _fill(value: Any, graph: str, source: UUID) -> Any:
    if isinstance(value, list):
        return [graph]
    return {"{}": graph, "{source}": source}.get(value, value)
