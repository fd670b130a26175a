"""The tools of the `mind` toolset."""

from textrawl.toolsets.mind.declaration import mind
from textrawl.toolsets.mind.edges import (
    graph_edge_create,
    graph_edge_delete,
    graph_edge_get,
    graph_edge_update,
)
from textrawl.toolsets.mind.figures import graph_insights, graph_stats
from textrawl.toolsets.mind.nodes import (
    graph_node_create,
    graph_node_delete,
    graph_node_get,
    graph_node_update,
)
from textrawl.toolsets.mind.search import graph_node_list, graph_node_search
from textrawl.toolsets.mind.transaction import graph_write_transaction
from textrawl.toolsets.mind.walks import graph_subgraph, graph_traverse

__all__ = [
    "graph_edge_create",
    "graph_edge_delete",
    "graph_edge_get",
    "graph_edge_update",
    "graph_insights",
    "graph_node_create",
    "graph_node_delete",
    "graph_node_get",
    "graph_node_list",
    "graph_node_search",
    "graph_node_update",
    "graph_stats",
    "graph_subgraph",
    "graph_traverse",
    "graph_write_transaction",
    "mind",
]
