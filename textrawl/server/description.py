"""The server's name and instructions. A greeting needs them before other modules are loaded."""

from collections.abc import Sequence
from typing import NamedTuple

from textrawl.tools.catalogue import TOOLSETS, read_instructions

NAME, TITLE = "textrawl", "textrawl memory"

INSTRUCTIONS = {name: read_instructions(name) for name in TOOLSETS}
"""Instructions for models, by toolset. A server uses the instructions of its first toolset."""


class ServerDescription(NamedTuple):
    """The instructions of a server (None: it has no tools), and what else it offers."""

    instructions: str | None = None
    resources: bool = False
    prompts: bool = False
    completions: bool = False
    subscriptions: bool = False

    def list_capabilities(self, *, modern: bool) -> dict[str, dict[str, bool]]:
        """Return the capabilities as the protocol writes them. `modern`: from 2026-07-28 on.

        The lists of tools and prompts never change. The list of resources can change, but only
        modern clients can ask for notifications about it.
        """
        subscribed = self.subscriptions
        resources = {"subscribe": subscribed, "listChanged": subscribed and modern}
        return {
            **({"prompts": {"listChanged": False}} if self.prompts else {}),
            **({"resources": resources} if self.resources else {}),
            "tools": {"listChanged": False},
            **({"completions": {}} if self.completions else {}),
        }


def describe_server(
    toolsets: Sequence[str], *, enabled: bool, resources: bool
) -> ServerDescription:
    """Return the description of a server with these toolsets.

    `resources` is the setting RESOURCES. Only `memory`, `graph` and `identity` have resources, and
    only `memory` and `identity` have prompts. Only `memory` has completions and subscriptions.
    """
    if not enabled:
        return ServerDescription()
    instructions = next((text for name, text in INSTRUCTIONS.items() if name in toolsets), None)
    return ServerDescription(
        instructions,
        resources=resources and bool({"memory", "graph", "identity"} & {*toolsets}),
        prompts=bool({"memory", "identity"} & {*toolsets}),
        completions="memory" in toolsets,
        subscriptions=resources and "memory" in toolsets,
    )
