"""The tools of the `graph` toolset."""

from textrawl.toolsets.graph.additions import add_observations, create_entities, create_relations
from textrawl.toolsets.graph.consolidation import consolidation_report, find_duplicate_observations
from textrawl.toolsets.graph.declaration import graph
from textrawl.toolsets.graph.deletions import delete_entities, delete_observations, delete_relations
from textrawl.toolsets.graph.lookups import open_nodes, read_graph, search_nodes
from textrawl.toolsets.graph.migrate import migrate
from textrawl.toolsets.graph.reflections import (
    add_reflection,
    delete_reflections,
    end_relation,
    search_reflections,
    search_semantic,
)
from textrawl.toolsets.graph.splits import (
    analyze_entity_split,
    execute_entity_split,
    find_split_candidates,
    propose_entity_split,
)

__all__ = [
    "add_observations",
    "add_reflection",
    "analyze_entity_split",
    "consolidation_report",
    "create_entities",
    "create_relations",
    "delete_entities",
    "delete_observations",
    "delete_reflections",
    "delete_relations",
    "end_relation",
    "execute_entity_split",
    "find_duplicate_observations",
    "find_split_candidates",
    "graph",
    "migrate",
    "open_nodes",
    "propose_entity_split",
    "read_graph",
    "search_nodes",
    "search_reflections",
    "search_semantic",
]
