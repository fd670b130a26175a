"""The tools of the `mind` toolset."""

from textrawl.tools.mind.declaration import mind
from textrawl.tools.mind.nodes import (
    graph_edge_create,
    graph_edge_delete,
    graph_edge_get,
    graph_edge_update,
    graph_node_create,
    graph_node_delete,
    graph_node_get,
    graph_node_update,
    graph_write_transaction,
)
from textrawl.tools.mind.walks import (
    graph_insights,
    graph_node_list,
    graph_node_search,
    graph_stats,
    graph_subgraph,
    graph_traverse,
)

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
