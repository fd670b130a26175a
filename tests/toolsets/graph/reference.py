"""What the reference memory server does, as a client sees it: true of that server and of ours.

    python -m tests.toolsets.graph.reference COMMAND [ARGUMENT...]

checks the server that a command starts, on an empty memory.
"""

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, TextContent

Check = Callable[[Client], Awaitable[None]]

NINE = {
    "create_entities", "create_relations", "add_observations", "delete_entities",
    "delete_observations", "delete_relations", "read_graph", "search_nodes", "open_nodes",
}  # fmt: skip
ALICE = {"name": "Alice", "entityType": "person", "observations": ["works at Acme", "likes tea"]}
ACME = {"name": "Acme Corp", "entityType": "Company", "observations": ["makes Anvils"]}
BERLIN: dict[str, Any] = {"name": "Berlin", "entityType": "city", "observations": []}
WORKS = {"from": "Alice", "to": "Acme Corp", "relationType": "worksAt"}
LIVES = {"from": "Alice", "to": "Berlin", "relationType": "lives in"}


async def call(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    return await client.call_tool(tool, arguments)


def text_of(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    """Structured content of a call, which its text says as well."""
    result = await call(client, tool, **arguments)
    assert not result.is_error, text_of(result)
    told = result.structured_content
    assert told is not None
    [*keys] = told
    if "message" in told:
        assert text_of(result) == told["message"]
    else:
        text = json.loads(text_of(result))
        assert text in (told, told[keys[0]])
    return told


async def read(client: Client) -> tuple[dict[str, Any], list[Any]]:
    """The graph: entities by name, and relations."""
    told = await ask(client, "read_graph")
    assert told.keys() == {"entities", "relations"}
    return {node["name"]: node for node in told["entities"]}, told["relations"]


async def check_tools(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools.keys() >= NINE
    assert all(tools[name].output_schema for name in NINE)
    assert tools["read_graph"].annotations is not None
    assert tools["read_graph"].annotations.read_only_hint
    assert "required" not in tools["read_graph"].input_schema


async def check_create(client: Client) -> None:
    assert await read(client) == ({}, [])
    assert await ask(client, "create_entities", entities=[ALICE, ACME, BERLIN]) == {
        "entities": [ALICE, ACME, BERLIN]
    }
    nodes, _ = await read(client)
    assert list(nodes.values()) == [ALICE, ACME, BERLIN]


async def check_duplicates(client: Client) -> None:
    assert await ask(client, "create_entities", entities=[ALICE]) == {"entities": []}
    carol = {"name": "Carol", "entityType": "person", "observations": ["sings"]}
    assert await ask(client, "create_entities", entities=[ALICE, carol]) == {"entities": [carol]}
    nodes, _ = await read(client)
    assert nodes["Alice"] == ALICE


async def check_relations(client: Client) -> None:
    assert await ask(client, "create_relations", relations=[WORKS, LIVES]) == {
        "relations": [WORKS, LIVES]
    }
    assert await ask(client, "create_relations", relations=[WORKS]) == {"relations": []}
    _, edges = await read(client)
    assert edges == [WORKS, LIVES]


async def check_merging(client: Client) -> None:
    added = await ask(
        client, "add_observations",
        observations=[
            {"entityName": "Alice", "contents": ["likes tea", "plays chess"]},
            {"entityName": "Berlin", "contents": ["rains"]},
        ],
    )  # fmt: skip
    assert added == {
        "results": [
            {"entityName": "Alice", "addedObservations": ["plays chess"]},
            {"entityName": "Berlin", "addedObservations": ["rains"]},
        ]
    }
    nodes, _ = await read(client)
    assert nodes["Alice"]["observations"] == ["works at Acme", "likes tea", "plays chess"]


async def check_unknown_entities(client: Client) -> None:
    before = await read(client)
    result = await call(
        client, "add_observations",
        observations=[
            {"entityName": "Alice", "contents": ["is lost"]},
            {"entityName": "Nobody", "contents": ["is nobody"]},
        ],
    )  # fmt: skip
    assert result.is_error
    assert result.structured_content is None
    assert "Entity with name Nobody not found" in text_of(result)
    assert await read(client) == before


async def check_search(client: Client) -> None:
    async def find(query: str) -> tuple[set[str], list[Any]]:
        told = await ask(client, "search_nodes", query=query)
        return {node["name"] for node in told["entities"]}, told["relations"]

    assert await find("ALICE") == ({"Alice"}, [WORKS, LIVES])
    assert await find("anvil") == ({"Acme Corp"}, [WORKS])
    assert await find("compan") == ({"Acme Corp"}, [WORKS])
    assert (await find("acme"))[0] >= {"Acme Corp", "Alice"}
    assert await find("xylophonequux") == (set(), [])


async def check_opening(client: Client) -> None:
    told = await ask(client, "open_nodes", names=["Berlin", "Nobody"])
    assert [node["name"] for node in told["entities"]] == ["Berlin"]
    assert told["relations"] == [LIVES]
    told = await ask(client, "open_nodes", names=["Alice", "Berlin", "Carol"])
    assert {node["name"] for node in told["entities"]} == {"Alice", "Berlin", "Carol"}
    assert sorted(map(str, told["relations"])) == sorted(map(str, [WORKS, LIVES]))
    told = await ask(client, "open_nodes", names=["Nobody"])
    assert told == {"entities": [], "relations": []}


async def check_deleting(client: Client) -> None:
    gone = await ask(
        client, "delete_observations",
        deletions=[{"entityName": "Alice", "observations": ["plays chess"]}],
    )  # fmt: skip
    assert gone == {"success": True, "message": "Observations deleted successfully"}
    gone = await ask(client, "delete_relations", relations=[LIVES])
    assert gone == {"success": True, "message": "Relations deleted successfully"}
    nodes, edges = await read(client)
    assert nodes["Alice"] == ALICE
    assert edges == [WORKS]
    for absent in (
        {"deletions": [{"entityName": "Nobody", "observations": ["x"]}]},
        {"deletions": [{"entityName": "Alice", "observations": ["never said"]}]},
    ):
        assert (await ask(client, "delete_observations", **absent))["success"]
    assert (await ask(client, "delete_relations", relations=[LIVES]))["success"]
    assert (await ask(client, "delete_entities", entityNames=["Nobody"]))["success"]
    assert await read(client) == (nodes, edges)


async def check_cascade(client: Client) -> None:
    gone = await ask(client, "delete_entities", entityNames=["Alice"])
    assert gone == {"success": True, "message": "Entities deleted successfully"}
    nodes, edges = await read(client)
    assert nodes.keys() == {"Acme Corp", "Berlin", "Carol"}
    assert edges == []


async def check_arguments(client: Client) -> None:
    for tool, arguments in (
        ("create_entities", {}), ("create_entities", {"entities": [{"entityType": "x"}]}),
        ("create_relations", {"relations": [{"from": "Berlin"}]}),
        ("open_nodes", {"names": 7}),
    ):  # fmt: skip
        assert (await call(client, tool, **arguments)).is_error


CHECKS: tuple[Check, ...] = (
    check_tools, check_create, check_duplicates, check_relations, check_merging,
    check_unknown_entities, check_search, check_opening, check_deleting, check_cascade,
    check_arguments,
)  # fmt: skip


async def check_server(command: str, arguments: list[str], env: dict[str, str] | None) -> None:
    """Every check, in order, on the server that a command starts."""
    parameters = StdioServerParameters(command=command, args=arguments, env=env)
    async with Client(stdio_client(parameters), mode="legacy") as client:
        for check in CHECKS:
            await check(client)


if __name__ == "__main__":
    anyio.run(check_server, sys.argv[1], sys.argv[2:], None)
