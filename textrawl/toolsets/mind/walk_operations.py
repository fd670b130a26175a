"""The operations of the `mind` toolset that search, list, count and follow nodes and edges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from textrawl.access.principal import Caller
from textrawl.errors import EmbeddingNotConfigured, EmbeddingUnavailable
from textrawl.store.store import Store
from textrawl.toolsets.mind.operations import MindOperations
from textrawl.toolsets.mind.rows import (
    EdgeIdRow,
    EdgeRow,
    InsightRow,
    ListedRow,
    MatchedRow,
    NodeRow,
    ReachedRow,
    StatisticsRow,
)


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
