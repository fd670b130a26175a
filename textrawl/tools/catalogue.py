"""The toolsets of this package by name. A toolset is loaded on demand.

Each package in this folder is a toolset. Its module `tools` has a variable with the name of the
package, which holds the `Toolset`. Other modules of the package can have more of its tools. Its
file `instructions.txt` tells models when to use the tools.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from textrawl.errors import StartRefused

if TYPE_CHECKING:  # a server imports this module before it loads a toolset
    from textrawl.tools.toolset import Toolset, ToolSpec

_FIRST = ("memory", "graph")  # memory is the default; the others follow in alphabetical order
FOR_PROGRAMS = ("items", "journal")  # programs can call these although no setting names them
EVERY = "all"  # in the setting TOOLSETS: every toolset


def _list_names() -> tuple[str, ...]:
    """Return the names of the packages in this folder, the default toolset first."""
    names = {file.parent.name for file in Path(__file__).parent.glob("*/__init__.py")}
    return (*_FIRST, *sorted(names - set(_FIRST)))


TOOLSETS = _list_names()


def read_instructions(name: str) -> str:
    """Return the instructions of a toolset as one line, without loading its modules."""
    file = Path(__file__).parent / name / "instructions.txt"
    return " ".join(file.read_text("utf-8").split())


def choose_names(wanted: Sequence[str]) -> list[str]:
    """Return the names in `wanted` in the order of the catalogue. `all` stands for every name.

    Raises StartRefused for an unknown name. The message lists the known names.
    """
    if unknown := [name for name in wanted if name not in (*TOOLSETS, EVERY)]:
        names = ", ".join((*TOOLSETS, EVERY))
        raise StartRefused(f"TEXTRAWL_TOOLSETS: there is no toolset {unknown[0]!r}; known: {names}")
    return [name for name in TOOLSETS if EVERY in wanted or name in wanted]


def find_toolsets() -> "dict[str, Toolset]":
    """Return every toolset by name."""
    return {name: _load(name) for name in TOOLSETS}


def choose_toolsets(names: Sequence[str]) -> "list[Toolset]":
    """Return the toolsets with these names. `all` stands for every name.

    Raises StartRefused for an unknown name. The message lists the known names.
    """
    return [_load(name) for name in choose_names(names)]


def choose_tools(names: Sequence[str]) -> "dict[str, ToolSpec]":
    """Return the tools of the toolsets with these names, in the order of the catalogue.

    If two toolsets have a tool with the same name, the server offers the tool of the toolset that
    `names` lists first. Raises StartRefused for an unknown name.
    """
    chosen = choose_toolsets(names)
    order = [*names, *TOOLSETS]
    import logging  # noqa: PLC0415 - a greeting needs the names alone, and does without it

    owners = dict[str, str]()
    for toolset in sorted(chosen, key=lambda toolset: order.index(toolset.name)):
        for name in toolset.every_tool:
            if owners.setdefault(name, toolset.name) != toolset.name:
                logging.getLogger("textrawl").info(
                    "The tool %s is that of the toolset %s: %s offers its own at /mcp/t/%s alone",
                    name,
                    owners[name],
                    toolset.name,
                    toolset.name,
                )
    return {
        name: spec
        for toolset in chosen
        for name, spec in toolset.every_tool.items()
        if owners[name] == toolset.name
    }


def _load(name: str) -> "Toolset":
    # Import the toolset only when a server needs it, because importing a toolset takes long.
    for file in sorted((Path(__file__).parent / name).glob("[!_]*.py")):
        import_module(f"textrawl.tools.{name}.{file.stem}")
    return getattr(import_module(f"textrawl.tools.{name}.tools"), name)
