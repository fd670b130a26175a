"""The tools of the `graph` toolset."""

from textrawl.tools.graph.consolidation import (
    analyze_entity_split,
    consolidation_report,
    execute_entity_split,
    find_duplicate_observations,
    find_split_candidates,
    propose_entity_split,
)
from textrawl.tools.graph.declaration import graph
from textrawl.tools.graph.nodes import (
    add_observations,
    create_entities,
    create_relations,
    delete_entities,
    delete_observations,
    delete_relations,
    migrate,
    open_nodes,
    read_graph,
    search_nodes,
)
from textrawl.tools.graph.reflections import (
    add_reflection,
    delete_reflections,
    end_relation,
    search_reflections,
    search_semantic,
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
