"""graph_node_* and graph_write_transaction, and what an undo leaves of them."""

import random
from typing import Any, LiteralString

import psycopg
import pytest
from mcp import Client

from tests.conftest import ACTOR
from tests.support.tool_calls import read, text_of
from tests.toolsets.mind.conftest import Graph

pytestmark = pytest.mark.anyio

NOBODY = "00000000-0000-0000-0000-000000000000"


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


async def test_a_node_is_created_with_its_fields_and_read_by_its_id(client: Client) -> None:
    created = await client.call_tool(
        "graph_node_create",
        {
            "type": "Person", "label": "Ada", "description": "drinks tea", "confidence": 0.8,
            "properties": {"born": 1815}, "instanceId": "laptop", "sourceMemoryId": "daily-1",
            "firstLearnedAt": "2026-01-05",
        },
    )  # fmt: skip
    node = read(created)["node"]
    got = await client.call_tool("graph_node_get", {"id": node["id"]})

    assert read(got)["node"] == node
    assert got.structured_content is not None
    shown: dict[str, Any] = got.structured_content["node"]
    assert (shown["type"], shown["label"], shown["description"]) == ("Person", "Ada", "drinks tea")
    assert (shown["confidence"], shown["properties"], shown["version"]) == (0.8, {"born": 1815}, 1)
    assert (shown["sourceInstance"], shown["sourceMemoryId"]) == ("laptop", "daily-1")
    assert shown["firstLearnedAt"] == "2026-01-05T00:00:00Z"


async def test_the_same_label_and_type_in_another_case_is_the_same_node(client: Client) -> None:
    first = read(await client.call_tool("graph_node_create", {"type": "topic", "label": "Tea"}))
    other = read(
        await client.call_tool(
            "graph_node_create", {"type": "TOPIC", "label": "tea", "confidence": 0.9}
        )
    )

    assert other["ok"] is True
    assert other["node"] == first["node"]
    assert other["msg"] == "Found node: tea"


async def test_a_label_of_another_type_is_another_node(
    client: Client, owner: psycopg.Connection
) -> None:
    nodes = [
        read(await client.call_tool("graph_node_create", {"type": kind, "label": "Mercury"}))
        for kind in ("person", "planet", "planet", "metal")
    ]

    ids = [node["node"]["id"] for node in nodes]
    assert ids[1] == ids[2]
    assert len(set(ids)) == 3
    assert {node["node"]["n"] for node in nodes} == {"Mercury"}
    names = owner.execute("select name from entity order by name").fetchall()
    assert names == [("Mercury",), ("Mercury (metal)",), ("Mercury (planet)",)]


async def test_a_transaction_counts_what_is_new_and_what_it_skips(client: Client) -> None:
    await client.call_tool("graph_node_create", {"type": "person", "label": "Ben"})

    answer = read(
        await client.call_tool(
            "graph_write_transaction",
            {
                "nodes": [
                    {"type": "person", "label": "Ada"}, {"type": "person", "label": "ben"},
                    {"type": "topic", "label": "tea", "description": "a drink"},
                ],
                "edges": [
                    {"fromLabel": "Ada", "toLabel": "tea", "type": "loves", "weight": 0.9},
                    {"fromLabel": "ada", "toLabel": "TEA", "type": "Loves", "weight": 0.2},
                    {"fromLabel": "Ben", "toLabel": "nobody", "type": "knows"},
                ],
                "instanceId": "laptop",
            },
        )
    )  # fmt: skip

    assert (answer["nodesNew"], answer["nodesOld"]) == (2, 1)
    assert (answer["edgesNew"], answer["skipped"]) == (1, 1)
    assert answer["msg"] == (
        "Created 2 nodes and 1 edges; 1 nodes existed; skipped 1 edges, because an end is missing"
    )
    assert [node["n"] for node in answer["nodes"]] == ["Ada", "Ben", "tea"]
    [edge] = answer["edges"]
    assert (edge["rel"], edge["w"], edge["v"]) == ("loves", 0.9, 2)


async def test_a_wrong_value_is_refused_and_nothing_is_stored(
    client: Client, owner: psycopg.Connection
) -> None:
    good = {"type": "topic", "label": "tea"}
    for wrong in (
        {"confidence": 1.5}, {"properties": {"a": "x" * 20_001}},
        {"firstLearnedAt": "2026-02-29"}, {"firstLearnedAt": "9000-01-01"}, {"label": ""},
        {"description": "x" * 2001}, {"type": "x" * 101},
        {"unknown": 1},
    ):  # fmt: skip
        one = await client.call_tool("graph_node_create", good | wrong)
        many = await client.call_tool("graph_write_transaction", {"nodes": [good, good | wrong]})

        assert one.is_error
        assert many.is_error
        assert owner.execute("select count(*) from entity").fetchall() == [(0,)]


async def test_an_unknown_id_is_a_failure_that_says_where_ids_are(client: Client) -> None:
    answer = await client.call_tool(
        "graph_node_get", {"id": "00000000-0000-0000-0000-000000000000"}
    )

    assert answer.is_error
    assert text_of(answer) == (
        '{"ok":false,"err":"Node not found: 00000000-0000-0000-0000-000000000000: '
        'graph_node_search and graph_node_list show ids"}'
    )


Sql = psycopg.Connection[Any]

_STEPS = 25
_LABELS = ("Ada", "Bo", "tea", "rain", "Mercury")
_KINDS = ("person", "topic")
_FACTS: LiteralString = (
    "select id, entity_id, content, valid_until, replaced_by from observation order by id"
)


async def look(graph: Graph, owner: Sql) -> dict[str, Any]:
    """Every node, edge and fact of the memory, without the times of the last change."""
    nodes = (await graph("node_list", includeDeleted=True, limit=500))["nodes"]
    edges = (await graph("edge_get", includeDeleted=True, limit=500))["edges"]
    kept = [{k: v for k, v in node.items() if k != "updatedAt"} for node in nodes]
    return {
        "nodes": sorted(kept, key=lambda node: node["id"]),
        "edges": sorted(edges, key=lambda edge: edge["id"]),
        "facts": owner.execute(_FACTS).fetchall(),
    }


def now(owner: Sql) -> Any:
    [(moment,)] = owner.execute("select clock_timestamp()").fetchall()
    return moment


def undo(owner: Sql, since: Any, actor: str = ACTOR) -> int:
    [(number,)] = owner.execute("select undo_id from undo_author(%s, %s)", (actor, since))
    return number


async def _change(graph: Graph, dice: random.Random, moment: int) -> None:
    """Make one random change. It may be refused, if it would make a second node of a label."""
    nodes = (await graph("node_list", limit=500))["nodes"]
    edges = (await graph("edge_get", limit=500))["edges"]
    values = {"confidence": dice.random(), "properties": {"at": moment}}
    node = dice.choice(nodes)["id"] if nodes else None
    edge = dice.choice(edges)["id"] if edges else None
    choice = dice.randrange(8) if node else 0
    if choice == 0 or node is None:
        more = {"description": f"said {moment}"} if dice.random() < 0.5 else {}
        await graph.node(dice.choice(_LABELS), dice.choice(_KINDS), **values, **more)
    elif choice in (1, 2):
        await graph.edge(node, dice.choice(nodes)["id"], dice.choice(_KINDS), weight=dice.random())
    elif choice == 3:
        text = dice.choice((f"said {moment}", "said before"))
        await graph("node_update", id=node, description=text, **values)
    elif choice == 4:
        renamed = {"label": dice.choice(_LABELS), "type": dice.choice(_KINDS)}
        await graph.client.call_tool("graph_node_update", {"id": node, **renamed})
    elif choice == 5 and edge:
        until = dice.choice(({"validUntil": "2020-01-01"}, {"validUntil": "2090-01-01"}, {}))
        arguments = {"id": edge, "weight": dice.random(), "evidence": f"{moment}", **until}
        await graph.client.call_tool("graph_edge_update", arguments)
    elif choice == 6 and edge:
        await graph("edge_delete", id=edge)
    elif choice == 7:
        await graph("node_delete", id=node)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
async def test_an_undo_of_any_changes_restores_the_state_before_and_its_revert_the_state_after(
    graph: Graph, owner: Sql, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311 - the same changes in every run
    for moment in range(_STEPS):
        await _change(graph, dice, moment)
    before, since = await look(graph, owner), now(owner)
    for moment in range(_STEPS, 2 * _STEPS):
        await _change(graph, dice, moment)
    after = await look(graph, owner)

    assert after != before
    number = undo(owner, since)

    assert await look(graph, owner) == before
    owner.execute("select revert_undo(%s)", (number,))
    assert await look(graph, owner) == after


async def test_an_undo_of_everything_leaves_nothing(graph: Graph, owner: Sql) -> None:
    since = now(owner)
    ada = await graph.node("Ada", "person", description="drinks tea")
    await graph.edge(ada, await graph.node("tea"), evidence="seen")

    undo(owner, since)

    assert await look(graph, owner) == {"nodes": [], "edges": [], "facts": []}
    for table in ("graph_node", "graph_edge", "graph_change"):
        assert owner.execute(f"select from {table}").fetchall() == []


async def test_values_stay_if_somebody_changed_the_node_again(graph: Graph, owner: Sql) -> None:
    owner.execute("select register_actor('ben')")
    since = now(owner)
    ada = await graph.node("Ada", "person", confidence=0.2, properties={"a": 1})
    owner.execute("set session authorization default")
    owner.execute('select update_node(%s, \'{"confidence": 0.9, "memory": "daily"}\')', (ada,))

    undo(owner, since)

    node = (await graph("node_get", id=ada))["node"]
    assert (node["confidence"], node.get("properties")) == (0.9, {"a": 1})
    assert node["sourceMemoryId"] == "daily"


async def test_a_plan_names_the_values_that_an_undo_resets(graph: Graph, owner: Sql) -> None:
    ada = await graph.node("Ada", "person")
    since = now(owner)
    await graph("node_update", id=ada, confidence=0.9, properties={"a": 1})

    plan = owner.execute(
        "select action, kind, entity_name, content from plan_undo(%s, %s)", (ACTOR, since)
    ).fetchall()

    assert plan == [("reset", "entity", "Ada", "confidence, properties, version")]
