"""Memories that fade: their rows, their clusters, and their promotion to notes.

The operations read and write only the caller's home space.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from uuid import UUID, uuid5

from anyio import to_thread
from pydantic import BeforeValidator, Field

from textrawl.errors import ArgumentInvalid, TextrawlError
from textrawl.memory.store import Store, StoreCall
from textrawl.memory.vault import add_note, remove_note, write_note
from textrawl.models.embeddings import compose_document
from textrawl.scheduling import run_aside
from textrawl.values.text import split_text
from textrawl.wire.columns import ROUNDED, Seconds, UuidText
from textrawl.wire.replies import OMIT_EMPTY, Key, SnakePart

NO_ENTITY = "Memories"  # the entity of memories that name no entity
CONTENT_LENGTH = 50_000  # characters of a memory

REINFORCED = "reinforced"  # the status of a memory whose use was recorded


@dataclass(frozen=True)
class SavedRow:
    """A memory that save_memory stored, or that the entity had already (`duplicate`)."""

    memory_id: UUID
    duplicate: bool
    embedded: bool


def _count_days(begin: object) -> object:
    """Return the days since an instant, rounded to a tenth."""
    if not isinstance(begin, datetime):
        return begin
    return round(max(0.0, (datetime.now(UTC) - begin).total_seconds()) / 86_400, 1)


Age = Annotated[float, BeforeValidator(_count_days)]


class FoundPart(SnakePart):
    """A memory that search_memories found."""

    id: Annotated[UuidText, Key("id"), Field(validation_alias="memory_id")]
    content: Annotated[str, Key("c")]
    tags: Annotated[list[str] | None, Key("tags"), OMIT_EMPTY]
    score: Annotated[float, Key("s"), ROUNDED]
    similarity: Annotated[float | None, Key("sim"), ROUNDED]
    use_count: Annotated[int, Key("uses")]
    last_used: Seconds
    age_days: Annotated[Age, Field(validation_alias="created_at")]
    review_priority: Annotated[
        float | None, Key("due"), BeforeValidator(lambda found: round(found, 4) or None)
    ]


class ObservedPart(SnakePart):
    """What reinforce_memories changed of a memory.

    All but the id and the status is None for an id without a memory.
    """

    id: Annotated[UuidText, Key("id"), Field(validation_alias="memory_id")]
    status: Annotated[
        str,
        BeforeValidator(lambda found: REINFORCED if found else "not_found"),
        Field(validation_alias="found"),
    ]
    cross_domain: Annotated[bool | None, Key("cross")]
    new_use_count: Annotated[int | None, Key("uses"), Field(validation_alias="use_count")]
    new_review_count: Annotated[int | None, Field(validation_alias="review_count")]
    strength: Annotated[float | None, Key("str"), ROUNDED]
    old_score: Annotated[float | None, Field(exclude=True)]
    new_score: Annotated[float | None, Field(exclude=True)]


@dataclass(frozen=True)
class FadedRow:
    """A memory that gc would take."""

    memory_id: UUID
    score: float


@dataclass(frozen=True)
class LinkedRow:
    """A link that link_memories stored. `created` is false if the link existed."""

    link_id: UUID
    created: bool


class LinkPart(SnakePart):
    """A link between two memories."""

    source: Annotated[UuidText, Key("from"), Field(alias="from", validation_alias="from_id")]
    to: Annotated[UuidText, Key("to"), Field(validation_alias="to_id")]
    type: Annotated[str, Key("rel"), Field(validation_alias="relation_type")]
    strength: Annotated[float, Key("str"), ROUNDED]


class MemoryPart(SnakePart):
    """A memory of list_memories with everything that the decay tools know of it.

    `total`, `mean_score` and `mean_use_count` are of all memories that the call asked for.
    """

    id: Annotated[UuidText, Key("id"), Field(validation_alias="memory_id")]
    content: Annotated[str, Key("c")]
    entities: Annotated[list[str] | None, Key("e"), OMIT_EMPTY]
    tags: Annotated[list[str] | None, Key("tags"), OMIT_EMPTY]
    source: str | None
    context: str | None
    meta: Annotated[dict[str, Any] | None, OMIT_EMPTY, Field(validation_alias="extra")]
    created_at: Seconds
    last_used: Seconds
    use_count: Annotated[int, Key("uses")]
    strength: Annotated[float, Key("str"), ROUNDED]
    status: str
    promoted_to: str | None
    score: Annotated[float | None, Key("s"), ROUNDED]
    age_days: Annotated[Age, Field(validation_alias="created_at")]
    total: Annotated[int, Field(exclude=True)]
    mean_score: Annotated[float, Field(exclude=True)]
    mean_use_count: Annotated[float, Field(exclude=True)]


@dataclass(frozen=True)
class CandidateRow:
    """A memory of promotion_candidates, with the reason to promote it, if there is one."""

    memory_id: UUID
    content: str
    tags: list[str]
    entities: list[str]
    source: str | None
    context: str | None
    strength: float
    use_count: int
    created_at: datetime
    status: str
    promoted_to: str | None
    score: float
    age_days: float
    reason: str | None


async def embed_text(store: Store, entity: str, text: str) -> dict[str, object]:
    """Return the arguments of a SQL function that stores the text of a memory, with its vectors."""
    parts = split_text(text)
    model, vectors = await store.embed_documents([compose_document(entity, part) for part in parts])
    content = json.dumps(parts if len(parts) > 1 else parts[0])
    return {"content": content, "entity": entity, "model": model, "embeddings": vectors}


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
    order = {memory: index for index, memory in enumerate(memories)}
    found = [
        tuple(sorted(group, key=order.__getitem__)) for group in groups.values() if len(group) > 1
    ]
    return sorted(found, key=lambda group: order[group[0]])


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
class Clustering:
    """The clusters of the compared memories, and the beginnings of their texts."""

    clusters: Sequence[MemoryCluster]
    previews: Mapping[UUID, str]
    total: int


async def compare_memories(
    call: StoreCall, threshold: float
) -> tuple[Sequence[ComparedMemoryRow], Sequence[SimilarityRow]]:
    """Return the compared memories, and their pairs with at least this similarity."""
    rows = await call.read("comparable_memories", ComparedMemoryRow)
    ids = [row.memory_id for row in rows]
    return rows, await _measure(call, ids, threshold=threshold)


async def cluster_memories(call: StoreCall, limits: Limits) -> Clustering:
    """Return the clusters of the memories that were used last."""
    rows, pairs = await compare_memories(call, limits.threshold)
    similar = _mirror(pairs)
    groups = await run_aside(find_clusters, [row.memory_id for row in rows], similar, limits)
    inner = await _measure(
        call,
        [member for group in groups for member in group],
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


async def find_cluster(call: StoreCall, cluster_id: str) -> MemoryCluster:
    """Return the cluster with this id. Raises ArgumentInvalid."""
    clustering = await cluster_memories(call, Limits.read(cluster_id))
    for cluster in clustering.clusters:
        if cluster.id == cluster_id.strip().lower():
            return cluster
    raise ArgumentInvalid(
        "The memories have changed: call cluster_memories again; nothing was changed",
        title="Cluster not found",
    )


async def merge_cluster(call: StoreCall, cluster: MemoryCluster) -> MemberRow:
    """Return the memory that would replace a cluster. Raises ArgumentInvalid."""
    rows = await call.read(
        "cluster_members", MemberRow, memories=list(cluster.members), cohesion=cluster.cohesion
    )
    text = merge_texts([row.content for row in rows])
    if len(text) > CONTENT_LENGTH:
        raise ArgumentInvalid(
            f"The merged text would have more than {CONTENT_LENGTH:,} characters: use mode "
            "link, or cluster_memories with a smaller max_cluster_size; nothing was changed"
        )
    return replace(rows[0], content=text)


async def replace_cluster(call: StoreCall, cluster: MemoryCluster, merged: MemberRow) -> str:
    """Replace the members by one memory, and return its id. Raises ArgumentInvalid."""
    memory = await call.write_one(
        "consolidate_memories",
        object,
        memories=list(cluster.members),
        cohesion=cluster.cohesion,
        **await embed_text(call.store, merged.entity_name, merged.content),
    )
    if memory is None:
        raise ArgumentInvalid(
            "A memory of the cluster was removed meanwhile: call cluster_memories again; "
            "nothing was changed",
            title="Cluster not found",
        )
    return str(memory)


async def _measure(
    call: StoreCall,
    memories: Sequence[UUID],
    *,
    threshold: float = -1.0,
    groups: Sequence[int] | None = None,
    by_words: bool | None = None,
) -> Sequence[SimilarityRow]:
    if not memories:
        return []
    models = call.store.models
    return await call.read(
        "memory_similarities",
        SimilarityRow,
        memories=list(memories),
        threshold=threshold,
        groups=None if groups is None else list(groups),
        by_words=by_words,
        model=(await models.find_active()).model_id if models.has_vectors else None,
    )


def _mirror(rows: Sequence[SimilarityRow]) -> dict[Pair, float]:
    """Return the similarities of pairs in both orders."""
    pairs = {(row.one, row.other): row.similarity for row in rows}
    return pairs | {(other, one): value for (one, other), value in pairs.items()}


_LONGEST_TITLE = 80


async def promote_memories(
    call: StoreCall, vault: Path | None, rows: Sequence[CandidateRow]
) -> list[str]:
    """Write a note for each memory, mark the memory, and return the ids of the promoted.

    Raises VaultUnavailable. The memories before the one that failed stay promoted.
    """
    return [str(row.memory_id) for row in rows if await _promote(call, vault, row)]


async def _promote(call: StoreCall, vault: Path | None, row: CandidateRow) -> bool:
    """Return false if the memory is gone or was promoted before."""
    principal = call.caller.principal
    space = (principal.home_space or principal.readable[0]).name
    title, memory = name_memory(row.content), str(row.memory_id)
    note = await to_thread.run_sync(add_note, vault, space, title, memory, _write(row))
    try:
        marked = await call.write_one("mark_promoted", bool, memory=row.memory_id, path=note.path)
    except TextrawlError:
        await to_thread.run_sync(remove_note, vault, note)
        raise
    if not marked:
        await to_thread.run_sync(remove_note, vault, note)
    return marked


def name_memory(content: str) -> str:
    """Return the first line of a text, shortened: the title of its note."""
    line = content.strip().split("\n", 1)[0]
    short = line[:_LONGEST_TITLE].rsplit(" ", 1)[0]
    return line if len(line) <= _LONGEST_TITLE else f"{short}…"


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
