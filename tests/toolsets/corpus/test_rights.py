"""Scopes, tokens of other spaces, lists of graphs and addresses of one graph."""

from typing import Any

import psycopg
import pytest

from tests.attacks.site import issue
from tests.conftest import Connect
from tests.support.tool_calls import read, read_error
from tests.toolsets.corpus.conftest import Ask

pytestmark = pytest.mark.anyio

TEXT = "The deployment pipeline runs on GitHub Actions."
QUERY = {"query": "deployment pipeline"}


def look(owner: psycopg.Connection[Any]) -> list[Any]:
    """Everything that is stored of sources."""
    return [
        owner.execute("select s::text from source s order by 1").fetchall(),
        owner.execute("select o.id from observation o order by 1").fetchall(),
        owner.execute("select e.id from event e order by 1").fetchall(),
    ]


async def test_each_tool_needs_its_scopes_and_changes_nothing_without_them(
    connect: Connect, ask: Ask, graphs: psycopg.Connection[Any]
) -> None:
    source = (await ask("remember", text=TEXT, graphId="work"))["sourceId"]
    for held in ("read", "write", "forget", "admin"):
        token = issue(graphs, "sam", "work", held)
        client = await connect(toolsets=["corpus"], access_token=token)
        before = look(graphs)
        for tool, arguments, needed in (
            ("recall", QUERY, {"read"}),
            ("stats", {}, {"read"}),
            ("remember", {"text": TEXT, "graphId": "work"}, {"write"}),
            ("forget", {"sourceId": source}, {"read", "forget"}),
        ):
            result = await client.call_tool(tool, arguments)
            if needed == {held}:
                assert not result.is_error, (tool, result)
            else:
                title = read_error(result)[0]
                assert title in ("Not allowed", "Source not found"), (tool, result)
        assert look(graphs) == before  # the remembered text was stored already


async def test_a_token_of_another_space_writes_and_forgets_in_a_graph(
    connect: Connect, graphs: psycopg.Connection[Any]
) -> None:
    token = issue(graphs, "sam", "default", "read", "write", "forget")
    graphs.execute("select grant_access('sam', 'default', array['read'])")
    graphs.execute("select grant_access('sam', 'work', array['read', 'write', 'forget'])")
    client = await connect(toolsets=["corpus", "memory"], access_token=token)

    stored = read(await client.call_tool("remember", {"text": TEXT}))

    assert stored["g"] == "work"
    assert read(await client.call_tool("forget", {"sourceId": stored["id"]}))["ok"] is True
    fact = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    assert read_error(await client.call_tool("remember_fact", fact))[0] == "Not allowed"


async def test_a_graph_that_is_only_readable_is_not_written(
    connect: Connect, graphs: psycopg.Connection[Any]
) -> None:
    token = issue(graphs, "sam", "work", "read", "write")
    graphs.execute("select grant_access('sam', 'book-notes', array['read'])")
    client = await connect(toolsets=["corpus"], access_token=token)

    result = await client.call_tool("remember", {"text": TEXT, "target_engram": "Book Notes"})

    title, fix = read_error(result)
    assert (title, "can only read book-notes" in fix) == ("Not allowed", True)


@pytest.mark.parametrize("limits", [{"graphs": ["work"]}, {"space": "work"}])
async def test_a_server_of_some_graphs_knows_no_others(
    connect: Connect, ask: Ask, limits: dict[str, Any]
) -> None:
    sources = {
        graph: (await ask("remember", text=TEXT, graphId=graph))["sourceId"]
        for graph in ("work", "book-notes")
    }
    client = await connect(toolsets=["corpus"], **limits)

    answers = [
        read(await client.call_tool("recall", QUERY | more))
        for more in ({}, {"graphs": ["book-notes"]}, {"graphs": ["nothing"]})
    ]
    refusals = [
        read_error(await client.call_tool("remember", {"text": "x", "graphId": name}))
        for name in ("book-notes", "bood-notes")
    ]

    assert [part["g"] for part in answers[0]["m"]] == ["work"]
    assert answers[1] == {"m": [], "tok": 0, "unknown": ["book-notes"]}
    assert answers[2] == {"m": [], "tok": 0, "unknown": ["nothing"]}
    assert refusals[0][1] == refusals[1][1]
    assert "book" not in refusals[0][1]
    assert [graph["n"] for graph in read(await client.call_tool("stats", {}))["g"]] == ["work"]
    foreign = await client.call_tool("forget", {"sourceId": sources["book-notes"]})
    assert read_error(foreign)[0] == "Source not found"
    assert read(await client.call_tool("remember", {"text": "More."}))["g"] == "work"


async def test_an_empty_list_of_graphs_allows_none(connect: Connect, ask: Ask) -> None:
    await ask("remember", text=TEXT, graphId="work")
    client = await connect(toolsets=["corpus"], graphs=",")

    assert read(await client.call_tool("recall", QUERY)) == {"m": [], "tok": 0}
    title, fix = read_error(await client.call_tool("remember", {"text": TEXT}))
    assert (title, "textrawl space create" in fix) == ("There is no graph yet", True)


async def test_a_sensitive_or_unlisted_graph_has_no_address(
    connect: Connect, graphs: psycopg.Connection[Any]
) -> None:
    del graphs
    for space in ("diary", "nowhere"):
        client = await connect(toolsets=["corpus"], space=space)
        title, fix = read_error(await client.call_tool("stats", {}))
        assert title == "Space not found"
        assert fix == "Spaces that ada may use: book-notes, default, work"
    for space in ("book-notes", "nowhere"):
        client = await connect(toolsets=["corpus"], space=space, graphs=["work"])
        title, fix = read_error(await client.call_tool("stats", {}))
        assert (title, fix) == ("Space not found", "Spaces that ada may use: default, work")


async def test_facts_have_no_label_of_a_space_because_there_are_graphs(
    connect: Connect, graphs: psycopg.Connection[Any]
) -> None:
    del graphs
    client = await connect()
    fact = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
    await client.call_tool("remember_fact", fact)

    result = await client.call_tool("query_memory", {"mode": "search", "query": "tea"})

    assert result.structured_content is not None
    assert "space" not in result.structured_content["entities"][0]


async def test_a_read_only_server_has_only_the_tools_that_read(connect: Connect) -> None:
    client = await connect(toolsets=["corpus"], read_only=True)

    names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == ["recall", "stats"]
