"""The resources of the toolset `memory`: an entity, and the help of a tool.

Clients attach a resource to a conversation without a call of a tool. The texts have the format
`lines`, because people read them too.
"""

from collections.abc import Sequence

from mcp.types import Resource

from textrawl.toolsets.call import Call
from textrawl.toolsets.memory.addresses import (
    ENTITY_TEMPLATE,
    HELP_TEMPLATE,
    read_entity,
    read_help,
    write_help,
)
from textrawl.toolsets.memory.declaration import memory
from textrawl.toolsets.memory.entity_reply import EntityReply
from textrawl.toolsets.memory.operations import MemoryOperations
from textrawl.toolsets.memory.search_replies import FactLayout, find_space_labels
from textrawl.toolsets.tool_help import write_tool_help
from textrawl.toolsets.toolset import Collection

_MOST_FACTS = 100
_MOST_NAMES = 101  # one more than an answer has, so that the answer can say that there are more
_TEXT, _MARKDOWN = "text/plain", "text/markdown"


async def _list_nothing(_: Call) -> Sequence[Resource]:
    # A list of thousands of entities helps nobody: clients complete a name in the template.
    return []


async def _read_entity(call: Call, uri: str) -> str | None:
    name = read_entity(uri)
    if name is None:
        return None
    row = await MemoryOperations(call.store).describe(
        name, call.caller, max_observations=_MOST_FACTS, with_relations=True
    )
    if row is None:
        return None
    layout = FactLayout(find_space_labels(call.caller.principal))
    reply = EntityReply.build(row, layout, with_relations=True)
    return call.recall_lines("entity", reply, reply.read_finding(name))


async def complete_entity(call: Call, beginning: str) -> Sequence[str]:
    """Return names of entities with this beginning, last updated first."""
    operations = MemoryOperations(call.store)
    return await operations.complete_name(beginning, call.caller, limit=_MOST_NAMES)


async def _list_help(call: Call) -> Sequence[Resource]:
    return [
        Resource(
            uri=write_help(tool.name),
            name=f"help/{tool.name}",
            title=f"Help: {tool.name}",
            description=f"The parameters of {tool.name}, with examples",
            mime_type=_MARKDOWN,
        )
        for tool in await call.context.mcp_server.list_tools()
    ]


async def _read_help(call: Call, uri: str) -> str | None:
    name = read_help(uri)
    for tool in await call.context.mcp_server.list_tools():
        if tool.name == name:
            return write_tool_help(tool)
    return None


async def _complete_tool(call: Call, beginning: str) -> Sequence[str]:
    tools = await call.context.mcp_server.list_tools()
    return [tool.name for tool in tools if tool.name.startswith(beginning.lower())]


memory.collections.extend(
    [
        Collection(
            ENTITY_TEMPLATE,
            "entity",
            "Entity",
            "The facts and relations of an entity",
            _TEXT,
            _list_nothing,
            _read_entity,
            {"name": complete_entity},
        ),
        Collection(
            HELP_TEMPLATE,
            "help",
            "Help of a tool",
            "The parameters of a tool, with examples",
            _MARKDOWN,
            _list_help,
            _read_help,
            {"tool": _complete_tool},
        ),
    ]
)
