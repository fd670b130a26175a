"""memory_stats and get_stats: the counts, their replies, and the spaces that they count."""

import hashlib
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import read, refuse

pytestmark = pytest.mark.anyio

TEXT = "Tea is served at four."


def put(owner: psycopg.Connection) -> None:
    """Two entities with a relation, one valid fact, and one that ended."""
    owner.execute(
        "select remember_fact('Ada', 'person', 'drinks tea', space => default_space()),"
        " remember_fact('Ada', 'person', 'drinks milk', valid_until => now() - interval '1 day',"
        " space => default_space()),"
        " relate_entities('Ada', 'works_at', 'Acme', 'person', 'organization',"
        " space => default_space())"
    )


def put_source(owner: psycopg.Connection, graph: str, tier: str, reader: str) -> None:
    """A graph with one source of one chunk, and with a reader."""
    owner.execute("select create_space(%s, tier => 'personal')", (graph,))
    owner.execute("select grant_access(%s, %s, array['read'])", (reader, graph))
    owner.execute(
        "select store_source(%s, 'clip/a', 'tea', %s, '[[1, 0, 22, 6]]', %s)",
        (graph, TEXT, hashlib.sha256(TEXT.encode()).hexdigest()),
    )
    owner.execute("select change_tier(%s, %s, encrypting => true)", (graph, tier))


@pytest.fixture
async def client(connect: Connect, owner: psycopg.Connection) -> Client:
    """A client of a server with the stats tools."""
    put(owner)
    return await connect(toolsets=["stats"])


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    """Compact answer of a tool."""
    return read(await client.call_tool(tool, arguments))


async def test_memory_stats_counts_what_is_valid(client: Client) -> None:
    result = await client.call_tool("memory_stats", {})

    assert read(result) == {"e": 2, "o": 1, "r": 1, "by": {"person": 1, "organization": 1}}
    assert result.structured_content == {
        "totalEntities": 2,
        "totalObservations": 1,
        "totalRelations": 1,
        "entitiesByType": {"person": 1, "organization": 1},
    }


async def test_get_stats_wraps_the_counts_of_each_scope(client: Client) -> None:
    memory = {"e": 2, "o": 1, "r": 1, "by": {"person": 1, "organization": 1}}
    knowledge = {"g": 0, "src": 0, "c": 0, "tok": 0}

    assert await ask(client, "get_stats") == {"memory": memory, "knowledge": knowledge}
    assert await ask(client, "get_stats", scope="all") == await ask(client, "get_stats", scope="")
    assert await ask(client, "get_stats", scope="memory") == {"memory": memory}
    assert await ask(client, "get_stats", scope="knowledge") == {"knowledge": knowledge}


async def test_verbose_text_has_the_long_keys(connect: Connect, owner: psycopg.Connection) -> None:
    put(owner)
    client = await connect(toolsets=["stats"], compact_responses="false")

    memory = (await ask(client, "get_stats", scope="memory"))["memory"]

    assert memory == {
        "totalEntities": 2,
        "totalObservations": 1,
        "totalRelations": 1,
        "entityTypeCounts": {"person": 1, "organization": 1},
    }


async def test_a_scope_that_textrawl_does_not_have_is_refused(client: Client) -> None:
    for scope in ("conversations", "insights"):
        title, fix = await refuse(client, "get_stats", scope=scope)

        assert title == f"textrawl has no {scope} to count"
        assert fix == "scope: use memory, knowledge or all"


async def test_an_unknown_scope_is_refused_with_the_known_ones(client: Client) -> None:
    _, fix = await refuse(client, "get_stats", scope="everything")

    assert "must be one of all, memory, knowledge" in fix


async def test_only_graphs_that_the_caller_can_read_are_counted(
    client: Client, connect: Connect, owner: psycopg.Connection
) -> None:
    put_source(owner, "handbook", "personal", "ada")
    put_source(owner, "diary", "sensitive", "ada")
    put_source(owner, "foreign", "public", "eve")

    answer = await ask(client, "get_stats", scope="knowledge")
    listed = await connect(toolsets=["stats"], graphs="other")

    assert answer == {"knowledge": {"g": 1, "src": 1, "c": 1, "tok": 6}}
    assert (await ask(listed, "get_stats", scope="knowledge"))["knowledge"]["g"] == 0


async def test_in_a_graph_only_its_documents_are_counted(
    connect: Connect, owner: psycopg.Connection
) -> None:
    put_source(owner, "handbook", "personal", "ada")
    put_source(owner, "other", "personal", "ada")
    client = await connect(toolsets=["stats"], space="handbook")

    answer = await ask(client, "get_stats")
    title, _ = await refuse(client, "get_stats", scope="memory")

    assert answer == {"knowledge": {"g": 1, "src": 1, "c": 1, "tok": 6}}
    assert title == "The space handbook is a graph, which holds documents"


async def test_with_memory_off_the_error_names_the_setting(connect: Connect) -> None:
    client = await connect(toolsets=["stats"], enable_memory=False)

    assert (await client.list_tools()).tools == []
    assert await refuse(client, "get_stats", scope="memory") == (
        "Memory not enabled",
        "Set ENABLE_MEMORY=true",
    )
