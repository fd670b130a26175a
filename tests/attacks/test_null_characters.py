"""U+0000, which neither Postgres nor a file name can hold, in every argument of every tool."""

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client
from mcp.types import Tool

from tests.conftest import Connect
from tests.support.tool_calls import text_of
from textrawl.tools.catalogue import find_toolsets

pytestmark = pytest.mark.anyio

NUL = "a\0b"
VALUES: list[Any] = [
    NUL,
    {NUL: NUL},
    [[NUL]],
    "\\u0000",
    "\\\0",
    {"\\u0000": "\\\\\0"},
    "\uffff0\0\uffff1",
]
Schema = dict[str, Any]


def build(schema: Schema) -> Any:
    """A value that a schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    members: Schema = schema.get("properties", {})
    kinds = {
        "array": lambda: [build(schema["items"])],
        "object": lambda: {name: build(members[name]) for name in schema.get("required", ())},
        "integer": lambda: schema.get("minimum", 1),
        "number": lambda: schema.get("minimum", 1),
        "boolean": lambda: True,
    }
    return kinds.get(schema.get("type", ""), lambda: "tea")()


def spoil(schema: Schema) -> Iterator[Any]:
    """Values of a schema in which one text each has U+0000."""
    match schema.get("type"):
        case "array":
            yield from ([value] for value in spoil(schema["items"]))
        case "object" if "properties" in schema:
            base = build(schema)
            for name, part in schema["properties"].items():
                yield from (base | {name: value} for value in spoil(part))
        case "object":
            yield from ({"a": value} for value in VALUES)
            yield {NUL: 1}
        case "string" if "enum" not in schema:
            yield NUL
        case None:
            yield from VALUES
        case _:
            return


def list_calls(tool: Tool) -> Iterator[dict[str, Any]]:
    """Calls with U+0000 in one argument each, the others as in the example of the tool."""
    schema = tool.input_schema
    found = re.search(r"Example: (\{.*\})\.", tool.description or "")
    base = build(schema) | (json.loads(found[1]) if found else {})
    for name, part in schema["properties"].items():
        yield from (base | {name: value} for value in spoil(part))


async def call_every(client: Client) -> dict[str, list[str]]:
    """The answers of every tool that are no answers of a tool, and how many calls each got."""
    answers: dict[str, list[str]] = {}
    for tool in (await client.list_tools()).tools:
        for arguments in list_calls(tool):
            result = await client.call_tool(tool.name, arguments)
            answers.setdefault(tool.name, []).append(text_of(result))
    return answers


@pytest.mark.parametrize("toolset", list(find_toolsets()))
async def test_no_argument_with_u0000_is_an_error_of_the_server(
    connect: Connect, caplog: pytest.LogCaptureFixture, toolset: str
) -> None:
    client = await connect(toolsets=[toolset], embedding_provider="none")

    answers = await call_every(client)

    failed = {
        name for name, told in answers.items() if any("Internal error" in one for one in told)
    }
    assert failed == set()
    assert [one.message for one in caplog.records if one.levelno >= logging.ERROR] == []
    assert answers or toolset == "stats"


@pytest.mark.parametrize("value", VALUES)
async def test_put_and_put_many_store_the_same_value(connect: Connect, value: Any) -> None:
    client = await connect(toolsets=["items"])
    item = {"namespace": ["a"], "key": "one", "value": value, "metadata": {"m": value}}

    one = await client.call_tool("put_item", item)
    several = await client.call_tool("put_items", {"items": [item | {"key": "many"}]})

    assert (one.is_error, several.is_error) == (False, False), text_of(several)
    for key in ("one", "many"):
        found = await client.call_tool("get_item", {"namespace": ["a"], "key": key})
        assert found.structured_content is not None
        assert found.structured_content["value"] == value
        assert found.structured_content["metadata"] == {"m": value}
    again = await client.call_tool("put_items", {"items": [item]})
    assert again.structured_content is not None
    assert again.structured_content["items"][0]["version"] == 1
