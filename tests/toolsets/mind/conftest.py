"""A client of the mind tools: what a test calls, and the structured content that it gets."""

from dataclasses import dataclass
from typing import Any

import pytest
from mcp import Client

from tests.conftest import Connect
from tests.support.tool_calls import text_of


@dataclass(frozen=True)
class Graph:
    """Calls tools by their names without the prefix `graph_`."""

    client: Client

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that succeeds."""
        result = await self.client.call_tool(f"graph_{tool}", arguments)
        assert not result.is_error, text_of(result)
        assert result.structured_content is not None
        return result.structured_content

    async def refuse(self, tool: str, **arguments: Any) -> str:
        """The text of a call that fails."""
        result = await self.client.call_tool(f"graph_{tool}", arguments)
        assert result.is_error, text_of(result)
        return text_of(result)

    async def node(self, label: str, kind: str = "topic", **more: Any) -> str:
        """The id of a node."""
        return (await self("node_create", type=kind, label=label, **more))["node"]["id"]

    async def edge(self, source: str, target: str, kind: str = "knows", **more: Any) -> str:
        """The id of an edge."""
        made = await self("edge_create", fromId=source, toId=target, type=kind, **more)
        return made["edge"]["id"]


@pytest.fixture
async def graph(connect: Connect) -> Graph:
    """A client of a server with the mind tools and those of facts, whose answers are whole."""
    return Graph(await connect(toolsets=["mind", "memory", "graph"], max_graph_tokens=200_000))
