"""The operations of cluster_memories and consolidate_memories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from textrawl.access.principal import Caller
from textrawl.errors import ArgumentInvalid
from textrawl.scheduling.workers import run_aside
from textrawl.store.store import Store
from textrawl.toolsets.decay.clusters import (
    Cluster,
    Limits,
    Pair,
    find_clusters,
    measure_cohesion,
    merge_texts,
)
from textrawl.toolsets.decay.declaration import CONTENT_LENGTH
from textrawl.toolsets.decay.operations import embed_text


@dataclass(frozen=True)
class ComparedRow:
    """A memory of comparable_memories. `total` is the number of all active memories."""

    memory_id: UUID
    preview: str
    total: int


@dataclass(frozen=True)
class SimilarityRow:
    """A pair of memory_similarities."""

    one: UUID
    other: UUID
    similarity: float
    words: bool


@dataclass(frozen=True)
class MemberRow:
    """A member of cluster_members, with the values of the memory that would replace it."""

    memory_id: UUID
    content: str
    entity_name: str
    merged_tags: list[str]
    merged_entities: list[str]
    merged_strength: float


@dataclass(frozen=True)
class ConsolidatedRow:
    """The new memory of consolidate_memories, or None if a member is not active any more."""

    memory_id: UUID | None


@dataclass(frozen=True)
class LinkedRow:
    """The number of links that link_cluster made."""

    linked: int


@dataclass(frozen=True)
class Clustering:
    """The clusters of the compared memories, and the beginnings of their texts."""

    clusters: Sequence[Cluster]
    previews: Mapping[UUID, str]
    total: int


@dataclass(frozen=True)
class Merged:
    """The text of a consolidated memory and its other values."""

    text: str
    entity: str
    tags: list[str]
    entities: list[str]
    strength: float


class ConsolidationOperations:
    """Similar memories of one space."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def compare(
        self, threshold: float, caller: Caller
    ) -> tuple[Sequence[ComparedRow], Sequence[SimilarityRow]]:
        """Return the compared memories, and their pairs with at least this similarity."""
        rows = await self._call("comparable_memories", ComparedRow, **caller.reading_home)
        ids = [row.memory_id for row in rows]
        return rows, await self._measure(ids, caller, threshold=threshold)

    async def cluster(self, limits: Limits, caller: Caller) -> Clustering:
        """Return the clusters of the memories that were used last."""
        rows, pairs = await self.compare(limits.threshold, caller)
        similar = _mirror(pairs)
        groups = await run_aside(find_clusters, [row.memory_id for row in rows], similar, limits)
        members = [member for group in groups for member in group]
        inner = await self._measure(
            members,
            caller,
            groups=[number for number, group in enumerate(groups) for _ in group],
            by_words=pairs[0].words if pairs else None,
        )
        similarities = _mirror(inner)
        return Clustering(
            [
                Cluster(limits.name(group), group, measure_cohesion(group, similarities))
                for group in groups
            ],
            {row.memory_id: row.preview for row in rows},
            rows[0].total if rows else 0,
        )

    async def find(self, cluster_id: str, caller: Caller) -> Cluster:
        """Return the cluster with this id. Raises ArgumentInvalid."""
        clustering = await self.cluster(Limits.read(cluster_id), caller)
        for cluster in clustering.clusters:
            if cluster.id == cluster_id.strip().lower():
                return cluster
        raise ArgumentInvalid(
            "The memories have changed: call cluster_memories again; nothing was changed",
            title="Cluster not found",
        )

    async def merge(self, cluster: Cluster, caller: Caller) -> Merged:
        """Return the memory that would replace a cluster. Raises ArgumentInvalid."""
        rows = await self._call(
            "cluster_members",
            MemberRow,
            memories=list(cluster.members),
            cohesion=cluster.cohesion,
            **caller.reading_home,
        )
        text = merge_texts([row.content for row in rows])
        if len(text) > CONTENT_LENGTH:
            raise ArgumentInvalid(
                f"The merged text would have more than {CONTENT_LENGTH:,} characters: use mode "
                "link, or cluster_memories with a smaller max_cluster_size; nothing was changed"
            )
        first = rows[0]
        return Merged(
            text,
            first.entity_name,
            first.merged_tags,
            first.merged_entities,
            first.merged_strength,
        )

    async def apply(self, cluster: Cluster, merged: Merged, caller: Caller) -> UUID:
        """Replace the members by one memory, and return its id. Raises ArgumentInvalid."""
        [row] = await self._call(
            "consolidate_memories",
            ConsolidatedRow,
            memories=list(cluster.members),
            cohesion=cluster.cohesion,
            **await embed_text(self._store, merged.entity, merged.text),
            **caller.writing,
        )
        if row.memory_id is None:
            raise ArgumentInvalid(
                "A memory of the cluster was removed meanwhile: call cluster_memories again; "
                "nothing was changed",
                title="Cluster not found",
            )
        return row.memory_id

    async def link(self, cluster: Cluster, caller: Caller) -> int:
        """Link the members with each other, and return the number of new links."""
        [row] = await self._call(
            "link_cluster",
            LinkedRow,
            memories=list(cluster.members),
            strength=max(0.0, min(1.0, cluster.cohesion)),
            **caller.writing,
        )
        return row.linked

    async def _measure(
        self,
        memories: Sequence[UUID],
        caller: Caller,
        *,
        threshold: float = -1.0,
        groups: Sequence[int] | None = None,
        by_words: bool | None = None,
    ) -> Sequence[SimilarityRow]:
        if not memories:
            return []
        model = await self._find_model()
        return await self._call(
            "memory_similarities",
            SimilarityRow,
            memories=list(memories),
            threshold=threshold,
            groups=None if groups is None else list(groups),
            by_words=by_words,
            model=model,
            **caller.reading_home,
        )

    async def _find_model(self) -> int | None:
        """Return the id of the active model, or None if the memory has no vectors."""
        if not self._store.models.has_vectors:
            return None
        return (await self._store.models.find_active()).model_id


def _mirror(rows: Sequence[SimilarityRow]) -> dict[Pair, float]:
    """Return the similarities of pairs in both orders."""
    pairs = {(row.one, row.other): row.similarity for row in rows}
    return pairs | {(other, one): value for (one, other), value in pairs.items()}
