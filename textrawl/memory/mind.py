"""The operations of the `mind` toolset: they embed descriptions and call SQL functions.

They read and write only the caller's home space.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, LiteralString, TypeVar
from uuid import UUID

from pydantic import AfterValidator, Field

from textrawl.errors import CallFailed, EmbeddingNotConfigured, EmbeddingUnavailable
from textrawl.memory.store import Store, StoreCall
from textrawl.models.embeddings import Vector, compose_document
from textrawl.postgres.sqlstates import EDGE_NOT_FOUND, NODE_NOT_FOUND, DataRefused
from textrawl.values.text import clean_value
from textrawl.wire.columns import IS_SET, ROUNDED, UuidText
from textrawl.wire.replies import OMIT_EMPTY, Key, Part

MOST_PROPERTIES = 20_000  # characters of the JSON of an object of properties


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


async def write_graph(
    call: StoreCall, nodes: Sequence[Item], edges: Sequence[Item], instance: str | None
) -> WrittenGraph:
    """Create nodes and edges in one transaction. Their keys are those of the SQL function."""
    described = [node for node in nodes if node.get("description")]
    texts = [compose_document(node["label"], node["description"]) for node in described]
    model, vectors = await call.store.embed_documents(texts)
    rest = iter(vectors or ())
    rows = await call.write(
        "write_graph",
        WrittenItemRow,
        nodes=json.dumps(nodes),
        edges=json.dumps(edges),
        instance=instance,
        model=model,
        embeddings=vectors and [next(rest) if node.get("description") else None for node in nodes],
    )
    if not rows or not rows[0].readable:
        return WrittenGraph(rows)
    found = await fetch_nodes(call, [row.id for row in rows if row.id and row.kind == "node"])
    joined = await fetch_edges(call, [row.id for row in rows if row.id and row.kind == "edge"])
    return WrittenGraph(rows, {node.id: node for node in found}, {edge.id: edge for edge in joined})


async def update_node(call: StoreCall, node: str, fields: Mapping[str, object]) -> list[NodePart]:
    """Change values of a node, and return it if the caller can read the space."""
    model, vectors = await _embed_description(call, node, fields)
    readable = await change_graph(
        call,
        "update_node",
        bool,
        node=node,
        fields=json.dumps(fields),
        model=model,
        embedding=vectors[0] if vectors else None,
    )
    return await fetch_nodes(call, [node]) if readable else []


async def _embed_description(
    call: StoreCall, node: str, fields: Mapping[str, object]
) -> tuple[int | None, Sequence[Vector] | None]:
    """Return the active model and the vector of a new description.

    Both are None if the caller cannot read the node. The upkeep makes the vector then.
    """
    home, description = call.caller.principal.home_space, fields.get("description")
    if not isinstance(description, str) or home is None or "read" not in home.scopes:
        return None, None
    texts = [compose_document(row.name, description) for row in await fetch_nodes(call, [node])]
    return await call.store.embed_documents(texts)


async def change_graph(
    call: StoreCall, function: LiteralString, row: type[Changed], /, **arguments: object
) -> Changed:
    """Return the row or the value of a SQL function that changes the graph. Raises CallFailed."""
    try:
        return await call.store.database.value(function, row, **arguments, **call.caller.writing)
    except DataRefused as refusal:
        raise _explain(refusal) from None


async def fetch_nodes(
    call: StoreCall, nodes: Sequence[UUID | str], *, deleted: bool = False
) -> list[NodePart]:
    """Return the nodes with these ids, in this order. Unknown ids are left out."""
    return await call.read("fetch_nodes", NodePart, nodes=list(nodes), deleted=deleted)


async def fetch_edges(
    call: StoreCall, edges: Sequence[UUID | str], *, deleted: bool = False
) -> list[EdgePart]:
    """Return the edges with these ids, in this order. Unknown ids are left out."""
    return await call.read("fetch_edges", EdgePart, edges=list(edges), deleted=deleted)


def clean_properties(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the properties without hidden characters. Raises ValueError if they are too large."""
    try:
        clean = clean_value(properties)
        text = json.dumps(clean, ensure_ascii=False, allow_nan=False)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if len(text) > MOST_PROPERTIES:
        raise ValueError(f"must have at most {MOST_PROPERTIES:,} characters as JSON")
    return clean


def write_fields(**fields: object) -> dict[str, object]:
    """Return the values that were given, in the form for SQL functions."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in fields.items()
        if value is not None
    }


async def search_nodes(
    call: StoreCall, query: str, type: str | None, min_score: float, limit: int
) -> list[MatchPart]:
    """Return nodes with their scores, best first."""
    rows = await call.search(
        "match_nodes", MatchedNodeRow, query, type=type, min_score=min_score, max_rows=limit
    )
    scores = {str(row.node_id): row.score for row in rows}
    nodes = await fetch_nodes(call, list(scores))
    return [MatchPart(node=node, score=scores[node.id]) for node in nodes]


async def walk_graph(
    call: StoreCall, start: str, **limits: object
) -> tuple[list[ReachedPart], Mapping[str, NodePart]]:
    """Return what a breadth-first walk reached, and by id its nodes, also the start."""
    rows = await call.read("traverse_graph", ReachedRow, start=start, **limits)
    nodes = await fetch_nodes(call, [UUID(start), *(row.node_id for row in rows)])
    found = {node.id: node for node in nodes}
    reached = [
        ReachedPart(node=found[str(row.node_id)], path=[*map(str, row.path)], depth=row.depth)
        for row in rows
        if str(row.node_id) in found
    ]
    return reached, found


async def has_vectors(store: Store) -> bool:
    """Return whether searches compare vectors."""
    try:
        await store.models.find_active()
    except (EmbeddingNotConfigured, EmbeddingUnavailable):
        return False
    return True
