"""Which toolsets there are and which are wanted: by name, before any of them is loaded."""

from collections.abc import Sequence

from textrawl.errors import StartRefused

TOOLSETS = ("memory", "graph")  # a module of textrawl.toolsets each, whose toolset has its name
EVERY = "all"  # in the setting of that name: every toolset there is


def choose_names(wanted: Sequence[str]) -> list[str]:
    """The toolsets that `wanted` names; `all` names every one. Raises StartRefused, naming them."""
    if unknown := [name for name in wanted if name not in (*TOOLSETS, EVERY)]:
        known = ", ".join((*TOOLSETS, EVERY))
        raise StartRefused(f"TEXTRAWL_TOOLSETS: there is no toolset {unknown[0]!r}; known: {known}")
    return [name for name in TOOLSETS if EVERY in wanted or name in wanted]
