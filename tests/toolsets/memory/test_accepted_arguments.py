"""Arguments whose meaning is certain: words of other tools, null as a text, ids as names."""

from typing import Any

import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import ask, read, refuse, relate, remember

pytestmark = pytest.mark.anyio


async def test_the_tools_take_each_others_words_for_their_parameters(client: Client) -> None:
    called = [
        ("remember_fact", {"entity": "Ada", "type": "person", "fact": "likes tea"}),
        ("build_knowledge", {"facts": [{"name": "Ada", "entityType": "person", "text": "is 41"}],
                             "relations": [{"from": "Ada", "relationType": "knows", "to": "Bo"}]}),
        ("relate_entities", {"from": "Ada", "relation": "leads", "to": "Atlas"}),
        ("query_memory", {"mode": "search", "question": "tea"}),
        ("query_memory", {"mode": "entity", "name": "Ada"}),
        ("query_memory", {"mode": "list", "entityType": "person"}),
        ("forget_entity", {"name": "Ada", "observation": "likes tea", "confirm": True}),
    ]  # fmt: skip
    for tool, arguments in called:
        assert not (await client.call_tool(tool, arguments)).is_error, (tool, arguments)

    ada = await ask(client, mode="entity", entityName="Ada")
    assert ada["o"] == ["is 41"]
    assert sorted(ada["r"]["out"]) == ["knows→Bo", "leads→Atlas"]


async def test_null_is_a_text_in_a_search_and_as_a_name(client: Client) -> None:
    await remember(client, "null", "is a value of nothing")
    await remember(client, "Ada", "likes tea")

    assert (await ask(client, mode="search", query="null"))["e"][0]["n"] == "null"
    assert (await ask(client, mode="entity", entityName="null"))["o"] == ["is a value of nothing"]


async def test_an_id_or_its_beginning_finds_its_thing_as_a_query_and_as_a_name(
    client: Client,
) -> None:
    stored = await remember(client, "Ada", "likes tea")
    await remember(client, "Ada", "is 41")
    await remember(client, "Bo", "likes coffee and tea")
    related = await relate(client, "Bo", "knows", "Ada")

    for reference in (stored["obs"], stored["obs"].upper()):
        [found, *_] = (await ask(client, mode="search", query=reference))["e"]
        assert (found["n"], found["m"][0]["c"]) == ("Ada", "likes tea")
        assert "is 41" in (await ask(client, mode="entity", entityName=reference))["o"]
    [found, *_] = (await ask(client, mode="search", query=related["rel"]))["e"]
    assert (found["n"], found["m"][0]["c"]) == ("Bo", "knows→Ada")
    assert "is 41" in (await ask(client, mode="entity", entityName=stored["entity"]))["o"]
    added = await remember(client, stored["entity"], "is tall")
    assert added["entity"] == stored["entity"]
    gone = await client.call_tool(
        "forget_entity", {"entityName": stored["entity"], "confirm": True}
    )
    assert read(gone)["ok"]
    assert (await ask(client, mode="entity", entityName="Ada")) == {"found": False}


FOREIGN = "mem-123"
# Calls with an id that no tool gave, and the kind of what nobody has with this id.
FOREIGN_IDS: list[tuple[str, dict[str, Any], str]] = [
    ("touch_memory", {"memory_id": FOREIGN}, "memory"),
    ("promote_memory", {"memory_id": FOREIGN}, "memory"),
    ("open_memories", {"memory_ids": [FOREIGN]}, "memory"),
    ("observe_memory_usage", {"memory_ids": [FOREIGN]}, "memory"),
    ("graph_node_get", {"id": FOREIGN}, "node"),
    ("graph_node_update", {"id": FOREIGN, "label": "x"}, "node"),
    ("graph_node_delete", {"id": FOREIGN}, "node"),
    ("graph_edge_get", {"id": FOREIGN}, "edge"),
    ("graph_edge_get", {"fromId": FOREIGN}, "node"),
    ("graph_edge_update", {"id": FOREIGN, "weight": 0.5}, "edge"),
    ("graph_edge_delete", {"id": FOREIGN}, "edge"),
    ("graph_traverse", {"startNodeId": FOREIGN}, "node"),
    ("graph_subgraph", {"nodeId": FOREIGN}, "node"),
    ("correct", {"chunkId": FOREIGN, "proposal": "x"}, "chunk"),
    ("apply", {"correctionId": FOREIGN}, "correction"),
    ("forget", {"chunkId": FOREIGN}, "chunk"),
    ("forget", {"sourceId": FOREIGN}, "source"),
    ("snapshot_get", {"snapshotId": FOREIGN}, "snapshot"),
    ("snapshot_restore", {"snapshotId": FOREIGN}, "snapshot"),
    ("end_relation", {"relation_id": FOREIGN}, "entity, relation or reflection"),
    ("delete_reflections", {"reflection_ids": [FOREIGN]}, "entity, relation or reflection"),
]


async def test_an_id_of_another_kind_names_nothing(connect: Connect) -> None:
    client = await connect(toolsets=["all"])
    for tool, arguments, kind in FOREIGN_IDS:
        title, fix = await refuse(client, tool, **arguments)

        assert title == "Invalid argument", tool
        assert fix.endswith(f"there is no {kind} with the id mem-123"), (tool, fix)
