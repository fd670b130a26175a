"""The operations of the `decay` toolset: they embed texts and call SQL functions.

They read and write only the caller's home space.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Field

from textrawl.access.principal import Caller
from textrawl.memory.backlog import count_backlog, fill_batch
from textrawl.memory.store import Store
from textrawl.models.embeddings import compose_document
from textrawl.values.text import split_text
from textrawl.wire.columns import ROUNDED, Seconds, UuidText
from textrawl.wire.replies import OMIT_EMPTY, Key, SnakePart

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


def _round_priority(priority: float) -> float | None:
    return round(priority, 4) or None


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
    review_priority: Annotated[float | None, Key("due"), BeforeValidator(_round_priority)]


def _name_status(found: object) -> object:
    return REINFORCED if found else "not_found"


class ObservedPart(SnakePart):
    """What reinforce_memories changed of a memory.

    All but the id and the status is None for an id without a memory.
    """

    id: Annotated[UuidText, Key("id"), Field(validation_alias="memory_id")]
    status: Annotated[str, BeforeValidator(_name_status), Field(validation_alias="found")]
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


_BATCH = 500  # memories that gc ends in one transaction
NO_ENTITY = "Memories"  # the entity of memories that name no entity

CONTENT_LENGTH = 50_000  # characters of a memory


class DecayOperations:
    """The memories of one space as they fade."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def save(
        self, content: str, entities: Sequence[str], caller: Caller, **values: object
    ) -> SavedRow:
        """Save a memory, which belongs to the first of its entities.

        If this entity has the same text, make that memory fresh.
        """
        entity = entities[0] if entities else NO_ENTITY
        return await self._store.call_one(
            "save_memory",
            SavedRow,
            entities=list(entities),
            **values,
            **await embed_text(self._store, entity, content),
            **caller.writing,
        )

    async def search(
        self, query: str | None, caller: Caller, *, semantic: bool, **conditions: object
    ) -> list[FoundPart]:
        """Return memories, best first, with those that are due for review between them.

        If `semantic`, the order depends on vectors and scores alone. Such a search raises
        EmbeddingNotConfigured or EmbeddingUnavailable.
        """

        async def search() -> list[FoundPart]:
            model = vector = None
            if query:
                embed = self._store.embed_query if semantic else self._store.try_to_embed_query
                model, vector, _ = await embed(query)
            return await self._call(
                "search_memories",
                FoundPart,
                query=query,
                semantic=semantic and query is not None,
                model=model,
                vector=vector,
                **conditions,
                **caller.reading_home,
            )

        return await self._store.search(search)

    async def forget_faded(
        self, rows: Sequence[FadedRow], caller: Caller, *, archive: bool
    ) -> set[UUID]:
        """End faded memories in batches, so that no transaction is long. Return their ids."""
        ended = set[UUID]()
        for start in range(0, len(rows), _BATCH):
            batch = [row.memory_id for row in rows[start : start + _BATCH]]
            ended.update(
                await self._store.database.call(
                    "forget_faded",
                    UUID,
                    memories=batch,
                    archive=archive,
                    **caller.writing,
                )
            )
        return ended

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
