"""The tokens of the tool definitions and instructions, which are in every conversation."""

from dataclasses import dataclass
from typing import Any

from textrawl.server.server import MemoryServer
from textrawl.tools.catalogue import find_toolsets
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
class DefinitionCosts:
    """Tokens of everything that a model reads before its first call."""

    tokens: int
    instructions: int
    toolsets: list[ToolsetCost]


def write_definition(name: str, description: str | None, schema: dict[str, Any]) -> str:
    """Return the definition of a tool as models see it. `schema` describes its input."""
    return write_json({"name": name, "description": description, "inputSchema": schema})


async def count_definitions(server: MemoryServer, counter: Counter) -> DefinitionCosts:
    """Count the tokens that `server` costs every conversation. Skip toolsets without a tool."""
    offered = {
        tool.name: ToolCost(
            tool.name,
            counter.count(write_definition(tool.name, tool.description, tool.input_schema)),
        )
        for tool in await server.list_tools()
    }
    toolsets: list[ToolsetCost] = []
    for toolset in find_toolsets().values():
        tools = [
            offered[name]
            for name, spec in toolset.every_tool.items()
            if name in offered and server.offers(spec)
        ]
        if tools:
            toolsets.append(ToolsetCost(toolset.name, sum(tool.tokens for tool in tools), tools))
    instructions = counter.count(server.instructions or "")
    total = instructions + sum(toolset.tokens for toolset in toolsets)
    return DefinitionCosts(total, instructions, toolsets)
