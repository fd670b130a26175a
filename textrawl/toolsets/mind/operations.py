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
from textrawl.embeddings import Vector
from textrawl.embeddings.vectors import compose_document
from textrawl.postgres.sqlstates import EDGE_NOT_FOUND, NODE_NOT_FOUND, DataRefused
from textrawl.store.store import Store
from textrawl.toolsets.mind.rows import (
    ConnectedRow,
    DeletedRow,
    EdgeIdRow,
    EdgeRow,
    NodeRow,
    ReadableRow,
    WrittenRow,
)

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
