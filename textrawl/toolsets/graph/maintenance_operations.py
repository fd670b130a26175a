"""The operations that find and split large entities, and find similar facts and unused entities."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from textrawl import errors
from textrawl.access.principal import Caller
from textrawl.postgres.sqlstates import SAME_ENTITY, DataRefused
from textrawl.scheduling.workers import run_apart
from textrawl.store.rows import StatisticsRow
from textrawl.store.store import Store
from textrawl.toolsets.graph.rows import (
    ComparedRow,
    PairRow,
    SizeRow,
    SplitRow,
    StaleRow,
    StopWordsRow,
)
from textrawl.toolsets.graph.topics import Analysis, analyse, find_words

_MOST_TEXTS = 2_000  # texts in one call; their analysis takes some tenths of a second


@dataclass(frozen=True)
class Split:
    """A part of an entity that becomes a new entity.

    If `type` is None, the new entity gets the type of the old entity.
    """

    name: str
    type: str | None
    observations: Sequence[str]


class MaintenanceOperations:
    """The large entities, similar facts and unused entities of one memory."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def count(self, entity: str, caller: Caller, most_texts: int = 0) -> SizeRow:
        """Return an entity with up to `most_texts` of its newest facts. Raises EntityNotFound."""
        rows = await self._call(
            "node_sizes", SizeRow, entity=entity, most_texts=most_texts, **caller.reading_home
        )
        if not rows:
            raise errors.EntityNotFound(entity)
        return rows[0]

    async def count_all(self, caller: Caller) -> StatisticsRow:
        """Return the counts of the caller's home space."""
        home = caller.principal.home
        [row] = await self._call(
            "memory_statistics",
            StatisticsRow,
            credential=caller.principal.credential,
            spaces=None if home is None else [home],
        )
        return row

    async def measure(self, entity: str, caller: Caller) -> tuple[SizeRow, Analysis]:
        """Return an entity and its possible split. Raises EntityNotFound, TopicsNotInstalled."""
        row = await self.count(entity, caller, _MOST_TEXTS)
        [analysis] = await self._analyse([row])
        return row, analysis

    async def find_large(self, caller: Caller) -> list[tuple[SizeRow, Analysis]]:
        """Return the entities with too many facts. Raises TopicsNotInstalled."""
        rows = await self._call(
            "node_sizes", SizeRow, larger=True, most_texts=_MOST_TEXTS, **caller.reading_home
        )
        return list(zip(rows, await self._analyse(rows), strict=True))

    async def split(self, entity: str, splits: Sequence[Split], caller: Caller) -> SplitRow:
        """Move facts of an entity to new entities, all or nothing.

        Raises EntityNotFound, or ArgumentInvalid if a part has the name of the entity.
        """
        parts = [
            {"name": part.name, "type": part.type, "observations": part.observations}
            for part in splits
        ]
        try:
            [row] = await self._call(
                "split_node", SplitRow, entity=entity, splits=json.dumps(parts), **caller.writing
            )
        except DataRefused as refusal:
            if refusal.code == SAME_ENTITY:
                raise errors.ArgumentInvalid(
                    "approved_splits: give each part another name than the entity has"
                ) from refusal
            raise errors.EntityNotFound(refusal.detail or entity) from refusal
        return row

    async def find_similar(
        self, entity: str | None, threshold: float, containment: float, caller: Caller
    ) -> list[PairRow]:
        """Return pairs of facts that possibly state the same thing.

        Both facts belong to the same entity: to `entity`, or to any entity if `entity` is None.
        Raises EmbeddingUnavailable, and EmbeddingNotConfigured if `entity` is given.
        """
        model = None
        if entity is not None or self._store.models.has_vectors:
            model = (await self._store.models.find_active()).model_id
        return await self._call(
            "similar_observations",
            PairRow,
            entity=entity,
            model=model,
            threshold=threshold,
            containment=containment,
            **caller.reading_home,
        )

    async def count_compared(self, caller: Caller) -> ComparedRow:
        """Return the number of facts that `find_similar` compares if `entity` is None."""
        [row] = await self._call("compared_observations", ComparedRow, **caller.reading_home)
        return row

    async def find_stale(self, days: float, caller: Caller) -> list[StaleRow]:
        """Return the entities that were not used in the last `days` days."""
        return await self._call("stale_nodes", StaleRow, stale_days=days, **caller.reading_home)

    async def _analyse(self, rows: Sequence[SizeRow]) -> list[Analysis]:
        words = await run_apart(_find_words, rows)
        [row] = await self._call("stop_words", StopWordsRow, words=words)
        return await run_apart(_analyse, rows, set(row.stop_words))


def _find_words(rows: Sequence[SizeRow]) -> list[str]:
    return find_words(
        [text for row in rows if row.facts > row.threshold for text in row.observations]
    )


def _analyse(rows: Sequence[SizeRow], stop_words: set[str]) -> list[Analysis]:
    return [analyse(row.observations, row.threshold, stop_words, row.facts) for row in rows]
