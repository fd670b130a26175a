"""What a client is told before any call, and what that costs its model."""

from dataclasses import dataclass
from typing import Any

from textrawl.server.server import MemoryServer
from textrawl.toolsets.catalogue import find_toolsets
from textrawl.wire.replies import write_json
from textrawl.wire.token_counter import Counter


@dataclass(frozen=True)
class ToolCost:
    """Tokens of one tool's definition."""

    name: str
    tokens: int


@dataclass(frozen=True)
class ToolsetCost:
    """Tokens of the definitions of a toolset's tools."""

    name: str
    tokens: int
    tools: list[ToolCost]


@dataclass(frozen=True)
class Introduction:
    """Tokens of all that a server says before any call."""

    tokens: int
    instructions: int
    toolsets: list[ToolsetCost]


def write_definition(name: str, description: str | None, schema: dict[str, Any]) -> str:
    """The definition of a tool as models are shown it; `schema` is that of its input."""
    return write_json({"name": name, "description": description, "inputSchema": schema})


async def count_introduction(server: MemoryServer, counter: Counter) -> Introduction:
    """What `server` costs every conversation; toolsets without a tool on offer are left out."""
    offered = {
        tool.name: ToolCost(
            tool.name,
            counter.count(write_definition(tool.name, tool.description, tool.input_schema)),
        )
        for tool in await server.list_tools()
    }
    toolsets: list[ToolsetCost] = []
    for toolset in find_toolsets().values():
        tools = [offered[name] for name in toolset.tools if name in offered]
        if tools:
            toolsets.append(ToolsetCost(toolset.name, sum(tool.tokens for tool in tools), tools))
    instructions = counter.count(server.instructions or "")
    spent = instructions + sum(toolset.tokens for toolset in toolsets)
    return Introduction(spent, instructions, toolsets)
