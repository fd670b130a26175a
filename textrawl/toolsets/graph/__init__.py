"""The nine tools of the reference memory server, on the same memory as all others."""

from textrawl.toolsets.graph.adding import add_observations, create_entities, create_relations
from textrawl.toolsets.graph.declaration import graph
from textrawl.toolsets.graph.deleting import (
    delete_entities,
    delete_observations,
    delete_relations,
)
from textrawl.toolsets.graph.reading import open_nodes, read_graph, search_nodes

__all__ = [
    "add_observations",
    "create_entities",
    "create_relations",
    "delete_entities",
    "delete_observations",
    "delete_relations",
    "graph",
    "open_nodes",
    "read_graph",
    "search_nodes",
]
