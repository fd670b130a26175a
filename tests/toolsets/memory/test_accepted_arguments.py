"""Arguments whose meaning is certain: words of other tools, null as a text, ids as names."""

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


async def test_an_id_of_another_kind_names_no_memory(connect: Connect) -> None:
    client = await connect(toolsets=["decay"])

    title, fix = await refuse(client, "touch_memory", memory_id="mem-123")

    assert title == "Invalid argument"
    assert fix.endswith("there is no memory with the id mem-123")
