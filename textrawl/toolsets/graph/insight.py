"""What the graph tools know beyond the graph: what was looked at, thought, and grew too large."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from textrawl import errors
from textrawl.access.principal import Caller
from textrawl.postgres.sqlstates import SAME_ENTITY, DataRefused
from textrawl.scheduling.workers import run_apart
from textrawl.store.rows import StatisticsRow
from textrawl.store.store import Store
from textrawl.toolsets.graph.operations import read_from
from textrawl.toolsets.graph.topics import Analysis, analyse, find_words

logger = logging.getLogger("textrawl")

_MOST_TEXTS = 2_000  # that are analysed in a call: some tenths of a second of the interpreter


@dataclass(frozen=True)
class RankedRow:
    """An entity that search_semantic found, and what its rank is made of."""

    number: int
    name: str
    entity_type: str
    observations: list[str]
    limbic_score: float
    importance: float
    temporal: float
    cooc: float
    distance: float | None
    rrf: float | None


@dataclass(frozen=True)
class EndedRow:
    """What became of a relation: ended, known (it had ended) or missing."""

    outcome: str
    from_entity: str | None
    relation: str | None
    to_entity: str | None
    inverse: int | None


@dataclass(frozen=True)
class ReflectedRow:
    """A reflection that was stored."""

    number: int
    created_at: datetime


@dataclass(frozen=True)
class ReflectionRow:
    """A reflection that was found."""

    number: int
    target_type: str
    target: int | None
    author: str
    voice: str
    content: str
    mood: str | None
    created_at: datetime
    score: float


@dataclass(frozen=True)
class DeletedReflectionRow:
    """Whether a reflection was there to be deleted."""

    number: int
    deleted: bool


@dataclass(frozen=True)
class SizeRow:
    """An entity with how many facts it has, and should have at most.

    `observations` are its newest, or none: large entities come with few texts in all.
    """

    number: int
    name: str
    entity_type: str
    facts: int
    threshold: int
    observations: list[str]


@dataclass(frozen=True)
class SplitRow:
    """What split_node did."""

    names: list[str]
    moved: int
    related: int
    remaining: int


@dataclass(frozen=True)
class PairRow:
    """Two facts of an entity that may say the same; `total` counts its facts."""

    entity_name: str
    total: int
    one: str
    other: str
    similarity: float
    match_type: str


@dataclass(frozen=True)
class ComparedRow:
    """How many facts were compared, of those that share their entity with others."""

    compared: int
    facts: int


@dataclass(frozen=True)
class StaleRow:
    """An entity that was not looked at for `days`; None: never."""

    name: str
    entity_type: str
    days: float | None
    uses: int
    facts: int


@dataclass(frozen=True)
class _Noted:
    record_use: int


@dataclass(frozen=True)
class _Stopped:
    stop_words: list[str]


@dataclass(frozen=True)
class Split:
    """A part of an entity that is to stand alone; without a type it has the entity's."""

    name: str
    type: str | None
    observations: Sequence[str]


@dataclass(frozen=True)
class Thought:
    """A reflection; `target` is the number of the entity or relation that it is about."""

    target_type: str
    content: str
    voice: str
    mood: str | None
    target: int | None


@dataclass(frozen=True)
class Filter:
    """Which reflections are searched; None: all."""

    voice: str | None
    mood: str | None
    target_type: str | None


class Insight:
    """Uses, reflections and health of one memory's graph."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def search(self, query: str, limit: int, caller: Caller) -> list[RankedRow]:
        """Entities near a query. Raises EmbeddingNotConfigured, EmbeddingUnavailable."""
        model, vector, _ = await self._store.embed_query(query or " ")
        return await self._call(
            "search_semantic", RankedRow, query=query, model=model, vector=vector, max_rows=limit,
            **read_from(caller),
        )  # fmt: skip

    async def note(self, numbers: Sequence[int], caller: Caller) -> None:
        """Notes that an answer held these entities; what cannot be noted is lost."""
        if not numbers:
            return
        try:
            await self._call("record_use", _Noted, numbers=numbers, **read_from(caller))
        except errors.TextrawlError as error:
            logger.info("What was looked at is not noted: %s", error)

    async def end(self, number: int, caller: Caller) -> EndedRow:
        """Ends a relation."""
        [row] = await self._call("end_edge", EndedRow, number=number, **caller.writing)
        return row

    async def reflect(self, thought: Thought, caller: Caller) -> ReflectedRow:
        """Stores a reflection. Raises ArgumentInvalid where nothing has the target's number."""
        model, vector, _ = await self._store.try_to_embed_query(thought.content or " ")
        try:
            [row] = await self._call(
                "add_reflection", ReflectedRow, target_type=thought.target_type,
                content=thought.content, voice=thought.voice, mood=thought.mood,
                target=thought.target, model=model, embedding=vector, **caller.writing,
            )  # fmt: skip
        except DataRefused as refusal:
            raise refusal.explain(thought.target_type) from refusal
        return row

    async def search_reflections(
        self, query: str, wanted: Filter, limit: int, caller: Caller
    ) -> list[ReflectionRow]:
        """Reflections by words, and by meaning while the provider is up."""
        model, vector, _ = await self._store.try_to_embed_query(query or " ")
        return await self._call(
            "search_reflections", ReflectionRow, query=query, model=model, vector=vector,
            voice=wanted.voice, mood=wanted.mood, target_type=wanted.target_type, max_rows=limit,
            **read_from(caller),
        )  # fmt: skip

    async def delete_reflections(
        self, numbers: Sequence[int], caller: Caller
    ) -> list[DeletedReflectionRow]:
        """Forget reflections by their numbers; a row for each."""
        return await self._call(
            "delete_reflections", DeletedReflectionRow, numbers=list(numbers), **caller.writing
        )

    async def count(self, entity: str, caller: Caller, most_texts: int = 0) -> SizeRow:
        """An entity with so many of its newest facts. Raises EntityNotFound."""
        rows = await self._call(
            "node_sizes", SizeRow, entity=entity, most_texts=most_texts, **read_from(caller)
        )
        if not rows:
            raise errors.EntityNotFound(entity)
        return rows[0]

    async def count_all(self, caller: Caller) -> StatisticsRow:
        """How much the space holds."""
        home = caller.principal.home
        [row] = await self._call(
            "memory_statistics", StatisticsRow, credential=caller.principal.credential,
            spaces=None if home is None else [home],
        )  # fmt: skip
        return row

    async def measure(self, entity: str, caller: Caller) -> tuple[SizeRow, Analysis]:
        """An entity and how it might be split. Raises EntityNotFound, TopicsNotInstalled."""
        row = await self.count(entity, caller, _MOST_TEXTS)
        [analysis] = await self._analyse([row])
        return row, analysis

    async def find_large(self, caller: Caller) -> list[tuple[SizeRow, Analysis]]:
        """Entities with more facts than they should have. Raises TopicsNotInstalled."""
        rows = await self._call(
            "node_sizes", SizeRow, larger=True, most_texts=_MOST_TEXTS, **read_from(caller)
        )
        return list(zip(rows, await self._analyse(rows), strict=True))

    async def split(self, entity: str, splits: Sequence[Split], caller: Caller) -> SplitRow:
        """Moves facts to entities of their own, all or nothing. Raises EntityNotFound."""
        given = [
            {"name": one.name, "type": one.type, "observations": one.observations} for one in splits
        ]
        try:
            [row] = await self._call(
                "split_node", SplitRow, entity=entity, splits=json.dumps(given), **caller.writing
            )
        except DataRefused as refusal:
            if refusal.code == SAME_ENTITY:
                raise errors.ArgumentInvalid(
                    "approved_splits: a part needs another name than the entity"
                ) from refusal
            raise errors.EntityNotFound(refusal.detail or entity) from refusal
        return row

    async def find_similar(
        self, entity: str | None, threshold: float, containment: float, caller: Caller
    ) -> list[PairRow]:
        """Facts of an entity, or of each, that may say the same.

        Raises EmbeddingNotConfigured for one entity, EmbeddingUnavailable.
        """
        model = None
        if entity is not None or self._store.models.has_vectors:
            model = (await self._store.models.find_active()).model_id
        return await self._call(
            "similar_observations", PairRow, entity=entity, model=model, threshold=threshold,
            containment=containment, **read_from(caller),
        )  # fmt: skip

    async def count_compared(self, caller: Caller) -> ComparedRow:
        """How many facts find_similar compares where no entity is named."""
        [row] = await self._call("compared_observations", ComparedRow, **read_from(caller))
        return row

    async def find_stale(self, days: float, caller: Caller) -> list[StaleRow]:
        """Entities that were not looked at for some days."""
        return await self._call("stale_nodes", StaleRow, stale_days=days, **read_from(caller))

    async def _analyse(self, rows: Sequence[SizeRow]) -> list[Analysis]:
        words = await run_apart(_find_words, rows)
        [stopped] = await self._call("stop_words", _Stopped, words=words)
        return await run_apart(_analyse, rows, set(stopped.stop_words))


def _find_words(rows: Sequence[SizeRow]) -> list[str]:
    return find_words(
        [text for row in rows if row.facts > row.threshold for text in row.observations]
    )


def _analyse(rows: Sequence[SizeRow], stop_words: set[str]) -> list[Analysis]:
    return [analyse(row.observations, row.threshold, stop_words, row.facts) for row in rows]
