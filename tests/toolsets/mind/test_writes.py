"""Creating nodes and edges: the same ones only once, and nothing at all if anything is wrong."""

from typing import Any

import psycopg
import pytest

from tests.conftest import Connect
from tests.support.tool_calls import read, text_of

pytestmark = pytest.mark.anyio


async def test_a_node_is_created_with_its_fields_and_read_by_its_id(connect: Connect) -> None:
    client = await connect(toolsets=["mind"])

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


async def test_the_same_label_and_type_in_another_case_is_the_same_node(connect: Connect) -> None:
    client = await connect(toolsets=["mind"])
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
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["mind"])
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


async def test_a_transaction_counts_what_is_new_and_what_it_skips(connect: Connect) -> None:
    client = await connect(toolsets=["mind"])
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
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["mind"])
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


async def test_an_unknown_id_is_a_failure_that_says_where_ids_are(connect: Connect) -> None:
    client = await connect(toolsets=["mind"])

    answer = await client.call_tool(
        "graph_node_get", {"id": "00000000-0000-0000-0000-000000000000"}
    )

    assert answer.is_error
    assert text_of(answer) == (
        '{"ok":false,"err":"Node not found: 00000000-0000-0000-0000-000000000000: '
        'graph_node_search and graph_node_list show ids"}'
    )
