"""The tools of the `graph` toolset, which are declared when their modules are loaded."""

from textrawl.tools.graph import consolidation, nodes, reflections
from textrawl.tools.graph.declaration import graph

__all__ = ["consolidation", "graph", "nodes", "reflections"]
