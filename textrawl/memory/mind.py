"""The operations of the `mind` toolset: they embed descriptions and call SQL functions.

They read and write only the caller's home space.
"""

import json
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, TypeVar
from uuid import UUID

from pydantic import AfterValidator, Field

from textrawl.access.principal import Caller
from textrawl.errors import CallFailed, EmbeddingNotConfigured, EmbeddingUnavailable
from textrawl.memory.store import Store
from textrawl.models.embeddings import Vector, compose_document
from textrawl.postgres.sqlstates import EDGE_NOT_FOUND, NODE_NOT_FOUND, DataRefused
from textrawl.wire.columns import IS_SET, ROUNDED, UuidText
from textrawl.wire.replies import OMIT_EMPTY, Key, Part


@dataclass(frozen=True)
class WrittenItemRow:
    """A node or edge of write_graph. `id` is None if an end of the edge is missing.

    `place` is the position among the nodes or edges, from 1. `created` is false if the node or edge
    existed already. `readable` is false if the caller can only write.
    """

    kind: str
    place: int
    id: UUID | None
    created: bool
    readable: bool


class NodePart(Part):
    """A node of fetch_nodes. `name` is the name of its entity.

    If the caller cannot read the space, a node has only an id, a type and a label.
    """

    id: Annotated[UuidText, Key("id"), Field(validation_alias="node_id")]
    type: Annotated[str, Key("t"), Field(validation_alias="node_type")]
    label: Annotated[str, Key("n")]
    name: Annotated[str, Field(exclude=True)] = ""
    description: Annotated[str | None, Key("d")] = None
    properties: Annotated[dict[str, Any] | None, Key("p"), OMIT_EMPTY] = None
    confidence: Annotated[float | None, Key("conf"), ROUNDED] = None
    source_instance: Annotated[str | None, Field(validation_alias="instance")] = None
    source_memory_id: Annotated[str | None, Key("mem"), Field(validation_alias="memory")] = None
    first_learned_at: datetime | None = None
    last_confirmed_at: datetime | None = None
    version: Annotated[int | None, Key("v")] = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    deleted: Annotated[bool | None, Key("del"), IS_SET, Field(validation_alias="deleted_at")] = None


class EdgePart(Part):
    """An edge of fetch_edges.

    If the caller cannot read the space, an edge has only an id and a type.
    """

    id: Annotated[UuidText, Key("id"), Field(validation_alias="edge_id")]
    from_id: Annotated[UuidText | None, Key("from")] = None
    to_id: Annotated[UuidText | None, Key("to")] = None
    type: Annotated[str, Key("rel"), Field(validation_alias="edge_type")]
    weight: Annotated[float | None, Key("w"), ROUNDED] = None
    evidence: Annotated[str | None, Key("ev")] = None
    properties: Annotated[dict[str, Any] | None, Key("p"), OMIT_EMPTY] = None
    source_instance: Annotated[str | None, Field(validation_alias="instance")] = None
    occurred_at: Annotated[datetime | None, Key("at")] = None
    valid_until: Annotated[datetime | None, Key("until")] = None
    last_confirmed_at: datetime | None = None
    version: Annotated[int | None, Key("v")] = None
    created_at: datetime | None = None
    deleted: Annotated[bool | None, Key("del"), IS_SET, Field(validation_alias="deleted_at")] = None


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
class ListedNodeRow:
    """A node of list_nodes. `total` is the number of nodes on all pages."""

    node_id: UUID
    total: int


@dataclass(frozen=True)
class MatchedNodeRow:
    """A node of match_nodes."""

    node_id: UUID
    score: float


@dataclass(frozen=True)
class ReachedRow:
    """A node of traverse_graph, with the edges that lead to it."""

    node_id: UUID
    path: list[UUID]
    depth: int


class MatchPart(Part):
    """A node that a search found, with its score from 0 to 1."""

    node: Annotated[NodePart, Key("node")]
    score: Annotated[float, Key("s"), ROUNDED]


class ReachedPart(Part):
    """A node that a walk reached, with the ids of the edges that lead to it."""

    node: Annotated[NodePart, Key("node")]
    path: Annotated[list[UuidText], Key("path")]
    depth: Annotated[int, Key("depth")]


def _keep_frequent(counts: dict[str, int], most: int = 50) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most])


_Frequent = Annotated[dict[str, int], AfterValidator(_keep_frequent)]


class GraphCounts(Part):
    """The numbers of nodes and valid edges, also for the 50 most frequent types of each."""

    total_nodes: Annotated[int, Key("nodes"), Field(validation_alias="nodes")]
    total_edges: Annotated[int, Key("edges"), Field(validation_alias="edges")]
    nodes_by_type: Annotated[_Frequent, Key("nodeTypes"), Field(validation_alias="node_types")]
    edges_by_type: Annotated[_Frequent, Key("edgeTypes"), Field(validation_alias="edge_types")]
    oldest_node: Annotated[datetime | None, Key("oldest"), Field(validation_alias="oldest")]
    newest_node: Annotated[datetime | None, Key("newest"), Field(validation_alias="newest")]


Changed = TypeVar("Changed")
Item = Mapping[str, Any]


@dataclass(frozen=True)
class WrittenGraph:
    """The outcome of a write: the rows of write_graph, and the nodes and edges as they are now.

    `nodes` and `edges` are empty if the caller cannot read the space.
    """

    rows: Sequence[WrittenItemRow]
    nodes: Mapping[str, NodePart] = field(default_factory=dict[str, NodePart])
    edges: Mapping[str, EdgePart] = field(default_factory=dict[str, EdgePart])

    def list_rows(self, kind: str) -> list[WrittenItemRow]:
        """Return the rows of nodes or of edges."""
        return [row for row in self.rows if row.kind == kind]


def refuse_node(node: str) -> CallFailed:
    """Return the error for an unknown node."""
    return _explain(DataRefused(NODE_NOT_FOUND, node))


def refuse_edge(edge: str) -> CallFailed:
    """Return the error for an unknown edge."""
    return _explain(DataRefused(EDGE_NOT_FOUND, edge))


def _explain(refusal: DataRefused) -> CallFailed:
    error = refusal.explain()
    return CallFailed(f"{error.title}: {error.fix}")


class MindOperations:
    """The nodes and edges of one space. Changes raise CallFailed if the database refuses them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._database = store.database

    async def write(
        self, nodes: Sequence[Item], edges: Sequence[Item], instance: str | None, caller: Caller
    ) -> WrittenGraph:
        """Create nodes and edges in one transaction. Their keys are those of write_graph."""
        model, embeddings = await self._embed(nodes)
        rows = await self._database.call(
            "write_graph",
            WrittenItemRow,
            nodes=json.dumps(nodes),
            edges=json.dumps(edges),
            instance=instance,
            model=model,
            embeddings=embeddings,
            **caller.writing,
        )
        if not rows or not rows[0].readable:
            return WrittenGraph(rows)
        ids = {row.id: row.kind for row in rows if row.id is not None}
        found = await self.fetch([id for id in ids if ids[id] == "node"], caller)
        joined = await self.fetch_edges([id for id in ids if ids[id] == "edge"], caller)
        return WrittenGraph(
            rows, {node.id: node for node in found}, {edge.id: edge for edge in joined}
        )

    async def update(
        self, node: str, fields: Mapping[str, object], caller: Caller
    ) -> list[NodePart]:
        """Change values of a node, and return it if the caller can read the space."""
        model, embedding = await self._embed_description(node, fields, caller)
        readable = await _change(
            self._database.value(
                "update_node",
                bool,
                node=node,
                fields=json.dumps(fields),
                model=model,
                embedding=embedding,
                **caller.writing,
            )
        )
        return await self.fetch([node], caller) if readable else []

    async def delete(self, node: str, caller: Caller, *, permanent: bool) -> DeletedRow:
        """Delete a node with its facts and edges."""
        return await _change(
            self._database.value(
                "delete_node", DeletedRow, node=node, permanent=permanent, **caller.writing
            )
        )

    async def connect(
        self, ends: tuple[str, str], type: str, fields: Mapping[str, object], caller: Caller
    ) -> tuple[ConnectedRow, list[EdgePart]]:
        """Connect two nodes. Return the edge too if the caller can read the space."""
        row = await _change(
            self._database.value(
                "write_edge",
                ConnectedRow,
                from_node=ends[0],
                to_node=ends[1],
                type=type,
                fields=json.dumps(fields),
                **caller.writing,
            )
        )
        return row, await self.fetch_edges([row.edge_id], caller) if row.readable else []

    async def update_edge(
        self, edge: str, fields: Mapping[str, object], caller: Caller
    ) -> list[EdgePart]:
        """Change values of an edge, and return it if the caller can read the space."""
        fields_text = json.dumps(fields)
        readable = await _change(
            self._database.value(
                "update_edge", bool, edge=edge, fields=fields_text, **caller.writing
            )
        )
        return await self.fetch_edges([edge], caller) if readable else []

    async def delete_edge(self, edge: str, caller: Caller) -> UUID:
        """Delete an edge, and return its id."""
        return await _change(self._database.value("delete_edge", UUID, edge=edge, **caller.writing))

    async def fetch(
        self, nodes: Sequence[UUID | str], caller: Caller, *, deleted: bool = False
    ) -> list[NodePart]:
        """Return the nodes with these ids, in this order. Unknown ids are left out."""
        return await self._database.call(
            "fetch_nodes", NodePart, nodes=list(nodes), deleted=deleted, **caller.reading_home
        )

    async def fetch_edges(
        self, edges: Sequence[UUID | str], caller: Caller, *, deleted: bool = False
    ) -> list[EdgePart]:
        """Return the edges with these ids, in this order. Unknown ids are left out."""
        return await self._database.call(
            "fetch_edges", EdgePart, edges=list(edges), deleted=deleted, **caller.reading_home
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

    async def _embed(self, nodes: Sequence[Item]) -> tuple[int | None, list[Vector | None] | None]:
        """Return the active model, and for each node the vector of its description, or None."""
        described = [node for node in nodes if node.get("description")]
        texts = [compose_document(node["label"], node["description"]) for node in described]
        model, vectors = await self._store.embed_documents(texts)
        if vectors is None:
            return None, None
        rest = iter(vectors)
        return model, [next(rest) if node.get("description") else None for node in nodes]


async def _change(change: Awaitable[Changed]) -> Changed:
    try:
        return await change
    except DataRefused as refusal:
        raise _explain(refusal) from None


def write_fields(**fields: object) -> dict[str, object]:
    """Return the values that were given, in the form for SQL functions."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in fields.items()
        if value is not None
    }


class WalkOperations:
    """Searches, lists, walks and counts in the graph of one space."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._database = store.database
        self._mind = MindOperations(store)

    async def search(
        self, query: str, type: str | None, min_score: float, limit: int, caller: Caller
    ) -> list[MatchPart]:
        """Return nodes with their scores, best first."""

        async def search() -> list[MatchedNodeRow]:
            model, vector, _ = await self._store.try_to_embed_query(query)
            return await self._database.call(
                "match_nodes",
                MatchedNodeRow,
                query=query,
                type=type,
                min_score=min_score,
                max_rows=limit,
                model=model,
                vector=vector,
                **caller.reading_home,
            )

        scores = {str(row.node_id): row.score for row in await self._store.search(search)}
        nodes = await self._mind.fetch(list(scores), caller)
        return [MatchPart(node=node, score=scores[node.id]) for node in nodes]

    async def list_page(
        self, type: str | None, limit: int, skip: int, caller: Caller, *, deleted: bool
    ) -> tuple[list[NodePart], int]:
        """Return a page of nodes, last updated first, and the number of nodes on all pages."""
        rows = await self._database.call(
            "list_nodes",
            ListedNodeRow,
            type=type,
            deleted=deleted,
            max_rows=limit,
            skip=skip,
            **caller.reading_home,
        )
        nodes = await self._mind.fetch([row.node_id for row in rows], caller, deleted=deleted)
        return nodes, rows[0].total if rows else 0

    async def find_edges(
        self, caller: Caller, *, deleted: bool, **conditions: object
    ) -> list[EdgePart]:
        """Return the newest edges that meet the conditions of the SQL function."""
        edges = await self._database.call(
            "find_edges", UUID, deleted=deleted, **conditions, **caller.reading_home
        )
        return await self._mind.fetch_edges(edges, caller, deleted=deleted)

    async def walk(
        self, start: str, caller: Caller, **limits: object
    ) -> tuple[list[ReachedPart], Mapping[str, NodePart]]:
        """Return what a breadth-first walk reached, and by id its nodes, also the start."""
        rows = await self._database.call(
            "traverse_graph", ReachedRow, start=start, **limits, **caller.reading_home
        )
        nodes = await self._mind.fetch([start, *(str(row.node_id) for row in rows)], caller)
        found = {node.id: node for node in nodes}
        reached = [
            ReachedPart(node=found[str(row.node_id)], path=[*map(str, row.path)], depth=row.depth)
            for row in rows
            if str(row.node_id) in found
        ]
        return reached, found

    async def has_vectors(self) -> bool:
        """Return whether searches compare vectors."""
        try:
            await self._store.models.find_active()
        except (EmbeddingNotConfigured, EmbeddingUnavailable):
            return False
        return True
