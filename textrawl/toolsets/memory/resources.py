"""The resources of the toolset `memory`: an entity, the digest of a space, the help of a tool.

Clients attach a resource to a conversation without a call of a tool. The texts have the format
`lines`, because people read them too.
"""

from collections.abc import Sequence
from dataclasses import replace

from mcp.types import Resource

from textrawl.store.watches import Watch
from textrawl.toolsets.call import Call
from textrawl.toolsets.memory.addresses import (
    DIGEST_TEMPLATE,
    ENTITY_TEMPLATE,
    HELP_TEMPLATE,
    read_digest,
    read_entity,
    read_help,
    write_digest,
    write_help,
)
from textrawl.toolsets.memory.declaration import memory
from textrawl.toolsets.memory.digest_reply import DigestReply
from textrawl.toolsets.memory.entity_reply import EntityReply
from textrawl.toolsets.memory.operations import MemoryOperations
from textrawl.toolsets.memory.search_replies import FactLayout, find_space_labels
from textrawl.toolsets.tool_help import write_tool_help
from textrawl.toolsets.toolset import Collection

NO_DIGEST = "The memory has no facts for a digest yet."

_MOST_FACTS = 100
MOST_NAMES = 101  # one more than an answer has, so that the answer can say that there are more
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


def _watch_entity(call: Call, uri: str) -> Watch | None:
    name = read_entity(uri)
    return Watch(*call.caller.watching, entity=name) if name is not None else None


async def complete_entity(call: Call, beginning: str) -> Sequence[str]:
    """Return names of entities with this beginning, last updated first."""
    operations = MemoryOperations(call.store)
    return await operations.complete_name(beginning, call.caller, limit=MOST_NAMES)


async def write_digest_lines(
    call: Call, project: str | None = None, max_tokens: int | None = None
) -> str:
    """Return the digest as lines. It is empty if there are no facts.

    It is not recorded as a recall: it would raise the use of the facts that it chooses by use.
    """
    rows = await MemoryOperations(call.store).digest(
        project, call.caller, authors=call.app.digest_authors
    )
    reply = DigestReply.build(rows, find_space_labels(call.caller.principal))
    return call.app.write_lines(reply, max_tokens or call.app.digest_tokens)


async def _list_digests(call: Call) -> Sequence[Resource]:
    return [
        Resource(
            uri=write_digest(space.name),
            name=f"digest/{space.name}",
            title=f"Digest: {space.name}",
            description=f"The facts of the space {space.name} that matter now",
            mime_type=_TEXT,
        )
        for space in call.caller.principal.readable
    ]


async def _read_digest(call: Call, uri: str) -> str | None:
    name, principal = read_digest(uri), call.caller.principal
    if name not in [space.name for space in principal.readable]:
        return None
    pinned = replace(call, caller=replace(call.caller, principal=principal.pin(name)))
    return await write_digest_lines(pinned) or NO_DIGEST


def _watch_digest(call: Call, uri: str) -> Watch | None:
    name = read_digest(uri)
    return Watch(*call.caller.watching, digest=name) if name is not None else None


async def _complete_space(call: Call, beginning: str) -> Sequence[str]:
    names = [space.name for space in call.caller.principal.readable]
    return [name for name in names if name.lower().startswith(beginning.lower())]


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


def _watch_help(_: Call, uri: str) -> Watch | None:
    return Watch() if read_help(uri) is not None else None  # help never changes


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
            _watch_entity,
        ),
        Collection(
            DIGEST_TEMPLATE,
            "digest",
            "Digest of a space",
            "The facts of a space that matter now: open questions, preferences, people, new facts",
            _TEXT,
            _list_digests,
            _read_digest,
            {"name": _complete_space},
            _watch_digest,
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
            _watch_help,
        ),
    ]
)
