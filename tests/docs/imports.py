"""The imports of the package, as graphs of modules and of packages."""

import ast
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.support.pages import ROOT
from tests.support.syntax import read_nodes

PACKAGE = ROOT / "textrawl"

Graph = dict[str, set[str]]


def name_module(path: Path) -> str:
    """Return the dotted name of a module below textrawl, such as `wire.replies`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


@cache
def read_imports() -> Graph:
    """Return the modules that each module imports, those inside functions included."""
    modules = {name_module(path): path for path in PACKAGE.rglob("*.py")}
    return {name: set(_find_imports(path, modules)) for name, path in modules.items()}


def _find_imports(path: Path, modules: Iterable[str]) -> Iterable[str]:
    for node in read_nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "textrawl":
            module = (node.module or "").removeprefix("textrawl").removeprefix(".")
            for alias in node.names:
                whole = f"{module}.{alias.name}".removeprefix(".")
                yield whole if whole in modules else module


@cache
def read_layers() -> Graph:
    """Return the packages, and the modules at the top, that each of them imports."""
    layers: Graph = {}
    for module, imported in read_imports().items():
        top = module.partition(".")[0]
        if top == "__init__":  # it only names what it loads on demand
            continue
        others = {other.partition(".")[0] for other in imported} - {top, "", "__init__"}
        layers.setdefault(top, set()).update(others)
    return layers


def find_reachable(graph: Graph, start: str, blocked: Iterable[str] = ()) -> set[str]:
    """Return what `start` leads to; ways end at the nodes of `blocked`, which are part of it."""
    reached, open_nodes, stops = set[str](), [start], set(blocked)
    while open_nodes:
        for other in graph.get(open_nodes.pop(), set()) - reached:
            reached.add(other)
            if other not in stops:
                open_nodes.append(other)
    return reached


def reduce_graph(graph: Graph) -> Graph:
    """Return the graph without arrows that a longer way replaces. Raises CycleError for a ring."""
    tuple(TopologicalSorter(graph).static_order())
    return {
        node: {
            other
            for other in others
            if not any(other in find_reachable(graph, third) for third in others - {other})
        }
        for node, others in graph.items()
    }


def draw(graph: Graph, labels: dict[str, str] | None = None) -> str:
    """Return the graph as a Mermaid flowchart."""
    names = {node: f"{node.replace('.', '_')}" for node in graph}
    lines = [f'    {names[node]}["{label}"]' for node, label in sorted((labels or {}).items())]
    arrows = [
        f"    {names[node]} --> {' & '.join(names[other] for other in sorted(others))}"
        for node, others in sorted(graph.items())
        if others
    ]
    return "\n".join(["```mermaid", "flowchart TD", *lines, *arrows, "```"])
