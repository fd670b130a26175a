"""The operations of the `mind` toolset: they embed descriptions and call SQL functions.

They read and write only the caller's home space.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, LiteralString, Self, TypeVar
from uuid import UUID

from textrawl.access.principal import Caller
from textrawl.errors import EmbeddingNotConfigured, EmbeddingUnavailable
from textrawl.memory.store import Store
from textrawl.models.embeddings import Vector, compose_document
from textrawl.postgres.sqlstates import EDGE_NOT_FOUND, NODE_NOT_FOUND, DataRefused


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


Row = TypeVar("Row")


@dataclass(frozen=True)
class Node:
    """A node to create. A value that is None was not given."""

    type: str
    label: str
    description: str | None = None
    confidence: float | None = None
    properties: Mapping[str, Any] | None = None
    memory: str | None = None
    first_learned_at: datetime | None = None


@dataclass(frozen=True)
class Edge:
    """An edge to create between two nodes, which are given by their labels."""

    source: str
    target: str
    type: str
    weight: float | None = None
    evidence: str | None = None
    properties: Mapping[str, Any] | None = None
    occurred_at: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True)
class Written:
    """The outcome of a write: the rows of write_graph, and the nodes and edges as they are now.

    `nodes` and `edges` are empty if the caller cannot read the space.
    """

    rows: Sequence[WrittenRow]
    nodes: Mapping[UUID, NodeRow] = field(default_factory=dict[UUID, NodeRow])
    edges: Mapping[UUID, EdgeRow] = field(default_factory=dict[UUID, EdgeRow])

    def list_rows(self, kind: str) -> list[WrittenRow]:
        """Return the rows of nodes or of edges."""
        return [row for row in self.rows if row.kind == kind]


@dataclass(frozen=True)
class Refused:
    """The reason why a node or an edge was not found or not changed."""

    message: str

    @classmethod
    def no_node(cls, node: str) -> Self:
        """Return the reason for an unknown node."""
        return cls.explain(DataRefused(NODE_NOT_FOUND, node))

    @classmethod
    def no_edge(cls, edge: str) -> Self:
        """Return the reason for an unknown edge."""
        return cls.explain(DataRefused(EDGE_NOT_FOUND, edge))

    @classmethod
    def explain(cls, refusal: DataRefused) -> Self:
        """Return the reason of the database."""
        error = refusal.explain()
        return cls(f"{error.title}: {error.fix}")


class MindOperations:
    """The nodes and edges of one space."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def write(
        self, nodes: Sequence[Node], edges: Sequence[Edge], instance: str | None, caller: Caller
    ) -> Written:
        """Create nodes and edges in one transaction."""
        model, embeddings = await self._embed(nodes)
        rows = await self._call(
            "write_graph",
            WrittenRow,
            nodes=json.dumps([_write_node(node) for node in nodes]),
            edges=json.dumps([_write_edge(edge) for edge in edges]),
            instance=instance,
            model=model,
            embeddings=embeddings,
            **caller.writing,
        )
        if not rows or not rows[0].readable:
            return Written(rows)
        ids = {row.id: row.kind for row in rows if row.id is not None}
        found = await self.fetch([id for id in ids if ids[id] == "node"], caller)
        joined = await self.fetch_edges([id for id in ids if ids[id] == "edge"], caller)
        return Written(
            rows, {node.node_id: node for node in found}, {edge.edge_id: edge for edge in joined}
        )

    async def update(
        self, node: str, fields: Mapping[str, object], caller: Caller
    ) -> list[NodeRow] | Refused:
        """Change values of a node, and return it if the caller can read the space."""
        model, embedding = await self._embed_description(node, fields, caller)
        row = await self._change(
            "update_node",
            ReadableRow,
            node=node,
            fields=json.dumps(fields),
            model=model,
            embedding=embedding,
            **caller.writing,
        )
        if isinstance(row, Refused):
            return row
        return await self.fetch([node], caller) if row.readable else []

    async def delete(self, node: str, caller: Caller, *, permanent: bool) -> DeletedRow | Refused:
        """Delete a node with its facts and edges."""
        return await self._change(
            "delete_node", DeletedRow, node=node, permanent=permanent, **caller.writing
        )

    async def connect(
        self, ends: tuple[str, str], type: str, fields: Mapping[str, object], caller: Caller
    ) -> tuple[ConnectedRow, list[EdgeRow]] | Refused:
        """Connect two nodes. Return the edge too if the caller can read the space."""
        row = await self._change(
            "write_edge",
            ConnectedRow,
            from_node=ends[0],
            to_node=ends[1],
            type=type,
            fields=json.dumps(fields),
            **caller.writing,
        )
        if isinstance(row, Refused):
            return row
        return row, await self.fetch_edges([row.edge_id], caller) if row.readable else []

    async def update_edge(
        self, edge: str, fields: Mapping[str, object], caller: Caller
    ) -> list[EdgeRow] | Refused:
        """Change values of an edge, and return it if the caller can read the space."""
        row = await self._change(
            "update_edge", ReadableRow, edge=edge, fields=json.dumps(fields), **caller.writing
        )
        if isinstance(row, Refused):
            return row
        return await self.fetch_edges([edge], caller) if row.readable else []

    async def delete_edge(self, edge: str, caller: Caller) -> EdgeIdRow | Refused:
        """Delete an edge."""
        return await self._change("delete_edge", EdgeIdRow, edge=edge, **caller.writing)

    async def _change(
        self, function: LiteralString, row: type[Row], **arguments: Any
    ) -> Row | Refused:
        try:
            [changed] = await self._call(function, row, **arguments)
        except DataRefused as refusal:
            return Refused.explain(refusal)
        return changed

    async def fetch(
        self, nodes: Sequence[UUID | str], caller: Caller, *, deleted: bool = False
    ) -> list[NodeRow]:
        """Return the nodes with these ids, in this order. Unknown ids are left out."""
        return await self._call(
            "fetch_nodes", NodeRow, nodes=list(nodes), deleted=deleted, **caller.reading_home
        )

    async def fetch_edges(
        self, edges: Sequence[UUID | str], caller: Caller, *, deleted: bool = False
    ) -> list[EdgeRow]:
        """Return the edges with these ids, in this order. Unknown ids are left out."""
        return await self._call(
            "fetch_edges", EdgeRow, edges=list(edges), deleted=deleted, **caller.reading_home
        )

    async def _embed_description(
        self, node: str, fields: Mapping[str, object], caller: Caller
    ) -> tuple[int | None, Vector | None]:
        """Return the active model and the vector of a new description.

        Both are None if the caller cannot read the node. The upkeep makes the vector then.
        """
        home, description = caller.principal.home_space, fields.get("description")
        if not isinstance(description, str) or home is None or "read" not in home.scopes:
            return None, None
        texts = [
            compose_document(row.name, description) for row in await self.fetch([node], caller)
        ]
        model, vectors = await self._store.embed_documents(texts)
        return model, vectors[0] if vectors else None

    async def _embed(self, nodes: Sequence[Node]) -> tuple[int | None, list[Vector | None] | None]:
        """Return the active model, and for each node the vector of its description, or None."""
        texts = [
            compose_document(node.label, node.description) for node in nodes if node.description
        ]
        model, vectors = await self._store.embed_documents(texts)
        if vectors is None:
            return None, None
        rest = iter(vectors)
        return model, [next(rest) if node.description else None for node in nodes]


def _write_node(node: Node) -> dict[str, object]:
    return {
        "label": node.label,
        "type": node.type,
        "description": node.description,
        "confidence": node.confidence,
        "properties": node.properties,
        "memory": node.memory,
        "first_learned_at": _write_value(node.first_learned_at),
    }


def _write_edge(edge: Edge) -> dict[str, object]:
    return {
        "from": edge.source,
        "to": edge.target,
        "type": edge.type,
        "strength": edge.weight,
        "evidence": edge.evidence,
        "properties": edge.properties,
        "occurred_at": _write_value(edge.occurred_at),
        "valid_until": _write_value(edge.valid_until),
    }


def write_fields(**fields: object) -> dict[str, object]:
    """Return the values that were given, in the form for SQL functions."""
    return {name: _write_value(value) for name, value in fields.items() if value is not None}


def _write_value(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


@dataclass(frozen=True)
class Filter:
    """The edges to find. A value that is None does not restrict them."""

    source: str | None
    target: str | None
    type: str | None
    deleted: bool
    only_valid: bool


@dataclass(frozen=True)
class Walk:
    """A breadth-first walk. `types` restricts the edges to follow."""

    start: str
    direction: str
    depth: int
    types: Sequence[str] | None
    limit: int


class WalkOperations:
    """Searches, lists, walks and counts in the graph of one space."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call
        self._mind = MindOperations(store)

    async def search(
        self, query: str, type: str | None, min_score: float, limit: int, caller: Caller
    ) -> list[tuple[NodeRow, float]]:
        """Return nodes with their scores, best first."""

        async def search() -> list[MatchedRow]:
            model, vector, _ = await self._store.try_to_embed_query(query)
            return await self._call(
                "match_nodes",
                MatchedRow,
                query=query,
                type=type,
                min_score=min_score,
                max_rows=limit,
                model=model,
                vector=vector,
                **caller.reading_home,
            )

        scores = {row.node_id: row.score for row in await self._store.search(search)}
        return [(row, scores[row.node_id]) for row in await self._mind.fetch(list(scores), caller)]

    async def list_page(
        self, type: str | None, limit: int, skip: int, caller: Caller, *, deleted: bool
    ) -> tuple[list[NodeRow], int]:
        """Return a page of nodes, last updated first, and the number of nodes on all pages."""
        rows = await self._call(
            "list_nodes",
            ListedRow,
            type=type,
            deleted=deleted,
            max_rows=limit,
            skip=skip,
            **caller.reading_home,
        )
        nodes = await self._mind.fetch([row.node_id for row in rows], caller, deleted=deleted)
        return nodes, rows[0].total if rows else 0

    async def find_edges(self, wanted: Filter, limit: int, caller: Caller) -> list[EdgeRow]:
        """Return the newest edges that match a filter."""
        rows = await self._call(
            "find_edges",
            EdgeIdRow,
            from_node=wanted.source,
            to_node=wanted.target,
            type=wanted.type,
            deleted=wanted.deleted,
            only_valid=wanted.only_valid,
            max_rows=limit,
            **caller.reading_home,
        )
        edges = [row.edge_id for row in rows]
        return await self._mind.fetch_edges(edges, caller, deleted=wanted.deleted)

    async def walk(
        self, walk: Walk, caller: Caller
    ) -> tuple[list[ReachedRow], Mapping[UUID, NodeRow]]:
        """Return the rows of a walk, and by id its nodes, also the start."""
        rows = await self._call(
            "traverse_graph",
            ReachedRow,
            start=walk.start,
            direction=walk.direction,
            max_depth=walk.depth,
            types=list(walk.types) if walk.types else None,
            max_rows=walk.limit,
            **caller.reading_home,
        )
        nodes = await self._mind.fetch([UUID(walk.start), *(row.node_id for row in rows)], caller)
        found = {node.node_id: node for node in nodes}
        return [row for row in rows if row.node_id in found], found

    async def find_insights(self, caller: Caller) -> list[InsightRow]:
        """Return bridges and clusters."""
        return await self._call("graph_insights", InsightRow, **caller.reading_home)

    async def count(self, caller: Caller) -> StatisticsRow:
        """Return the numbers of nodes and edges."""
        [row] = await self._call("graph_statistics", StatisticsRow, **caller.reading_home)
        return row

    async def has_vectors(self) -> bool:
        """Return whether searches compare vectors."""
        try:
            await self._store.models.find_active()
        except (EmbeddingNotConfigured, EmbeddingUnavailable):
            return False
        return True
