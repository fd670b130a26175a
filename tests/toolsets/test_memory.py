"""The examples of the wire contract, through an MCP client."""

import json
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent

pytestmark = pytest.mark.anyio


def read(result: CallToolResult) -> Any:
    """The text of an answer, as JSON."""
    [text] = result.content
    assert isinstance(text, TextContent)
    return json.loads(text.text)


async def test_a_fact_remembered_is_found_by_keyword_and_by_meaning(client: Client) -> None:
    await client.call_tool("remember_fact", {"entityName": "Jeff", "entityType": "person", "observation": "prefers TypeScript over JavaScript"})

    found = await client.call_tool("query_memory", {"mode": "search", "query": "what does Jeff prefer"})

    [entity] = read(found)["e"]
    assert entity["n"] == "Jeff"
