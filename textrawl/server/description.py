"""The server's description of itself, which is needed before any other module is loaded."""

from collections.abc import Sequence
from typing import NamedTuple

from textrawl.toolsets.catalogue import TOOLSETS, read_instructions

NAME, TITLE = "textrawl", "textrawl memory"

INSTRUCTIONS = {name: read_instructions(name) for name in TOOLSETS}
"""Instructions for models, by toolset. A server uses those of its first toolset."""


class ServerDescription(NamedTuple):
    """The instructions of a server, and whether it has resources; no tools, no instructions."""

    instructions: str | None = None
    resources: bool = False


def describe_server(toolsets: Sequence[str], *, enabled: bool) -> ServerDescription:
    """Return the description of a server with these toolsets; only `graph` has resources."""
    if not enabled:
        return ServerDescription()
    instructions = next((text for name, text in INSTRUCTIONS.items() if name in toolsets), None)
    return ServerDescription(instructions, resources="graph" in toolsets)
