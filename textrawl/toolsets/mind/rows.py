"""Rows that the SQL functions of the mind toolset return: a class for each function."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class WrittenRow:
    """A node or edge of write_graph. `id` is None if an end of the edge is missing.

    `place` is the position among the nodes or edges, from 1. `created` is false if the node or edge
    existed already. `readable` is false if the caller can only write.
    """

    kind: str
    place: int
    id: UUID | None
    created: bool
    readable: bool


@dataclass(frozen=True)
class NodeRow:
    """A node of fetch_nodes. `name` is the name of its entity."""

    node_id: UUID
    name: str
    label: str
    node_type: str
    description: str | None
    confidence: float
    properties: dict[str, Any]
    instance: str | None
    memory: str | None
    first_learned_at: datetime
    last_confirmed_at: datetime | None
    version: int
    deleted_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class EdgeRow:
    """An edge of fetch_edges or find_edges."""

    edge_id: UUID
    from_id: UUID
    to_id: UUID
    edge_type: str
    weight: float
    evidence: str | None
    properties: dict[str, Any]
    instance: str | None
    occurred_at: datetime | None
    valid_until: datetime | None
    last_confirmed_at: datetime | None
    version: int
    deleted_at: datetime | None
    created_at: datetime


@dataclass(frozen=True)
class ReadableRow:
    """The outcome of update_node or update_edge. `readable`: the caller can read the space."""

    readable: bool


@dataclass(frozen=True)
class ConnectedRow:
    """An edge of write_edge. `created` is false if the edge existed already."""

    edge_id: UUID
    created: bool
    readable: bool


@dataclass(frozen=True)
class DeletedRow:
    """The number of facts and edges that delete_node deleted with a node."""

    facts: int
    edges: int


@dataclass(frozen=True)
class EdgeIdRow:
    """The id of an edge."""

    edge_id: UUID


@dataclass(frozen=True)
class ListedRow:
    """A node of list_nodes. `total` is the number of nodes on all pages."""

    node_id: UUID
    total: int


@dataclass(frozen=True)
class MatchedRow:
    """A node of match_nodes."""

    node_id: UUID
    score: float


@dataclass(frozen=True)
class ReachedRow:
    """A node of traverse_graph, with the edges that lead to it."""

    node_id: UUID
    path: list[UUID]
    depth: int


@dataclass(frozen=True)
class InsightRow:
    """A bridge or a cluster of graph_insights.

    `title` is the label of the bridge, or the type of the nodes. `count` is the number of edges of
    the bridge, or of nodes of the cluster.
    """

    kind: str
    title: str
    count: int
    node_ids: list[UUID]
    edge_ids: list[UUID]
    confidence: float


@dataclass(frozen=True)
class StatisticsRow:
    """The numbers of nodes and valid edges, also by type."""

    nodes: int
    edges: int
    node_types: dict[str, int]
    edge_types: dict[str, int]
    oldest: datetime | None
    newest: datetime | None
