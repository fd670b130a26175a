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
from mcp.types import CallToolResult, TextResourceContents

from tests.support.tool_calls import text_of

Check = Callable[[Client], Awaitable[None]]

NINE = {
    "create_entities", "create_relations", "add_observations", "delete_entities",
    "delete_observations", "delete_relations", "read_graph", "search_nodes", "open_nodes",
}  # fmt: skip
ALICE = {"name": "Alice", "entityType": "person", "observations": ["works at Acme", "likes tea"]}
ACME = {"name": "Acme Corp", "entityType": "Company", "observations": ["makes Anvils"]}
BERLIN: dict[str, Any] = {"name": "Berlin", "entityType": "city", "observations": []}
WORKS = {"from": "Alice", "to": "Acme Corp", "relationType": "worksAt"}
USUAL = "the next release would keep the old format"
RESOURCE = "memory://knowledge-graph"
LIVES = {"from": "Alice", "to": "Berlin", "relationType": "lives in"}


async def call(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    return await client.call_tool(tool, arguments)


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    """Structured content of a call, which its text says as well."""
    result = await call(client, tool, **arguments)
    assert not result.is_error, text_of(result)
    answer = result.structured_content
    assert answer is not None
    [*keys] = answer
    if "message" in answer:
        assert text_of(result) == answer["message"]
    else:
        text = json.loads(text_of(result))
        assert text in (answer, answer[keys[0]])
    return answer


async def ask_some(client: Client, tool: str, **arguments: Any) -> Any:
    """Structured content of a call that may say beside it that not all is repeated."""
    result = await call(client, tool, **arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


async def read(client: Client) -> tuple[dict[str, Any], list[Any]]:
    """The graph: entities by name, and relations."""
    answer = await ask(client, "read_graph")
    assert answer.keys() == {"entities", "relations"}
    return {node["name"]: node for node in answer["entities"]}, answer["relations"]


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
        answer = await ask(client, "search_nodes", query=query)
        return {node["name"] for node in answer["entities"]}, answer["relations"]

    assert await find("ALICE") == ({"Alice"}, [WORKS, LIVES])
    assert await find("anvil") == ({"Acme Corp"}, [WORKS])
    assert await find("compan") == ({"Acme Corp"}, [WORKS])
    assert (await find("acme"))[0] >= {"Acme Corp", "Alice"}
    assert await find("xylophonequux") == (set(), [])


async def check_opening(client: Client) -> None:
    answer = await ask(client, "open_nodes", names=["Berlin", "Nobody"])
    assert [node["name"] for node in answer["entities"]] == ["Berlin"]
    assert answer["relations"] == [LIVES]
    answer = await ask(client, "open_nodes", names=["Alice", "Berlin", "Carol"])
    assert {node["name"] for node in answer["entities"]} == {"Alice", "Berlin", "Carol"}
    assert sorted(map(str, answer["relations"])) == sorted(map(str, [WORKS, LIVES]))
    answer = await ask(client, "open_nodes", names=["Nobody"])
    assert answer == {"entities": [], "relations": []}


async def check_deleting(client: Client) -> None:
    gone = await ask(
        client,
        "delete_observations",
        deletions=[{"entityName": "Alice", "observations": ["plays chess"]}],
    )
    assert gone == {"success": True, "message": "Observations deleted successfully"}
    gone = await ask(client, "delete_relations", relations=[LIVES])
    # Another system of the field has lists of what was deleted and what was not. Ours has both.
    assert gone.items() >= {"success": True, "message": "Relations deleted successfully"}.items()
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
    assert gone.items() >= {"success": True, "message": "Entities deleted successfully"}.items()
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


async def check_empty_lists(client: Client) -> None:
    before = await read(client)
    answers: tuple[tuple[str, str, Any], ...] = (
        ("create_entities", "entities", {"entities": []}),
        ("create_relations", "relations", {"relations": []}),
        ("add_observations", "observations", {"results": []}),
        ("open_nodes", "names", {"entities": [], "relations": []}),
        ("delete_entities", "entityNames", "Entities deleted successfully"),
        ("delete_observations", "deletions", "Observations deleted successfully"),
        ("delete_relations", "relations", "Relations deleted successfully"),
    )
    for tool, argument, answer in answers:
        whole = {"success": True, "message": answer} if isinstance(answer, str) else answer
        assert await ask(client, tool, **{argument: []}) == whole
    assert await read(client) == before


async def check_circle(client: Client) -> None:
    circle = {"from": "Berlin", "to": "Berlin", "relationType": "twinned with"}
    assert await ask(client, "create_relations", relations=[circle]) == {"relations": [circle]}
    assert (await read(client))[1] == [circle]
    assert (await ask(client, "open_nodes", names=["Berlin"]))["relations"] == [circle]
    await ask(client, "delete_relations", relations=[circle])
    assert (await read(client))[1] == []


async def check_literal_search(client: Client) -> None:
    said = ["costs 100% more", "has under_score", 'it\'s \\ "quoted"']
    nodes = [{"name": f"L{n}", "entityType": "x", "observations": [t]} for n, t in enumerate(said)]
    await ask(client, "create_entities", entities=nodes)
    for place, query in enumerate(("100%", "under_s", '\\ "quo')):
        found = (await ask(client, "search_nodes", query=query))["entities"]
        assert found[0] == nodes[place]
    assert (await ask(client, "search_nodes", query="c_s%e"))["entities"] == []
    await ask(client, "delete_entities", entityNames=["L0", "L1", "L2"])


async def check_texts(client: Client) -> None:
    """Whatever a text has in it, it comes back, and is deleted by what was given."""
    said = [
        "two\nlines and a tab\t.", "日本語 ñ é 👩‍👩‍👧 👍🏽", "$1 {x} <b> \\n", "a" * 20_000,
        "A sentence of some length, which is told again.  " * 60 + "The end",
    ]  # fmt: skip
    node = {"name": "Texts", "entityType": "test", "observations": said}
    await ask(client, "create_entities", entities=[node])
    for tool, asked in (
        ("open_nodes", {"names": ["Texts"]}), ("search_nodes", {"query": "told again"})
    ):  # fmt: skip
        assert (await ask(client, tool, **asked))["entities"] == [node]
    assert (await read(client))[0]["Texts"] == node
    gone = [{"entityName": "Texts", "observations": said[1:]}]
    await ask(client, "delete_observations", deletions=gone)
    assert (await read(client))[0]["Texts"]["observations"] == said[:1]
    await ask(client, "delete_entities", entityNames=["Texts"])


async def check_usual_size(client: Client) -> None:
    """A hundred entities with ten observations come at once, from whatever reads them."""
    before, _ = await read(client)
    nodes = [
        {
            "name": f"Component {node}", "entityType": "project",
            "observations": [f"On day {day} it was told to team {node} that {USUAL}"
                             for day in range(10)],
        }
        for node in range(100)
    ]  # fmt: skip
    edges = [
        {"from": node["name"], "to": nodes[place - 1]["name"], "relationType": "depends_on"}
        for place, node in enumerate(nodes)
    ]
    created = (await ask_some(client, "create_entities", entities=nodes))["entities"]
    assert [node["name"] for node in nodes][: len(created)] == [node["name"] for node in created]
    assert len(created) > 20
    await ask_some(client, "create_relations", relations=edges)
    whole, related = await read(client)
    assert list(whole.values()) == [*before.values(), *nodes]
    assert sorted(map(str, related)) == sorted(map(str, edges))
    assert (await ask(client, "search_nodes", query="release"))["entities"] == nodes
    names = [node["name"] for node in nodes]
    assert (await ask(client, "open_nodes", names=names))["entities"] == nodes
    await ask(client, "delete_entities", entityNames=names)


async def check_resource(client: Client) -> None:
    [listed] = (await client.list_resources()).resources
    assert (str(listed.uri), listed.mime_type) == (RESOURCE, "application/json")
    [content] = (await client.read_resource(RESOURCE)).contents
    assert isinstance(content, TextResourceContents)
    assert json.loads(content.text) == await ask(client, "read_graph")


CHECKS: tuple[Check, ...] = (
    check_tools, check_create, check_duplicates, check_relations, check_merging,
    check_unknown_entities, check_search, check_opening, check_deleting, check_cascade,
    check_arguments, check_empty_lists, check_circle, check_literal_search, check_texts,
    check_usual_size, check_resource,
)  # fmt: skip


async def check_server(command: str, arguments: list[str], env: dict[str, str] | None) -> None:
    """Every check, in order, on the server that a command starts."""
    parameters = StdioServerParameters(command=command, args=arguments, env=env)
    async with Client(stdio_client(parameters), mode="legacy") as client:
        for check in CHECKS:
            await check(client)


if __name__ == "__main__":
    anyio.run(check_server, sys.argv[1], sys.argv[2:], None)
