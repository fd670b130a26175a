"""query_memory with `sources`: chunks of documents beside facts, or alone."""

import json
from typing import Any
from uuid import UUID

import psycopg
import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import ask, refuse, remember, text_of

pytestmark = pytest.mark.anyio

MEALS = "Tea is served at four.\nCoffee is served at nine.\nThe kitchen closes at ten."
CHUNKS = [[1, 0, 23, 9], [2, 23, 26, 9], [3, 49, 26, 6]]


def store(owner: psycopg.Connection, graph: str, label: str = "meals.md") -> UUID:
    """Store the meals in a graph. In a sensitive graph, only a former version stored them so."""
    [(tier,)] = owner.execute("select tier from space where name = %s", (graph,)).fetchall()
    owner.execute("select change_tier(%s, 'public')", (graph,))
    [row] = owner.execute(
        "select document_id from store_source(%s, %s, %s, %s, %s, encode(sha256(%s), 'hex'))",
        (graph, f"file/{label}", label, MEALS, json.dumps(CHUNKS), MEALS.encode()),
    ).fetchall()
    owner.execute("select change_tier(%s, %s, encrypting => true)", (graph, tier))
    return row[0]


@pytest.fixture
def source(owner: psycopg.Connection) -> UUID:
    """A source in the personal graph `handbook`, which the caller can read."""
    owner.execute("select create_space('handbook', tier => 'personal')")
    owner.execute("select grant_access('ada', 'handbook', array['read'])")
    return store(owner, "handbook")


async def search(client: Client, **arguments: Any) -> Any:
    """Structured content of a search."""
    result = await client.call_tool("query_memory", {"mode": "search", **arguments})
    assert not result.is_error, text_of(result)
    return result.structured_content


def list_names(answer: Any) -> list[str]:
    return [entity["entityName"] for entity in answer["entities"]]


async def test_documents_are_searched_only_where_asked(client: Client, source: UUID) -> None:
    await remember(client, "Ben", "drinks coffee")

    facts = await search(client, query="coffee")
    documents = await search(client, query="coffee", sources=["documents"])
    both = await search(client, query="coffee", sources=["facts", "documents"])

    assert list_names(facts) == list_names(await search(client, query="coffee", sources=[]))
    assert list_names(facts) == ["Ben"]
    assert set(list_names(documents)) == {"meals.md"}
    assert set(list_names(both)) == {"Ben", "meals.md"}
    assert source


async def test_a_chunk_names_its_graph_its_label_its_line_and_its_id(
    client: Client, source: UUID
) -> None:
    answer = await search(client, query="when is coffee served", sources=["documents"], limit=1)

    [document] = answer["entities"]
    [chunk] = document["memories"]
    assert [document[key] for key in ("entityName", "entityType", "space")] == [
        "meals.md", "document", "handbook"
    ]  # fmt: skip
    assert (chunk["content"].strip(), chunk["line"]) == ("Coffee is served at nine.", 2)
    assert chunk["chunkId"] == f"{source}:2"
    assert (chunk["source"], "id" in chunk) == ("document", False)


async def test_lines_name_the_place_and_with_ids_the_chunk(connect: Connect, source: UUID) -> None:
    client = await connect(compact_responses="lines")
    asked = {"query": "coffee at nine", "sources": ["documents"], "limit": 1}

    plain = text_of(await client.call_tool("query_memory", asked)).splitlines()
    with_ids = text_of(await client.call_tool("query_memory", {**asked, "includeIds": True}))

    assert plain[0] == "meals.md (document) @handbook"
    assert plain[1].endswith(" line 2: Coffee is served at nine.\\n")
    assert f" {source}:2 " in with_ids.splitlines()[1]


async def test_compact_text_has_the_whole_id_of_a_chunk_with_ids(
    client: Client, source: UUID
) -> None:
    answer = await ask(client, query="coffee", sources=["documents"], includeIds=True, limit=1)

    [document] = answer["e"]
    assert (document["n"], document["t"], document["sp"]) == ("meals.md", "document", "handbook")
    assert document["m"][0]["id"] == f"{source}:2"
    assert document["m"][0]["line"] == 2


async def test_the_caps_of_graphs_hold_and_omissions_are_counted(
    client: Client, source: UUID, owner: psycopg.Connection
) -> None:
    owner.execute("select change_tier('handbook', 'personal', 10)")

    answer = await search(client, query="served kitchen", sources=["documents"], minScore=0)

    assert (answer["totalMemories"], answer["truncated"], answer["dropped"]) == (1, True, 2)
    assert source


async def test_the_ceiling_of_an_answer_holds(connect: Connect, source: UUID) -> None:
    client = await connect(max_recall_tokens=5)

    answer = await search(client, query="served kitchen", sources=["documents"], minScore=0)

    assert (answer["totalMemories"], answer["dropped"]) == (0, 3)
    assert source


async def test_sensitive_and_unlisted_graphs_change_no_answer(
    connect: Connect, source: UUID, owner: psycopg.Connection
) -> None:
    # Without a model, so that no vector that is made meanwhile changes a score.
    client = await connect(embedding_provider="none")
    narrow = await connect(embedding_provider="none", graphs=["handbook"])
    asked: dict[str, Any] = {"query": "coffee", "sources": ["facts", "documents"], "minScore": 0}
    before = await search(client, **asked)

    for name, tier in (("diary", "sensitive"), ("foreign", "public"), ("unlisted", "public")):
        owner.execute("select create_space(%s, tier => %s)", (name, tier))
        if name != "foreign":
            owner.execute("select grant_access('ada', %s, array['read', 'write'])", (name,))
        store(owner, name)
    owner.execute("select change_tier('unlisted', 'sensitive', encrypting => true)")

    assert await search(client, **asked) == before
    owner.execute("select change_tier('unlisted', 'public')")
    assert await search(narrow, **asked) == before
    assert source


async def test_a_space_with_facts_in_the_address_leaves_documents_out(
    connect: Connect, source: UUID
) -> None:
    client = await connect(space="default")
    await remember(client, "Ben", "drinks coffee")

    both = await search(client, query="coffee", sources=["facts", "documents"])

    assert list_names(both) == ["Ben"]
    assert source


async def test_a_graph_in_the_address_holds_no_facts(connect: Connect, source: UUID) -> None:
    client = await connect(space="handbook")

    title, _ = await refuse(client, "query_memory", query="coffee")
    found = await search(client, query="coffee", sources=["documents"])

    assert title == "The space handbook is a graph, which holds documents"
    assert set(list_names(found)) == {"meals.md"}
    assert source


async def test_documents_have_no_type(client: Client, source: UUID) -> None:
    title, fix = await refuse(
        client, "query_memory", query="coffee", sources=["documents"], entityTypes=["person"]
    )

    assert title == "entityTypes is only for facts"
    assert "leave out entityTypes" in fix
    assert source


async def test_an_unknown_source_is_refused(client: Client) -> None:
    title, fix = await refuse(client, "query_memory", query="coffee", sources=["web"])

    assert title == "Invalid argument"
    assert "documents" in fix
