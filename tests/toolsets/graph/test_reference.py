"""Who knows the reference memory server finds it again: tools, resource and file."""

import json
import sys
from pathlib import Path

import anyio
import psycopg
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, TextResourceContents

from tests.conftest import Connect, Era
from tests.support.commands import name_memory
from tests.support.tool_calls import ask as recall
from tests.support.tool_calls import count, remember, text_of
from tests.toolsets.graph.reference import (
    ACME,
    ALICE,
    WORKS,
    ask,
    call,
    check_server,
    read,
)

pytestmark = pytest.mark.anyio

SERVE = ["-m", "textrawl", "serve"]


def name_environment(database_url: str) -> dict[str, str]:
    return name_memory(
        database_url, TOOLSETS="graph", LOG_LEVEL="ERROR", EMBEDDING_PROVIDER="local"
    )


@pytest.mark.slow
async def test_the_checks_that_the_reference_passes_pass_over_stdio(database_url: str) -> None:
    await check_server(sys.executable, SERVE, name_environment(database_url))


async def test_twenty_entities_created_at_once_are_all_kept(client: Client) -> None:
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


async def test_both_shapes_of_observations_are_answered_in_kind(client: Client) -> None:
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


async def test_search_finds_by_several_words_and_by_meaning(client: Client) -> None:
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
    client: Client,
) -> None:
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


async def test_nodes_are_opened_in_the_order_asked_for_each_once(client: Client) -> None:
    await ask(client, "create_entities", entities=[{"name": name} for name in "ABC"])

    answer = await ask(client, "open_nodes", names=["C", "a", "Nobody", "c", "B"])
    assert [node["name"] for node in answer["entities"]] == ["C", "A", "B"]


async def test_relations_of_which_none_can_be_made_are_an_error(client: Client) -> None:
    await ask(client, "create_entities", entities=[{"name": "A"}])
    missing = {"from": "A", "to": "Nobody", "relationType": "knows"}

    assert (await call(client, "create_relations", relations=[missing])).is_error
    assert (await read(client))[1] == []


URI = "memory://knowledge-graph"


async def read_resource(client: Client) -> TextResourceContents:
    [content] = (await client.read_resource(URI)).contents
    assert isinstance(content, TextResourceContents)
    return content


async def test_the_graph_is_read_whole_whatever_the_budget(connect: Connect, era: Era) -> None:
    client = await connect(era, toolsets=["graph"], max_graph_tokens=50)
    await ask(client, "create_entities", entities=[ALICE, ACME])
    await ask(client, "create_relations", relations=[WORKS])

    [listed] = (await client.list_resources()).resources
    content = await read_resource(client)

    assert (listed.uri, listed.name, listed.mime_type) == (
        URI, "knowledge-graph", "application/json"
    )  # fmt: skip
    assert (content.uri, content.mime_type) == (URI, "application/json")
    assert json.loads(content.text) == {"entities": [ALICE, ACME], "relations": [WORKS]}
    assert (await client.list_resource_templates()).resource_templates == []


async def test_resources_are_advertised_with_the_graph_toolset(connect: Connect, era: Era) -> None:
    graph = await connect(era, toolsets=["graph"])
    other = await connect(era, toolsets=["mind"])

    capabilities = graph.server_capabilities.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    assert capabilities["resources"] == {"subscribe": False, "listChanged": False}
    assert other.server_capabilities.resources is None


async def test_what_is_no_resource_is_refused(client: Client) -> None:
    with pytest.raises(MCPError) as refused:
        await client.read_resource("memory://stats")
    assert refused.value.error.code == INVALID_PARAMS


async def test_who_may_not_read_is_told_so(connect: Connect) -> None:
    client = await connect(toolsets=["graph"], access_token="trl_" + "x" * 43)

    with pytest.raises(MCPError) as refused:
        await client.read_resource(URI)
    assert refused.value.error.code == INTERNAL_ERROR
    assert "token" in refused.value.error.message


LINES = [
    json.dumps({"type": "relation", "from": "A", "to": "B", "relationType": "early"}),
    json.dumps({"type": "entity", "name": "A", "entityType": "Proyecto", "observations": ["a", 7]}),
    json.dumps({"name": "B", "entityType": "x", "observations": []}),
    "{broken",
    json.dumps({"type": "note"}),
    json.dumps({"type": "relation", "from": "A", "to": "C", "relationType": "feeds"}),
]


async def test_a_file_is_read_whole_and_again_adds_nothing(
    connect: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "import/memory.jsonl"
    file.parent.mkdir()
    file.write_text("\n".join(LINES))
    client = await connect(toolsets=["graph"], data_dir=tmp_path)

    first = await ask(client, "migrate", source_path="memory.jsonl")
    answer = await ask(client, "read_graph")
    again = await ask(client, "migrate", source_path=str(file))

    assert first == {"entities_imported": 2, "relations_imported": 2, "errors": 1, "skipped": 2}
    assert again == {"entities_imported": 2, "relations_imported": 0, "errors": 1, "skipped": 4}
    assert await ask(client, "read_graph") == answer
    assert answer == {
        "entities": [
            {"name": "A", "entityType": "Proyecto", "observations": ["a", "7"]},
            {"name": "B", "entityType": "x", "observations": []},
            {"name": "C", "entityType": "Generic", "observations": []},
        ],
        "relations": [
            {"from": "A", "to": "B", "relationType": "early"},
            {"from": "A", "to": "C", "relationType": "feeds"},
        ],
    }


async def test_nothing_outside_the_folder_is_read(connect: Connect, tmp_path: Path) -> None:
    folder = tmp_path / "import"
    folder.mkdir()
    (tmp_path / "secret").write_text(LINES[1])
    (folder / "link").symlink_to(tmp_path / "secret")
    client = await connect(toolsets=["graph"], data_dir=tmp_path)
    for path in ("../secret", "/etc/passwd", "", "absent.jsonl", "link"):
        result = await call(client, "migrate", source_path=path)
        assert result.is_error
        assert "the name of a file in the server's import folder" in text_of(result)
        assert (await ask(client, "read_graph"))["entities"] == []


async def test_without_a_folder_no_file_is_read(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "memory.jsonl").write_text("\n".join(LINES))
    client = await connect(toolsets=["graph"], data_dir=tmp_path)

    result = await call(client, "migrate", source_path=str(tmp_path / "memory.jsonl"))
    assert result.is_error
    assert str(tmp_path) not in text_of(result)
