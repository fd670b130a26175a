"""The operations of the `decay` toolset: they embed texts and call SQL functions.

They read and write only the caller's home space.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from textrawl.access.principal import Caller
from textrawl.memory.backlog import count_backlog, fill_batch
from textrawl.memory.store import Store
from textrawl.models.embeddings import compose_document
from textrawl.postgres.sqlstates import DataRefused
from textrawl.values.text import split_text


@dataclass(frozen=True)
class SavedRow:
    """A memory that save_memory stored, or that the entity had already (`duplicate`)."""

    memory_id: UUID
    duplicate: bool
    embedded: bool


@dataclass(frozen=True)
class FoundRow:
    """A memory that search_memories found. `for_review` is true if it fills a slot for review."""

    memory_id: UUID
    entity_name: str
    content: str
    tags: list[str]
    status: str
    score: float
    similarity: float | None
    strength: float
    use_count: int
    last_used: datetime
    created_at: datetime
    review_priority: float
    for_review: bool


@dataclass(frozen=True)
class UsedRow:
    """A memory whose use reinforce_memories recorded, or an id without a memory (not `found`)."""

    memory_id: UUID
    found: bool
    cross_domain: bool | None
    old_score: float | None
    new_score: float | None
    use_count: int | None
    review_count: int | None
    strength: float | None


@dataclass(frozen=True)
class FadedRow:
    """A memory that gc would take."""

    memory_id: UUID
    score: float


@dataclass(frozen=True)
class EndedRow:
    """A memory that gc ended."""

    memory_id: UUID


@dataclass(frozen=True)
class LinkedRow:
    """A link that link_memories stored. `created` is false if the link existed."""

    link_id: UUID
    created: bool


@dataclass(frozen=True)
class LinkRow:
    """A link between two memories."""

    link_id: UUID
    from_id: UUID
    to_id: UUID
    relation_type: str
    strength: float
    created_at: datetime


@dataclass(frozen=True)
class MemoryRow:
    """A memory with everything that the decay tools know of it.

    `total`, `mean_score` and `mean_use_count` are of all memories that the call asked for.
    """

    memory_id: UUID
    entity_name: str
    content: str
    tags: list[str]
    entities: list[str]
    source: str | None
    context: str | None
    extra: dict[str, Any]
    strength: float
    use_count: int
    created_at: datetime
    last_used: datetime
    status: str
    promoted_at: datetime | None
    promoted_to: str | None
    review_count: int
    cross_domain_count: int
    score: float
    review_priority: float
    total: int
    mean_score: float
    mean_use_count: float


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


@dataclass(frozen=True)
class MarkedRow:
    """True if mark_promoted changed the memory."""

    marked: bool


_BATCH = 500  # memories that gc ends in one transaction
NO_ENTITY = "Memories"  # the entity of memories that name no entity

CONTENT_LENGTH = 50_000  # characters of a memory


@dataclass(frozen=True)
class Memory:
    """A memory to save. It belongs to the first of its entities."""

    content: str
    tags: Sequence[str] = ()
    entities: Sequence[str] = ()
    source: str | None = None
    context: str | None = None
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    strength: float = 1.0

    @property
    def entity(self) -> str:
        """The name of the entity that the memory belongs to."""
        return self.entities[0] if self.entities else NO_ENTITY


@dataclass(frozen=True)
class Search:
    """A search of memories. With `semantic`, the order depends on vectors and scores alone."""

    query: str | None = None
    tags: Sequence[str] | None = None
    limit: int = 10
    window_days: int | None = None
    min_score: float | None = None
    statuses: Sequence[str] = ("active", "promoted")
    semantic: bool = False
    review: bool = True


@dataclass(frozen=True)
class Use:
    """The use of some memories. With `review`, they were used in an answer."""

    memories: Sequence[str]
    context_tags: Sequence[str] = ()
    review: bool = False
    boost: float = 0.0


@dataclass(frozen=True)
class Link:
    """A link to store between two memories."""

    source: str
    target: str
    kind: str
    strength: float = 1.0
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


class DecayOperations:
    """The memories of one space as they fade."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def save(self, memory: Memory, caller: Caller) -> SavedRow:
        """Save a memory. If its entity has the same text, make that memory fresh."""
        [row] = await self._call(
            "save_memory",
            SavedRow,
            tags=list(memory.tags),
            entities=list(memory.entities),
            source=memory.source,
            context=memory.context,
            extra=json.dumps(memory.extra),
            strength=memory.strength,
            **await embed_text(self._store, memory.entity, memory.content),
            **caller.writing,
        )
        return row

    async def search(self, search: Search, caller: Caller) -> list[FoundRow]:
        """Return memories, best first, with those that are due for review between them.

        A semantic search raises EmbeddingNotConfigured or EmbeddingUnavailable.
        """
        return await self._store.search(lambda: self._search(search, caller))

    async def _search(self, search: Search, caller: Caller) -> list[FoundRow]:
        model = vector = None
        if search.query:
            embed = self._store.embed_query if search.semantic else self._store.try_to_embed_query
            model, vector, _ = await embed(search.query)
        return await self._call(
            "search_memories",
            FoundRow,
            query=search.query or None,
            any_tags=list(search.tags) if search.tags else None,
            max_rows=search.limit,
            window_days=search.window_days,
            min_score=search.min_score,
            statuses=list(search.statuses),
            semantic=search.semantic and bool(search.query),
            review=search.review,
            model=model,
            vector=vector,
            **caller.reading_home,
        )

    async def reinforce(self, use: Use, caller: Caller) -> list[UsedRow]:
        """Record uses. Return no rows for a review in a space without automatic reinforcement."""
        return await self._call(
            "reinforce_memories",
            UsedRow,
            memories=list(use.memories),
            context_tags=list(use.context_tags),
            review=use.review,
            boost=use.boost,
            **caller.writing,
        )

    async def find_faded(self, limit: int | None, caller: Caller) -> list[FadedRow]:
        """Return the memories that gc would take, lowest score first."""
        return await self._call("fading_memories", FadedRow, max_rows=limit, **caller.reading_home)

    async def forget_faded(
        self, rows: Sequence[FadedRow], caller: Caller, *, archive: bool
    ) -> set[UUID]:
        """End faded memories in batches, so that no transaction is long. Return their ids."""
        ended = set[UUID]()
        for start in range(0, len(rows), _BATCH):
            batch = await self._call(
                "forget_faded",
                EndedRow,
                memories=[row.memory_id for row in rows[start : start + _BATCH]],
                archive=archive,
                **caller.writing,
            )
            ended |= {row.memory_id for row in batch}
        return ended

    async def link(self, link: Link, caller: Caller) -> LinkedRow:
        """Link two memories. Raises ArgumentInvalid if one of them does not exist."""
        try:
            [row] = await self._call(
                "link_memories",
                LinkedRow,
                from_memory=link.source,
                to_memory=link.target,
                relation_type=link.kind,
                strength=link.strength,
                metadata=json.dumps(link.metadata),
                **caller.writing,
            )
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        return row

    async def list_links(self, memories: Sequence[UUID], caller: Caller) -> list[LinkRow]:
        """Return the links of memories, oldest first."""
        return await self._call(
            "list_links", LinkRow, memories=list(memories), **caller.reading_home
        )

    async def read_page(
        self, statuses: Sequence[str], limit: int | None, skip: int, caller: Caller
    ) -> list[MemoryRow]:
        """Return memories, most recently used first."""
        return await self._call(
            "list_memories",
            MemoryRow,
            statuses=list(statuses),
            max_rows=limit,
            skip=skip,
            **caller.reading_home,
        )

    async def open(self, memories: Sequence[str], caller: Caller) -> list[MemoryRow]:
        """Return the memories with these ids that are not removed. Unknown ids are skipped."""
        return await self._call(
            "list_memories", MemoryRow, memories=list(memories), **caller.reading_home
        )

    async def find_candidates(self, memory: str | None, caller: Caller) -> list[CandidateRow]:
        """Return the memories that can be promoted, or one memory with the reasons for it."""
        return await self._call(
            "promotion_candidates", CandidateRow, memory=memory, **caller.reading_home
        )

    async def mark_promoted(self, memory: UUID, path: str, caller: Caller) -> bool:
        """Record that a memory became a note. Return False if it is gone or was promoted before."""
        [row] = await self._call(
            "mark_promoted", MarkedRow, memory=memory, path=path, **caller.writing
        )
        return row.marked

    async def count_without_vector(self) -> int:
        """Return the number of facts that wait for a vector. Raises EmbeddingNotConfigured."""
        model = await self._store.models.find_active()
        return await count_backlog(self._store.database, model)

    async def fill_vectors(self, most: int) -> int:
        """Make up to about `most` missing vectors now, and return their number.

        Raises EmbeddingNotConfigured, EmbeddingUnavailable.
        """
        model, filled = await self._store.models.find_active(), 0
        while filled < most and (count := await fill_batch(self._store.database, model)):
            filled += count
        return filled


async def embed_text(store: Store, entity: str, text: str) -> dict[str, object]:
    """Return the arguments of a SQL function that stores the text of a memory, with its vectors."""
    parts = split_text(text)
    model, vectors = await store.embed_documents([compose_document(entity, part) for part in parts])
    content = json.dumps(parts if len(parts) > 1 else parts[0])
    return {"content": content, "entity": entity, "model": model, "embeddings": vectors}
