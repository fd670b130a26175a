"""Groups of tools: chosen by name, each with a path of its own over HTTP."""

import json
import os
import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from mcp import Client
from mcp.types import Tool
from psycopg.sql import SQL, Identifier

from tests.conftest import Connect, Era
from tests.support.listening import listen
from tests.support.tool_calls import read, remember
from textrawl import Settings, create_server
from textrawl.server.definition_costs import count_definitions, write_definition
from textrawl.server.description import INSTRUCTIONS
from textrawl.tools.catalogue import find_toolsets
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.anyio

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
KNOWN = find_toolsets()
EVERY = list(dict.fromkeys(name for toolset in KNOWN.values() for name in toolset.tools))
EXTRAS: dict[str, Any] = {"enable_memory_extraction": True, "llm_provider": "ollama"}
"""Settings that turn on every tool."""
SNAPSHOTS = Path(__file__).parents[1] / "snapshots"


@pytest.fixture(autouse=True)
def scopes(owner: psycopg.Connection) -> None:
    """Lets the caller review as well, because a server lists what its caller may call."""
    for table in ("space_grant", "token"):
        statement = SQL("update {} set scopes = scopes || '{{review}}'").format(Identifier(table))
        owner.execute(statement)


async def list_tools(client: Client) -> list[Tool]:
    return (await client.list_tools()).tools


async def list_names(client: Client) -> list[str]:
    return [tool.name for tool in await list_tools(client)]


async def test_toolsets_are_offered_together_each_tool_once(connect: Connect, era: Era) -> None:
    for chosen in (["all"], [*KNOWN], ["memory", "all", "graph"]):
        assert await list_names(await connect(era, toolsets=chosen)) == EVERY


async def test_a_tool_name_of_two_toolsets_belongs_to_the_toolset_that_is_named_first(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "textrawl")
    first, second = KNOWN["graph"], KNOWN["decay"]
    for one, other in ((first, second), (second, first)):
        tools = {
            tool.name: tool
            for tool in await list_tools(await connect(toolsets=[one.name, other.name]))
        }
        assert list(tools) == [
            *(name for name in first.tools if one is first or name != "read_graph"),
            *(name for name in second.tools if one is second or name != "read_graph"),
        ]
        own = " ".join((one.tools["read_graph"].function.__doc__ or "").split())
        assert tools["read_graph"].description == own
        assert (
            f"The tool read_graph is that of the toolset {one.name}: {other.name} offers its own"
            in caplog.text
        )


async def test_models_are_told_when_to_use_the_tools_that_they_have(connect: Connect) -> None:
    assert (await connect("legacy", toolsets=["all"])).instructions == INSTRUCTIONS["memory"]
    alone = (await connect("legacy", toolsets=["graph"])).instructions
    assert alone == INSTRUCTIONS["graph"]
    words = {word for word in EVERY if "_" not in word}
    for name, text in INSTRUCTIONS.items():
        named = set(re.findall(r"[a-z]+(?:_[a-z]+)+", text))
        named |= words & set(re.findall(r"[a-z]+", text)) & set(KNOWN[name].tools)
        assert named
        assert named <= set(KNOWN[name].tools)


async def test_definitions_of_a_toolset_are_those_of_its_snapshots(connect: Connect) -> None:
    eras: list[tuple[Any, Era]] = [(toolset, "auto") for toolset in KNOWN.values()]
    for toolset, era in [*eras, (KNOWN["memory"], "legacy")]:
        client = await connect(era, toolsets=[toolset.name], **EXTRAS)
        folder = SNAPSHOTS / toolset.name
        folder.mkdir(exist_ok=True)
        tools = await list_tools(client)
        assert [tool.name for tool in tools] == list(toolset.every_tool)
        for tool in tools:
            now = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
            assert "exclusive" not in str(tool.input_schema)  # converters for Gemini refuse it
            file = folder / f"{tool.name}.json"
            if os.environ.get("UPDATE_SNAPSHOTS") == "1":
                file.write_text(
                    json.dumps(now, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
                )
            assert json.loads(file.read_text(encoding="utf-8")) == now
        assert {file.stem for file in folder.iterdir()} == set(toolset.every_tool)


KEYWORDS = {
    "type", "description", "enum", "properties", "required", "items", "default",
    "minimum", "maximum", "maxLength", "minItems", "maxItems",
}  # fmt: skip
"""The keywords of Schema in Gemini's API, and of OpenAI's and Claude's, that tools have."""
KINDS = {"string": str, "integer": int, "number": (int, float), "boolean": bool}


def find_faults(schema: Any, place: str, *, is_input: bool) -> list[str]:
    """The parts of a schema that the API of OpenAI, Gemini or Claude refuses."""
    members, faults = schema.get("properties", {}), set(schema) - KEYWORDS
    kind = schema.get("type", "any")
    if kind not in {*KINDS, "array", "object", *(() if is_input else ("any",))}:
        faults.add("type")
    if not members.keys() >= set(schema.get("required", ())):
        faults.add("required")
    if is_input and ("items" in schema) != (kind == "array"):
        faults.add("items")
    texts = schema.get("enum", ["text"])
    if not texts or any(not isinstance(one, str) or not one for one in texts):
        faults.add("enum")
    if "enum" in schema and kind != "string":
        faults.add("enum")
    if "default" in schema and not isinstance(schema["default"], KINDS[kind]):
        faults.add("default")
    names = {name for name in members if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name)}
    inner = {f"{place}.{name}": part for name, part in members.items()}
    if "items" in schema:
        inner[f"{place}[]"] = schema["items"]
    deeper = [find_faults(part, name, is_input=is_input) for name, part in inner.items()]
    return [f"{place}: {one}" for one in sorted(faults | names)] + [*chain.from_iterable(deeper)]


async def test_schemas_hold_nothing_that_breaks_clients(connect: Connect, era: Era) -> None:
    """The subset that the APIs of OpenAI, Gemini and Claude all document."""
    faults: list[str] = []
    for toolset in KNOWN:
        for tool in await list_tools(await connect(era, toolsets=[toolset], **EXTRAS)):
            assert re.fullmatch(r"[a-z][a-z_]{0,62}", tool.name)
            for is_input, schema in ((True, tool.input_schema), (False, tool.output_schema)):
                assert schema is not None
                assert schema["type"] == "object"
                faults += find_faults(schema, tool.name, is_input=is_input)
    assert faults == []


async def test_a_server_that_only_reads_lists_the_tools_that_say_so(connect: Connect) -> None:
    every = await list_tools(await connect(toolsets=["all"], **EXTRAS))
    reading = await connect(toolsets=["all"], **EXTRAS, read_only=True)
    names = await list_names(reading)
    assert names == [
        tool.name for tool in every if tool.annotations and tool.annotations.read_only_hint
    ]
    assert {"query_memory", "recall", "stats"} <= set(names)


async def test_descriptions_of_graph_tools_show_an_example_and_schemas_are_portable(
    connect: Connect,
) -> None:
    client = await connect(toolsets=["graph"])
    for tool in await list_tools(client):
        if examples := re.findall(r"Example: (\{.*\})\.$", tool.description or ""):
            assert json.loads(examples[0]).keys() <= tool.input_schema["properties"].keys()
        dumped = json.dumps([tool.input_schema, tool.output_schema])
        assert not re.search(r'"(\$ref|\$defs|anyOf|oneOf|allOf|title|format)":', dumped)
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == tool.input_schema["type"] == "object"


async def test_a_path_of_http_offers_its_toolset_to_everybody(
    settings: Callable[..., Settings], era: Era
) -> None:
    async with listen(settings(toolsets=["all"])) as address:
        async with Client(address.mcp, mode=era) as own:
            assert await list_names(own) == EVERY
            await remember(own, "Ada", "likes proofs")
        for path in ("/t/graph", "/t/graph/default"):
            async with Client(address.mcp + path, mode=era) as other:
                assert await list_names(other) == list(KNOWN["graph"].tools)
                answer = read(await other.call_tool("open_nodes", {"names": ["Ada"]}))
                assert answer["entities"][0]["observations"] == ["likes proofs"]
        async with Client(address.mcp + "/t/memory", mode=era) as again:
            assert await list_names(again) == list(KNOWN["memory"].tools)


async def test_a_toolset_that_the_settings_do_not_name_has_no_path(
    settings: Callable[..., Settings],
) -> None:
    for path in ("/t/graph", "/t/graph/default", "/t/poetry", "/t/memory/a/b"):
        async with listen(settings(toolsets=["memory"])) as address, httpx2.AsyncClient() as http:
            there = await http.post(address.mcp + "/t/memory", json=PING)
            answers = [
                await http.request(verb, address.mcp + path, json=PING) for verb in ("POST", "GET")
            ]

        assert there.status_code != 404
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].json()["error_description"] == (
            "TEXTRAWL_TOOLSETS names the toolsets that have a path here: memory"
        )


async def test_the_tokens_of_a_toolset_are_those_of_its_definitions(connect: Connect) -> None:
    counter = choose_counter()
    client = await connect(toolsets=["all"])
    answer = await count_definitions(create_server(Settings(toolsets=["all"])), counter)

    costs = {
        tool.name: counter.count(write_definition(tool.name, tool.description, tool.input_schema))
        for tool in await list_tools(client)
    }
    assert {tool.name: tool.tokens for one in answer.toolsets for tool in one.tools} == costs
    assert [one.name for one in answer.toolsets] == list(KNOWN)
    assert sum(one.tokens for one in answer.toolsets) == sum(costs.values())
