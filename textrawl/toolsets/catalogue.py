"""The toolsets of this package by name. Each is loaded on demand.

Each package in this folder is a toolset. Its module `tools` holds the `Toolset` under its name,
and its file `instructions.txt` tells models when to use the tools.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from textrawl.errors import StartRefused

if TYPE_CHECKING:  # a server needs the names before it loads any toolset
    from textrawl.toolsets.toolset import Toolset

_DEFAULT = "memory"
EVERY = "all"  # in the setting TOOLSETS: every toolset


def _list_names() -> tuple[str, ...]:
    """Return the names of the packages in this folder, the default toolset first."""
    names = {file.parent.name for file in Path(__file__).parent.glob("*/__init__.py")}
    return (_DEFAULT, *sorted(names - {_DEFAULT}))


TOOLSETS = _list_names()


def read_instructions(name: str) -> str:
    """Return the instructions of a toolset as one line. This loads none of its modules."""
    file = Path(__file__).parent / name / "instructions.txt"
    return " ".join(file.read_text("utf-8").split())


def choose_names(wanted: Sequence[str]) -> list[str]:
    """Return the names in `wanted` in the order of the catalogue; `all` stands for every name.

    Raises StartRefused for an unknown name, with the names that exist.
    """
    if unknown := [name for name in wanted if name not in (*TOOLSETS, EVERY)]:
        names = ", ".join((*TOOLSETS, EVERY))
        raise StartRefused(f"TEXTRAWL_TOOLSETS: there is no toolset {unknown[0]!r}; known: {names}")
    return [name for name in TOOLSETS if EVERY in wanted or name in wanted]


def find_toolsets() -> "dict[str, Toolset]":
    """Return every toolset by name."""
    return {name: _load(name) for name in TOOLSETS}


def choose_toolsets(names: Sequence[str]) -> "list[Toolset]":
    """Return the toolsets of these names; `all` stands for every name.

    Raises StartRefused for an unknown name, with the names that exist.
    """
    return [_load(name) for name in choose_names(names)]


def _load(name: str) -> "Toolset":
    # On demand: one toolset takes as long to load as some of the large packages.
    return getattr(import_module(f"textrawl.toolsets.{name}.tools"), name)
