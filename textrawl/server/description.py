"""The server's name and instructions. A greeting needs them before other modules are loaded."""

from collections.abc import Sequence
from typing import NamedTuple

from textrawl.toolsets.catalogue import TOOLSETS, read_instructions

NAME, TITLE = "textrawl", "textrawl memory"

INSTRUCTIONS = {name: read_instructions(name) for name in TOOLSETS}
"""Instructions for models, by toolset. A server uses the instructions of its first toolset."""


class ServerDescription(NamedTuple):
    """The instructions of a server (None: it has no tools), and what else it offers."""

    instructions: str | None = None
    resources: bool = False
    prompts: bool = False
    completions: bool = False


def describe_server(
    toolsets: Sequence[str], *, enabled: bool, resources: bool
) -> ServerDescription:
    """Return the description of a server with these toolsets.

    `resources` is the setting RESOURCES. Only `memory`, `graph` and `identity` have resources, and
    only `memory` and `identity` have prompts. Only `memory` completes arguments.
    """
    if not enabled:
        return ServerDescription()
    instructions = next((text for name, text in INSTRUCTIONS.items() if name in toolsets), None)
    return ServerDescription(
        instructions,
        resources=resources and bool({"memory", "graph", "identity"} & {*toolsets}),
        prompts=bool({"memory", "identity"} & {*toolsets}),
        completions="memory" in toolsets,
    )
