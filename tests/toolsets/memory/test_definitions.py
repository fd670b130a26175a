"""What tools/list says: exactly five small and portable tools, until somebody decides otherwise."""

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest
from mcp import Client
from mcp.types import Tool
from toktok import batch_count  # pyright: ignore[reportMissingTypeStubs]

from tests.conftest import Connect, Era
from tests.support.tool_calls import ask, read_error, refuse, remember
from textrawl import Settings, create_server
from textrawl.errors import StartRefused
from textrawl.server.definition_costs import write_definition

pytestmark = pytest.mark.anyio

NAMES = ["query_memory", "remember_fact", "build_knowledge", "relate_entities", "forget_entity"]
MOST_TOKENS = 1_350  # of the definitions together, in o200k
UNREACHABLE = "postgresql://nobody@127.0.0.1:1/none"


async def list_tools(client: Client) -> list[Tool]:
    return (await client.list_tools()).tools


def dump(tool: Tool) -> dict[str, Any]:
    return tool.model_dump(mode="json", by_alias=True, exclude_none=True)


async def test_exactly_five_tools_are_listed_reading_first(client: Client) -> None:
    assert [tool.name for tool in await list_tools(client)] == NAMES


async def test_definitions_cost_at_most_1350_tokens(client: Client) -> None:
    texts = [
        write_definition(tool.name, tool.description, tool.input_schema)
        for tool in await list_tools(client)
    ]

    assert sum(batch_count(texts, "o200k_base", threads=1)) <= MOST_TOKENS


async def test_all_four_hints_are_set_on_every_tool(client: Client) -> None:
    hints = {
        tool.name: tuple(
            dump(tool)["annotations"][f"{hint}Hint"]
            for hint in ("readOnly", "destructive", "idempotent", "openWorld")
        )
        for tool in await list_tools(client)
    }

    writes = (False, False, True, False)
    assert hints == dict.fromkeys(NAMES, writes) | {
        "query_memory": (True, False, True, False),
        "forget_entity": (False, True, True, False),
    }


async def test_descriptions_say_when_and_show_an_example(client: Client) -> None:
    for tool in await list_tools(client):
        assert tool.description
        [example] = re.findall(r"Example: (\{.*\})\.$", tool.description)
        properties = dump(tool)["inputSchema"]["properties"]
        assert json.loads(example).keys() <= properties.keys()


async def test_without_structured_content_neither_schema_nor_content_is_sent(
    connect: Connect, era: Era
) -> None:
    client = await connect(era, structured_content="off")
    await remember(client, "Jeff", "likes tea")

    assert all("outputSchema" not in dump(tool) for tool in await list_tools(client))
    for arguments in ({"query": "tea"}, {"entityName": "Jeff"}, {"mode": "list"}):
        result = await client.call_tool("query_memory", arguments)
        assert result.structured_content is None
        assert not result.is_error


async def test_while_memory_is_off_tools_are_absent_and_nothing_is_touched(
    connect: Connect, era: Era
) -> None:
    client = await connect(era, enable_memory=False, database_url=UNREACHABLE)

    assert await list_tools(client) == []
    for name in NAMES:
        assert read_error(await client.call_tool(name, {"nonsense": 1})) == (
            "Memory not enabled",
            "Set ENABLE_MEMORY=true",
        )


async def test_a_read_only_server_offers_the_one_tool_that_reads(
    connect: Connect, era: Era
) -> None:
    writer = await connect(era)
    await remember(writer, "Jeff", "likes tea")
    client = await connect(era, read_only=True)

    assert [tool.name for tool in await list_tools(client)] == NAMES[:1]
    assert (await ask(client, query="tea"))["n"] == 1
    for name in NAMES[1:]:
        title, _ = await refuse(client, name, entityName="Jeff", confirm=True)
        assert title == "Memory is read-only"
    assert (await ask(writer, mode="list"))["n"] == 1


def test_a_toolset_that_is_not_there_stops_the_start() -> None:
    with pytest.raises(StartRefused, match="no toolset 'memry'; known: memory, graph, "):
        create_server(Settings(toolsets=["memory", "memry"], database_url=UNREACHABLE))  # pyright: ignore[reportArgumentType]


_LIST = """
import anyio
from textrawl import Settings, create_server
for tool in anyio.run(create_server(Settings()).list_tools):
    print(tool.model_dump_json(by_alias=True))
"""


def test_definitions_are_the_same_bytes_in_every_process() -> None:
    output = [
        subprocess.run(
            [sys.executable, "-c", _LIST], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip

    assert output[0] == output[1] != b""
