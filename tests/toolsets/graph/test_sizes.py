"""What a graph costs: a usual one comes at once, a large one in pages, and no answer is a lie."""

import json
from itertools import chain
from typing import Any

import pytest
from mcp import Client
from mcp.types import TextResourceContents
from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]

from tests.conftest import Connect
from tests.support.tool_calls import text_of
from tests.toolsets.graph.reference import ask, call, check_empty_lists

pytestmark = pytest.mark.anyio

PATIENT = 60.0  # seconds: a thousand facts are much for a machine with other things to do
SENTENCE = "decided on day {} with team {} that the next release would keep its old file format"


def make_graph(entities: int, observations: int) -> tuple[list[Any], list[Any]]:
    """Entities whose observations have some ninety characters, in a circle of relations."""
    nodes = [
        {
            "name": f"Component {node}", "entityType": "project",
            "observations": [SENTENCE.format(number, node) for number in range(observations)],
        }
        for node in range(entities)
    ]  # fmt: skip
    edges = [
        {"from": node["name"], "to": nodes[place - 1]["name"], "relationType": "depends_on"}
        for place, node in enumerate(nodes)
    ]
    return nodes, edges


async def store(client: Client, nodes: list[Any], edges: list[Any]) -> None:
    for tool, items in (("create_entities", nodes), ("create_relations", edges)):
        arguments = {"entities" if items is nodes else "relations": items}
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)


@pytest.mark.slow
@pytest.mark.parametrize("structured", ["full", "off"])
async def test_a_hundred_entities_with_ten_observations_come_in_one_page(
    connect: Connect, structured: str
) -> None:
    client = await connect(
        toolsets=["graph"], structured_content=structured, database_timeout=PATIENT
    )
    nodes, edges = make_graph(100, 10)
    await store(client, nodes, edges)

    whole = json.loads(text_of(await call(client, "read_graph")))
    chosen = [node["name"] for node in nodes[:40]]
    opened = json.loads(text_of(await call(client, "open_nodes", names=chosen)))
    found = json.loads(text_of(await call(client, "search_nodes", query="release")))

    assert whole == {"entities": nodes, "relations": edges}
    assert opened["entities"] == nodes[:40]
    assert found["entities"] == nodes
    assert "nextCursor" not in opened | found


async def read_whole(client: Client) -> tuple[list[list[Any]], list[Any], list[int]]:
    """Entities page by page, relations of all pages, and the tokens of each."""
    pages: list[list[Any]] = []
    edges: list[Any] = []
    costs: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        result = await call(client, "read_graph", **cursor)
        answer = result.structured_content
        assert answer is not None
        assert json.loads(text_of(result)) == answer
        costs.append(sum(batch_count([text_of(result)], "o200k_base", threads=1)))
        pages.append(answer["entities"])
        edges += answer["relations"]
        if "nextCursor" not in answer:
            return pages, edges, costs
        assert answer["nextCursor"] in text_of(result)
        assert answer["note"] == "There is more: call again with cursor"
        cursor = {"cursor": answer["nextCursor"]}


@pytest.mark.slow
async def test_a_graph_of_2500_observations_is_read_in_pages_within_the_budget(
    connect: Connect,
) -> None:
    limits = {"max_graph_tokens": 4000, "database_timeout": PATIENT}
    client = await connect(toolsets=["graph"], embedding_provider="none", **limits)
    items = [
        {
            "name": f"node {node}", "entityType": "test",
            "observations": [f"observation {number} of {node}" for number in range(count)],
        }
        for node, count in enumerate([1000, *[15] * 100])
    ]  # fmt: skip
    links = [
        {"from": f"node {node}", "to": f"node {node + 1}", "relationType": "precedes"}
        for node in range(100)
    ]
    result = await call(client, "create_entities", entities=items)
    assert not result.is_error, text_of(result)
    assert not (await call(client, "create_relations", relations=links)).is_error

    pages, edges, costs = await read_whole(client)

    assert max(costs) <= 4000
    cut = [page for page in pages if page[0]["name"] == "node 0"]
    assert all(len(page) == 1 for page in cut)
    assert sum(map(len, pages)) == len(cut) + 100  # no other is on two pages
    together: dict[str, list[str]] = {}
    for node in chain.from_iterable(pages):
        together.setdefault(node["name"], []).extend(node["observations"])
    assert together == {item["name"]: item["observations"] for item in items}
    assert edges == links


async def test_a_node_larger_than_an_answer_is_opened_in_pages(connect: Connect) -> None:
    client = await connect(toolsets=["graph"], embedding_provider="none", max_graph_tokens=1000)
    said = [f"observation {number} of the one node" for number in range(300)]
    await call(client, "create_entities", entities=[{"name": "One", "observations": said}])

    for tool, asked in (("open_nodes", {"names": ["one"]}), ("search_nodes", {"query": "ONE"})):
        found, cursor = list[str](), ""
        while True:
            answer = await ask(client, tool, **asked, cursor=cursor)
            found += answer["entities"][0]["observations"]
            if "nextCursor" not in answer:
                break
            cursor = answer["nextCursor"]
        assert found == said


async def test_an_observation_longer_than_the_budget_does_not_stop_the_reading(
    connect: Connect,
) -> None:
    client = await connect(toolsets=["graph"], embedding_provider="none", max_graph_tokens=400)
    said = ["first", "word " * 390, "last"]
    await call(client, "create_entities", entities=[{"name": "One", "observations": said}])

    first = await ask(client, "read_graph")
    second = await ask(client, "read_graph", cursor=first["nextCursor"])
    third = await ask(client, "read_graph", cursor=second["nextCursor"])

    assert first["entities"][0]["observations"] == ["first"]
    assert second["entities"] == []
    assert "too long" in second["note"]
    assert third["entities"][0]["observations"] == ["last"]


async def test_a_page_has_a_million_characters_and_the_resource_all(connect: Connect) -> None:
    client = await connect(
        toolsets=["graph"],
        embedding_provider="none",
        max_graph_tokens=200_000,
        database_timeout=PATIENT,
    )
    said = [f"{number} " + "internationalization " * 900 for number in range(60)]
    for part in (said[:30], said[30:]):
        await call(client, "create_entities", entities=[{"name": "One", "observations": part}])
    said = [text.strip() for text in said]

    first = await ask(client, "read_graph")
    second = await ask(client, "read_graph", cursor=first["nextCursor"])
    opened = await ask(client, "open_nodes", names=["One"])
    rest = await ask(client, "open_nodes", names=["One"], cursor=opened["nextCursor"])
    [content] = (await client.read_resource("memory://knowledge-graph")).contents

    entries = [answer["entities"][0]["observations"] for answer in (first, second, opened, rest)]
    assert 900_000 < sum(map(len, entries[0])) <= 1_000_000
    assert entries[0] + entries[1] == entries[2] + entries[3] == said
    assert isinstance(content, TextResourceContents)
    assert json.loads(content.text)["entities"][0]["observations"] == said


async def test_a_write_answers_names_and_counts_where_it_would_be_too_long(
    connect: Connect,
) -> None:
    client = await connect(toolsets=["graph"], database_timeout=PATIENT)
    nodes, edges = make_graph(60, 10)

    created = await ask(client, "create_entities", entities=nodes)
    edges += [{**edge, "relationType": "is_tested_with"} for edge in edges]
    related = await ask(client, "create_relations", relations=edges)
    said = [SENTENCE.format(number, "nobody") for number in range(5)]
    news = [{"entityName": node["name"], "contents": said} for node in nodes]
    added = await ask(client, "add_observations", observations=news)

    assert created["entities"] == [{**node, "observations": [], "added": 10} for node in nodes]
    assert created["note"].startswith("Stored: entities 60, observations 600.")
    assert related["relations"] == edges[: len(related["relations"])]
    assert related["note"].startswith("Stored: relations 120; not stored: 0.")
    assert added["results"] == [
        {"entityName": node["name"], "addedObservations": [], "added": 5} for node in nodes
    ]
    assert added["note"].startswith("Stored: observations 300.")
    assert "dropped" not in json.dumps([created, related, added])
    assert await ask(client, "create_entities", entities=nodes) == {"entities": []}


async def test_a_write_tells_how_many_relations_could_not_be_made(connect: Connect) -> None:
    client = await connect(toolsets=["graph"], max_response_tokens=200)
    nodes, edges = make_graph(30, 0)
    await ask(client, "create_entities", entities=nodes)
    bad = [{**edge, "to": f"Nobody {place}"} for place, edge in enumerate(edges)]

    answer = await ask(client, "create_relations", relations=edges + bad)

    assert answer["note"].startswith("Stored: relations 30; not stored: 30.")
    assert answer["errors"][0] == "Entity not found: Nobody 0"


async def test_who_adds_to_one_entity_reads_its_newest_observations(connect: Connect) -> None:
    client = await connect(toolsets=["graph"], max_response_tokens=500)
    [node], _ = make_graph(1, 50)
    await ask(client, "create_entities", entities=[node])

    answer = await ask(client, "add_observations", name=node["name"], observations=["is new"])

    texts = answer["entity"]["observations"]
    assert texts == [*node["observations"], "is new"][-len(texts) :]
    assert answer["note"] == f"The newest {len(texts)} of 51 observations; open_nodes has all"


async def test_a_deletion_names_the_first_twenty_of_those_that_are_not_there(
    client: Client,
) -> None:
    names = [f"Nobody {number}" for number in range(100)]

    answer = await ask(client, "delete_entities", entityNames=names)
    few = await ask(client, "delete_entities", entityNames=names[:20])

    assert answer["message"] == (
        f"Deleted 0 of 100 entities. Entity not found: {', '.join(names[:20])}, and 80 more"
    )
    assert few["message"].endswith("Nobody 18, Nobody 19")


async def test_deletions_answer_success_and_message_and_nothing_else(client: Client) -> None:
    edges = [{"from": "A", "to": other, "relationType": "knows"} for other in ("B", "C", "D")]
    nodes: list[dict[str, Any]] = [
        {"name": name, "entityType": "x", "observations": ["is here"]} for name in ("A", "B", "C")
    ]
    await ask(client, "create_entities", entities=nodes)
    await ask(client, "create_relations", relations=edges[:1])
    gone = [{"entityName": "A", "observations": ["is\u200b here", "is not"]}]
    calls: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("delete_relations", {"relations": edges},
         "Deleted 1 of 3 relations. Entity not found: D. Relation not found: A -> C (knows)"),
        ("delete_observations", {"deletions": gone}, "Deleted 1 of 2 observations"),
        ("delete_entities", {"entityNames": ["B\u200b", "D"]},
         "Deleted 1 of 2 entities. Entity not found: D"),
        ("delete_entities", {"entityNames": ["A", "C"]}, "Entities deleted successfully"),
    )  # fmt: skip
    for tool, arguments, message in calls:
        answer = await ask(client, tool, **arguments)
        assert answer == {"success": True, "message": message}


async def test_schemas_of_deletions_allow_success_and_message_alone(client: Client) -> None:
    for tool in (await client.list_tools()).tools:
        if tool.name in ("delete_relations", "delete_entities", "delete_reflections"):
            assert tool.output_schema == {
                "type": "object",
                "properties": {"success": {"type": "boolean"}, "message": {"type": "string"}},
                "required": ["success", "message"],
            }


async def test_empty_lists_are_taken(client: Client) -> None:
    await check_empty_lists(client)
    assert (await call(client, "delete_observations")).is_error
