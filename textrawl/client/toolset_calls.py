"""The tools of toolsets for programs without a session of MCP: items, logs, and the journal.

The tools of the toolset `memory` that programs call most are in `local`, because this module loads
the MCP SDK.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from mcp.types import TextContent
from pydantic import ValidationError

from textrawl.access.principal import Caller, Directory
from textrawl.errors import ArgumentInvalid, TextrawlError
from textrawl.memory.store import Store
from textrawl.settings import Settings
from textrawl.tools.call import App, Call, Identity
from textrawl.tools.catalogue import FOR_PROGRAMS, choose_tools
from textrawl.tools.toolset import ToolSpec
from textrawl.wire import arguments
from textrawl.wire.program import Program
from textrawl.wire.replies import RecallLog
from textrawl_client.wire import PROGRAM, Answer


@cache
def _list_tools() -> dict[str, ToolSpec]:
    return choose_tools(["memory", *FOR_PROGRAMS])


def find_tool(name: str) -> ToolSpec:
    """Return the tool. Raises ArgumentInvalid for a name that none has."""
    tools = _list_tools()
    if name not in tools:
        raise ArgumentInvalid(f"Use one of: {', '.join(tools)}", title="Unknown tool")
    return tools[name]


def check_arguments(spec: ToolSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked arguments of a tool. Raises ArgumentInvalid."""
    regular = arguments.normalise(spec.schema, given, spec.aliases, spec.exact)
    try:
        return spec.metadata.validate_arguments(regular)
    except ValidationError as error:
        raise arguments.explain(error, spec.schema) from None


def open_app(
    store: Store, settings: Settings, directory: Directory, recalls: RecallLog | None
) -> App:
    """Return the state that tools need, with an open memory."""
    identity = Identity(directory, store.credential, settings.space)
    return App(settings, store, identity, recalls)


async def run_tool(
    spec: ToolSpec, checked: Mapping[str, Any], app: App, caller: Caller, program: Program
) -> Answer:
    """Return the answer of a tool. Raises the errors of the tool."""
    result = await spec.function(Call(app.store, caller, app, program), **checked)
    text = "".join(block.text for block in result.content if isinstance(block, TextContent))
    if result.is_error:
        raise TextrawlError(text, title="Not done")
    meta: dict[str, Any] = result.meta or {}
    details: dict[str, Any] = meta.get(PROGRAM, {})
    ids, tokens = details.get("ids", ()), details.get("tokens", 0)
    return Answer(result.structured_content or {}, text, ids, tokens)
