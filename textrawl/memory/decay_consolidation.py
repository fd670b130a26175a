"""The operations that cluster, merge and promote memories."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Literal, Self
from uuid import UUID, uuid5

from anyio import to_thread

from textrawl.access.principal import Caller
from textrawl.errors import ArgumentInvalid, TextrawlError
from textrawl.memory.decay import CONTENT_LENGTH, CandidateRow, embed_text
from textrawl.memory.store import Store
from textrawl.memory.vault import NotePlace, add_note, check_vault, remove_note, write_note
from textrawl.scheduling import run_aside

THRESHOLD, MOST_MEMBERS = 0.83, 12
_MERGE, _REVIEW = 0.90, 0.75  # the least cohesion for an action
_NAMESPACE = UUID("2c1d8f0e-7d2b-4e55-9a3b-6f0f6a3b9f11")  # for ids that are made from members
_ID = re.compile(
    r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?::(0(?:\.\d+)?|1(?:\.0+)?):(\d{1,3}))?"
)

Action = Literal["auto-merge", "llm-review", "keep-separate"]
Pair = tuple[UUID, UUID]


@dataclass(frozen=True)
class Limits:
    """The limits of a clustering: the least similarity of two members, and the most members."""

    threshold: float = THRESHOLD
    most_members: int = MOST_MEMBERS

    @classmethod
    def read(cls, cluster_id: str) -> Self:
        """Return the limits in the id of a cluster. Raises ArgumentInvalid."""
        found = _ID.fullmatch(cluster_id.strip().lower())
        if found is None:
            raise ArgumentInvalid(
                "cluster_id: give an id of cluster_memories", title="Invalid cluster id"
            )
        return cls(float(found[2]), int(found[3])) if found[2] else cls()

    def name(self, members: Iterable[UUID]) -> str:
        """Return the id of the cluster with these members."""
        number = uuid5(_NAMESPACE, "\n".join(sorted(map(str, members))))
        return str(number) if self == Limits() else f"{number}:{self.threshold}:{self.most_members}"


@dataclass(frozen=True)
class MemoryCluster:
    """Memories that are similar. `cohesion` is the mean similarity of all pairs of members."""

    id: str
    members: tuple[UUID, ...]
    cohesion: float

    @property
    def action(self) -> Action:
        """The action that the cohesion suggests."""
        if self.cohesion >= _MERGE:
            return "auto-merge"
        return "llm-review" if self.cohesion >= _REVIEW else "keep-separate"


def find_clusters(
    memories: Sequence[UUID], similar: Mapping[Pair, float], limits: Limits
) -> list[tuple[UUID, ...]]:
    """Return the groups of two or more memories, in the order of their first members.

    A memory joins the first group that has a member similar to it. All other groups with such a
    member are merged into this group. A group that would get too large is skipped. `similar` has
    the pairs of similar memories in both orders.
    """
    neighbours: dict[UUID, list[UUID]] = {}
    for (one, other), value in similar.items():
        if value >= limits.threshold:
            neighbours.setdefault(one, []).append(other)
    groups, group_of = dict[int, list[UUID]](), dict[UUID, int]()
    for number, memory in enumerate(memories):
        own = [memory]
        near = {group_of[other] for other in neighbours.get(memory, ()) if other in group_of}
        for earlier in sorted(near):
            if len(groups[earlier]) + len(own) <= limits.most_members:
                own = [*groups.pop(earlier), *own]
        groups[number] = own
        group_of |= dict.fromkeys(own, number)
    places = {memory: place for place, memory in enumerate(memories)}
    found = [
        tuple(sorted(group, key=places.__getitem__)) for group in groups.values() if len(group) > 1
    ]
    return sorted(found, key=lambda group: places[group[0]])


def measure_cohesion(members: Sequence[UUID], similarities: Mapping[Pair, float]) -> float:
    """Return the mean similarity of all pairs. A missing pair counts as 0.

    `similarities` has each pair in both orders.
    """
    values = [similarities.get((one, other), 0.0) for one, other in combinations(members, 2)]
    return sum(values) / len(values)


def merge_texts(texts: Sequence[str]) -> str:
    """Return the longest text if it contains all texts, else the distinct texts as paragraphs."""
    longest = max(texts, key=len)
    if all(text in longest for text in texts):
        return longest
    distinct = dict.fromkeys(text.strip() for text in texts)
    return "\n\n".join(
        text for text in distinct if not any(text != other and text in other for other in distinct)
    )


@dataclass(frozen=True)
class ComparedMemoryRow:
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
class Clustering:
    """The clusters of the compared memories, and the beginnings of their texts."""

    clusters: Sequence[MemoryCluster]
    previews: Mapping[UUID, str]
    total: int


class ConsolidationOperations:
    """Similar memories of one space."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def compare(
        self, threshold: float, caller: Caller
    ) -> tuple[Sequence[ComparedMemoryRow], Sequence[SimilarityRow]]:
        """Return the compared memories, and their pairs with at least this similarity."""
        rows = await self._call("comparable_memories", ComparedMemoryRow, **caller.reading_home)
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
                MemoryCluster(limits.name(group), group, measure_cohesion(group, similarities))
                for group in groups
            ],
            {row.memory_id: row.preview for row in rows},
            rows[0].total if rows else 0,
        )

    async def find(self, cluster_id: str, caller: Caller) -> MemoryCluster:
        """Return the cluster with this id. Raises ArgumentInvalid."""
        clustering = await self.cluster(Limits.read(cluster_id), caller)
        for cluster in clustering.clusters:
            if cluster.id == cluster_id.strip().lower():
                return cluster
        raise ArgumentInvalid(
            "The memories have changed: call cluster_memories again; nothing was changed",
            title="Cluster not found",
        )

    async def merge(self, cluster: MemoryCluster, caller: Caller) -> MemberRow:
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
        return replace(rows[0], content=text)

    async def apply(self, cluster: MemoryCluster, merged: MemberRow, caller: Caller) -> UUID:
        """Replace the members by one memory, and return its id. Raises ArgumentInvalid."""
        [row] = await self._call(
            "consolidate_memories",
            ConsolidatedRow,
            memories=list(cluster.members),
            cohesion=cluster.cohesion,
            **await embed_text(self._store, merged.entity_name, merged.content),
            **caller.writing,
        )
        if row.memory_id is None:
            raise ArgumentInvalid(
                "A memory of the cluster was removed meanwhile: call cluster_memories again; "
                "nothing was changed",
                title="Cluster not found",
            )
        return row.memory_id

    async def link(self, cluster: MemoryCluster, caller: Caller) -> int:
        """Link the members with each other, and return the number of new links."""
        return await self._store.database.value(
            "link_cluster",
            int,
            memories=list(cluster.members),
            strength=max(0.0, min(1.0, cluster.cohesion)),
            **caller.writing,
        )

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


_LONGEST_TITLE = 80


class PromotionOperations:
    """The memories of a space that become notes of a vault."""

    def __init__(self, store: Store, vault: Path | None) -> None:
        self._database = store.database
        self._vault = vault

    async def check(self) -> None:
        """Raise VaultUnavailable if notes cannot be written."""
        await to_thread.run_sync(check_vault, self._vault)

    async def promote(self, rows: Sequence[CandidateRow], caller: Caller) -> list[str]:
        """Write a note for each memory, mark the memory, and return the ids of the promoted.

        Raises VaultUnavailable. The memories before the one that failed stay promoted.
        """
        return [str(row.memory_id) for row in rows if await self._promote(row, caller)]

    async def _promote(self, row: CandidateRow, caller: Caller) -> bool:
        """Return false if the memory is gone or was promoted before."""
        place = await to_thread.run_sync(
            add_note,
            self._vault,
            _name_space(caller),
            name_memory(row.content),
            str(row.memory_id),
            _write(row),
        )
        try:
            marked = await self._database.value(
                "mark_promoted",
                bool,
                memory=row.memory_id,
                path=place.path,
                **caller.writing,
            )
        except TextrawlError:
            await self._withdraw(place)
            raise
        if not marked:
            await self._withdraw(place)
        return marked

    async def _withdraw(self, place: NotePlace) -> None:
        await to_thread.run_sync(remove_note, self._vault, place)


def name_memory(content: str) -> str:
    """Return the first line of a text, shortened: the title of its note."""
    line = content.strip().split("\n", 1)[0]
    short = line[:_LONGEST_TITLE].rsplit(" ", 1)[0]
    return line if len(line) <= _LONGEST_TITLE else f"{short}…"


def _name_space(caller: Caller) -> str:
    """Return the name of the space that the call reads and writes."""
    principal = caller.principal
    return (principal.home_space or principal.readable[0]).name


def _write(row: CandidateRow) -> str:
    """Return the text of the note."""
    fields = {
        "title": name_memory(row.content),
        "memory_id": str(row.memory_id),
        "tags": row.tags,
        "entities": row.entities,
        "source": row.source,
        "context": row.context,
        "created": row.created_at.astimezone(UTC).isoformat(timespec="seconds"),
        "promoted": datetime.now(UTC).isoformat(timespec="seconds"),
        "score": round(row.score, 4),
        "strength": row.strength,
        "use_count": row.use_count,
    }
    return write_note(fields, row.content)
