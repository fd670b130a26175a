"""Nodes are updated, deleted, searched and listed."""

from typing import Any

import psycopg
import pytest

from tests.conftest import Connect
from tests.support.tool_calls import read
from tests.toolsets.mind.graph import Graph

pytestmark = pytest.mark.anyio

NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
async def graph(connect: Connect) -> Graph:
    return Graph(await connect(toolsets=["mind", "memory"]))


async def test_an_update_changes_what_is_given_and_bumps_the_version(graph: Graph) -> None:
    ada = await graph.node("Ada", "person", confidence=0.4, properties={"a": 1, "b": 2})

    node = (
        await graph(
            "node_update", id=ada, description="drinks tea", properties={"c": None},
            lastConfirmedAt="2026-03-01", instanceId="phone",
        )
    )["node"]  # fmt: skip

    assert (node["version"], node["confidence"], node["properties"]) == (2, 0.4, {"c": None})
    assert (node["description"], node["sourceInstance"]) == ("drinks tea", "phone")
    assert node["lastConfirmedAt"] == "2026-03-01T00:00:00Z"
    assert (await graph("node_get", id=ada))["node"] == node
    again = (await graph("node_update", id=ada, description="drinks coffee"))["node"]
    assert (again["description"], again["version"]) == ("drinks coffee", 3)


async def test_a_description_is_a_fact_that_every_search_finds(graph: Graph) -> None:
    ada = await graph.node("Ada", "person", description="walks along the river at night")

    found = read(await graph.client.call_tool("query_memory", {"query": "river walks"}))
    assert "walks along the river at night" in str(found)
    await graph("node_update", id=ada, description="swims in lakes")
    found = read(await graph.client.call_tool("query_memory", {"query": "river walks"}))
    assert "river" not in str(found)
    # A correction by another tool is the description, too.
    correction = {
        "entityName": "Ada", "entityType": "person", "observation": "swims in the sea",
        "replaces": "swims in lakes",
    }  # fmt: skip
    read(await graph.client.call_tool("remember_fact", correction))
    assert (await graph("node_get", id=ada))["node"]["description"] == "swims in the sea"
    asked = {"mode": "entity", "entityName": "Ada"}
    answer = (await graph.client.call_tool("query_memory", asked)).structured_content
    assert answer is not None
    assert answer["entity"]["description"] == "swims in the sea"


async def test_a_label_can_change_and_finds_its_node(graph: Graph) -> None:
    bo = await graph.node("Bo", "person")

    await graph("node_update", id=bo, label="Robert", type="friend")

    assert await graph.node("ROBERT", "Friend") == bo
    [match] = (await graph("node_search", query="robert"))["results"]
    assert (match["node"]["id"], match["score"]) == (bo, 1.0)
    assert await graph.node("Bo", "person") != bo
    written = await graph(
        "write_transaction",
        nodes=[{"type": "topic", "label": "tea"}],
        edges=[{"fromLabel": "robert", "toLabel": "tea", "type": "loves"}],
    )
    assert written["edges"][0]["fromId"] == bo


async def test_a_label_and_type_of_another_node_cannot_be_taken(graph: Graph) -> None:
    ada, bo = await graph.node("Ada", "person"), await graph.node("Bo", "person")

    message = await graph.refuse("node_update", id=bo, label="ADA", confidence=0.9)

    assert f"Another node has this label and type: {ada}" in message
    assert (await graph("node_get", id=bo))["node"]["confidence"] == 0.5
    await graph("node_update", id=bo, label="Ada", type="ship")


async def test_a_deleted_node_is_history_and_its_label_begins_anew(graph: Graph) -> None:
    ada = await graph.node("Ada", "person", description="drinks tea", confidence=0.9)
    tea = await graph.node("tea")
    edge = await graph.edge(ada, tea, "loves")

    done = await graph("node_delete", id=ada)

    assert done["message"] == "Deleted node with 1 facts and 1 edges"
    assert "Node not found" in await graph.refuse("node_get", id=ada)
    assert "Node not found" in await graph.refuse("node_delete", id=ada)
    assert "Edge not found" in await graph.refuse("edge_get", id=edge)
    listed = await graph("node_list", includeDeleted=True)
    assert [(node["label"], node.get("deleted")) for node in listed["nodes"]] == [
        ("Ada", True), ("tea", None),
    ]  # fmt: skip
    assert (await graph("node_list"))["total"] == 1
    made = await graph("node_create", type="person", label="Ada")
    assert made["message"] == "Created node: Ada"
    assert (made["node"]["confidence"], made["node"].get("description")) == (0.5, None)
    assert (await graph("edge_get", fromId=made["node"]["id"]))["edges"] == []


async def test_a_permanent_deletion_forgets_the_entity(
    graph: Graph, owner: psycopg.Connection
) -> None:
    ada = await graph.node("Ada", "person", description="drinks tea", properties={"x": "secret"})
    await graph.edge(ada, await graph.node("tea"), evidence="a secret")

    await graph("node_delete", id=ada, permanent=True)

    assert owner.execute("select name from entity").fetchall() == [("tea",)]
    for table in ("graph_node", "graph_edge", "graph_change", "event", "undone", "observation"):
        rows = owner.execute(f"select to_jsonb(t)::text from {table} t").fetchall()  # noqa: S608
        assert "secret" not in str(rows)
    assert "Node not found" in await graph.refuse("node_delete", id=ada, permanent=True)


async def test_words_of_the_label_give_a_share_of_the_query(graph: Graph) -> None:
    for label in ("tea", "green tea", "coffee pot"):
        await graph.node(label)
    for query, found in (
        ("the green tea", [("green tea", 1.0), ("tea", 0.5)]),
        ("Tea or coffee", [("tea", 0.5), ("green tea", 0.5), ("coffee pot", 0.5)]),
        ("zebra", []),
    ):
        results = (await graph("node_search", query=query))["results"]

        assert sorted((match["node"]["label"], match["score"]) for match in results) == sorted(
            found
        )


async def test_a_search_filters_by_type_score_and_limit(graph: Graph) -> None:
    for label, kind in (("tea", "topic"), ("tea shop", "place"), ("tea time", "Topic")):
        await graph.node(label, kind)

    async def search(**more: Any) -> list[str]:
        results = (await graph("node_search", query="tea shop", **more))["results"]
        return [match["node"]["label"] for match in results]

    assert await search(type="PLACE") == ["tea shop"]
    assert set(await search(type="topic")) == {"tea", "tea time"}
    assert await search(minScore=0.6) == ["tea shop"]
    assert await search(limit=1) == ["tea shop"]


async def test_nodes_are_listed_by_type_in_pages_with_the_last_updated_first(graph: Graph) -> None:
    ids = {label: await graph.node(label, "Person") for label in ("Ada", "Bo", "Cy")}
    await graph.node("tea")
    await graph("node_update", id=ids["Ada"], confidence=0.7)

    listed = await graph("node_list", type="person")
    page = await graph("node_list", type="person", limit=1, offset=1)

    assert [node["label"] for node in listed["nodes"]] == ["Ada", "Cy", "Bo"]
    assert ([node["label"] for node in page["nodes"]], page["total"]) == (["Cy"], 3)


async def test_entities_of_other_tools_are_nodes_with_defaults(graph: Graph) -> None:
    fact = {"entityName": "Ada", "entityType": "person", "observation": "drinks tea"}
    read(await graph.client.call_tool("remember_fact", fact))

    made = await graph("node_create", type="person", label="ada", confidence=0.9)

    assert made["message"] == "Found node: ada"
    assert (made["node"]["label"], made["node"]["confidence"]) == ("Ada", 0.9)
    assert made["node"]["version"] == 1


async def test_an_id_that_nobody_has_is_not_found(graph: Graph) -> None:
    for tool in ("node_get", "node_update", "node_delete", "subgraph"):
        name = "nodeId" if tool == "subgraph" else "id"

        assert f"Node not found: {NOBODY}" in await graph.refuse(tool, **{name: NOBODY})
        assert "Invalid" in await graph.refuse(tool, **{name: "1 or true"})
