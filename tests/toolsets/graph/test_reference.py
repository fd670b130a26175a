"""Who knows the reference memory server finds it again, with nothing lost."""

import json
import sys

import anyio
import psycopg
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.conftest import Connect
from tests.support.commands import name_memory
from tests.support.tool_calls import ask as recall
from tests.support.tool_calls import count, remember
from tests.toolsets.graph.reference import ask, call, check_server, read, text_of

pytestmark = pytest.mark.anyio

SERVE = ["-m", "textrawl", "serve"]


def name_environment(database_url: str) -> dict[str, str]:
    return name_memory(
        database_url, TOOLSETS="graph", LOG_LEVEL="ERROR", EMBEDDING_PROVIDER="local"
    )


@pytest.mark.slow
async def test_the_checks_that_the_reference_passes_pass_over_stdio(database_url: str) -> None:
    await check_server(sys.executable, SERVE, name_environment(database_url))


async def test_twenty_entities_created_at_once_are_all_kept(connect: Connect) -> None:
    client = await connect(toolsets=["graph"])

    async def create(number: int) -> None:
        item = {"name": f"node {number}", "entityType": "test", "observations": [f"fact {number}"]}
        assert await ask(client, "create_entities", entities=[item]) == {"entities": [item]}

    async with anyio.create_task_group() as together:
        for number in range(20):
            together.start_soon(create, number)

    nodes, _ = await read(client)
    assert {name: node["observations"] for name, node in nodes.items()} == {
        f"node {number}": [f"fact {number}"] for number in range(20)
    }


@pytest.mark.slow
async def test_three_processes_that_create_ten_each_lose_nothing(database_url: str) -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=SERVE, env=name_environment(database_url)
    )

    async def create(process: int) -> None:
        async with Client(stdio_client(parameters), mode="legacy") as client:
            for number in range(10):
                shared = {"name": "shared", "observations": [f"said by {process} as {number}"]}
                own = {"name": f"node {process}.{number}", "entityType": "test"}
                result = await call(client, "create_entities", entities=[own, shared])
                assert not result.is_error, text_of(result)

    async with anyio.create_task_group() as together:
        for process in range(3):
            together.start_soon(create, process)

    async with Client(stdio_client(parameters), mode="legacy") as client:
        result = await ask(client, "open_nodes", names=["shared"])
        [shared] = result["entities"]
        assert len(shared["observations"]) == 30
        found = {node["name"] for node in (await ask(client, "read_graph"))["entities"]}
    assert found == {"shared"} | {f"node {p}.{n}" for p in range(3) for n in range(10)}


async def test_both_shapes_of_observations_are_answered_in_kind(connect: Connect) -> None:
    client = await connect(toolsets=["graph"])
    await ask(client, "create_entities", entities=[{"name": "Ada", "entityType": "Engineer"}])

    answer = await ask(client, "add_observations", name="Ada", observations=["leads QA", "sings"])
    assert answer == {
        "entity": {"name": "Ada", "entityType": "Engineer", "observations": ["leads QA", "sings"]}
    }
    answer = await ask(client, "delete_observations", name="ada", observations=["sings", "unsaid"])
    assert answer["entity"]["observations"] == ["leads QA"]
    for tool in ("add_observations", "delete_observations"):
        result = await call(client, tool, name="Nobody", observations=["x"])
        assert result.is_error
        assert "Entity with name Nobody not found" in text_of(result)


async def test_what_one_toolset_stores_the_other_finds(connect: Connect) -> None:
    client = await connect(toolsets=["all"])
    await remember(client, "Jeff", "prefers dark mode in every editor")
    item = {"name": "Anvil", "entityType": "Proyecto", "observations": ["is written in Zig"]}
    await ask(client, "create_entities", entities=[item])

    answer = await ask(client, "search_nodes", query="editor dark")
    assert answer["entities"] == [
        {
            "name": "Jeff",
            "entityType": "person",
            "observations": ["prefers dark mode in every editor"],
        }
    ]
    found = await recall(client, query="zig", entityTypes=["project"])
    assert found["e"][0]["n"] == "Anvil"
    assert found["e"][0]["t"] == "project"
    assert (await ask(client, "open_nodes", names=["Anvil"]))["entities"] == [item]


async def test_search_finds_by_several_words_and_by_meaning(connect: Connect) -> None:
    client = await connect(toolsets=["graph"])
    await ask(
        client, "create_entities",
        entities=[
            {"name": "Docs", "observations": ["the site is built with a static generator"]},
            {"name": "Payroll", "observations": ["salaries are paid on the last Friday"]},
        ],
    )  # fmt: skip

    async def find(query: str) -> list[str]:
        answer = await ask(client, "search_nodes", query=query)
        return [node["name"] for node in answer["entities"]]

    assert (await find("generator site"))[0] == "Docs"
    assert (await find("employee wages payment"))[0] == "Payroll"
    assert await find("xylophonequux") == []


async def test_adding_to_an_entity_that_is_there_merges_and_a_given_type_replaces(
    connect: Connect, owner: psycopg.Connection
) -> None:
    client = await connect(toolsets=["all"])
    await remember(client, "Ada", "leads QA", kind="concept")

    answer = await ask(
        client, "create_entities",
        entities=[
            {"name": "ada", "entityType": "Engineer", "observations": ["leads QA", "sings"]},
            {"name": "ADA", "observations": ["sings", "dances"]},
        ],
    )  # fmt: skip

    assert answer["entities"] == [
        {"name": "Ada", "entityType": "Engineer", "observations": ["leads QA", "sings", "dances"]}
    ]
    assert count(owner, "entity") == 1
    assert owner.execute("select distinct entity_type from observation").fetchall() == [("person",)]


async def test_relations_to_entities_that_are_not_there_are_told_and_the_others_kept(
    connect: Connect,
) -> None:
    client = await connect(toolsets=["graph"])
    await ask(client, "create_entities", entities=[{"name": "A"}, {"name": "B"}])
    good = {"from": "A", "to": "B", "relationType": "isBeside"}
    bad = {"from": "A", "to": "Nobody", "relationType": "knows"}

    answer = await ask(client, "create_relations", relations=[good, bad])
    assert answer == {"relations": [good], "errors": ["Entity not found: Nobody"]}
    result = await call(client, "create_relations", relations=[bad])
    assert result.is_error
    assert "Entity with name Nobody not found" in text_of(result)
    assert (await ask(client, "delete_relations", relations=[good, bad]))["message"] == (
        "Deleted 1 of 2 relations. Entity not found: Nobody"
    )


async def test_nodes_are_opened_in_the_order_asked_for_each_once(connect: Connect) -> None:
    client = await connect(toolsets=["graph"])
    await ask(client, "create_entities", entities=[{"name": name} for name in "ABC"])

    answer = await ask(client, "open_nodes", names=["C", "a", "Nobody", "c", "B"])
    assert [node["name"] for node in answer["entities"]] == ["C", "A", "B"]


async def test_relations_of_which_none_can_be_made_are_an_error(connect: Connect) -> None:
    client = await connect(toolsets=["graph"])
    await ask(client, "create_entities", entities=[{"name": "A"}])
    missing = {"from": "A", "to": "Nobody", "relationType": "knows"}

    assert (await call(client, "create_relations", relations=[missing])).is_error
    assert (await read(client))[1] == []


async def test_no_schema_has_a_keyword_that_converters_for_gemini_refuse(connect: Connect) -> None:
    client = await connect(toolsets=["all"])

    for tool in (await client.list_tools()).tools:
        assert "exclusive" not in json.dumps(tool.input_schema), tool.name
