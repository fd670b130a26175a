"""The operations that find and split large entities, and find similar facts and unused entities."""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from textrawl import errors
from textrawl.access.principal import Caller
from textrawl.errors import TextrawlError
from textrawl.memory.graph_rows import (
    DonePart,
    PairPart,
    SizeRow,
)
from textrawl.memory.store import Store
from textrawl.postgres.sqlstates import SAME_ENTITY, DataRefused
from textrawl.scheduling import run_apart

_WORD = re.compile(r"[^\W\d_]{4,}")
_ANCHORS = 10
_HALVED = 4  # a single topic with at least this number of observations is divided into halves
_MOST_BONUS = 0.5
_ZERO = 1e-9  # a weight below it is 0 with a rounding error


class TopicsNotInstalled(TextrawlError):
    """Scikit-learn is not installed."""

    title = "Topic grouping not installed"
    fix = "Install textrawl[topics], or group the observations yourself: open_nodes shows them"


@dataclass(frozen=True)
class Analysis:
    """The number of an entity's observations, and its topics.

    An entity that does not need a split has no topics.
    """

    threshold: int
    count: int
    topics: dict[str, list[str]]

    @property
    def score(self) -> float:
        """The number of observations divided by the threshold, plus up to 0.5 for many topics.

        An entity with a score above 1 is too large.
        """
        if not self.topics:
            return self.count / self.threshold
        return self.count / self.threshold + min(len(self.topics) / self.count, _MOST_BONUS)

    @property
    def needs_split(self) -> bool:
        """True if the entity has more observations than its threshold."""
        return self.count > self.threshold and self.score > 1


def find_words(observations: Sequence[str]) -> list[str]:
    """Return the words that can name a topic: words of four or more letters, in lower case."""
    return sorted({word for text in observations for word in _WORD.findall(text.lower())})


def analyse(
    observations: Sequence[str],
    threshold: int,
    stop_words: Collection[str],
    count: int | None = None,
) -> Analysis:
    """Return the analysis of an entity. It has topics if there are more facts than `threshold`.

    If `observations` holds only some facts of the entity, `count` is the number of all its facts.
    """
    count = len(observations) if count is None else count
    if count <= threshold or not observations:
        return Analysis(threshold, count, {})
    return Analysis(threshold, count, group_topics(observations, stop_words))


def group_topics(observations: Sequence[str], stop_words: Collection[str]) -> dict[str, list[str]]:
    """Return the observations by topic.

    The topic of an observation is the first of the ten heaviest words that it contains.
    """
    weights = weigh_words(observations, stop_words)
    # Weights are rounded, because the order of summation changes the last digits of equal weights.
    anchors = sorted(weights, key=lambda word: (-round(weights[word], 6), word))[:_ANCHORS]
    topics: dict[str, list[str]] = {}
    for number, text in enumerate(observations, 1):
        words = set(_WORD.findall(text.lower()))
        # "Tema" is Spanish for topic. An earlier graph server used the names tema_1 and Tema_A.
        name = next((word.capitalize() for word in anchors if word in words), f"tema_{number}")
        topics.setdefault(name, []).append(text)
    if len(topics) == 1 and len(observations) >= _HALVED:
        middle = len(observations) // 2
        return {"Tema_A": [*observations[:middle]], "Tema_B": [*observations[middle:]]}
    return topics


def weigh_words(observations: Sequence[str], stop_words: Collection[str]) -> dict[str, float]:
    """Return the weights of words that are in at least two observations, but not in all.

    Raises TopicsNotInstalled.
    """
    try:
        sklearn: Any = import_module("sklearn.feature_extraction.text")  # optional, slow to load
    except ImportError as error:
        raise TopicsNotInstalled from error
    vocabulary = [word for word in find_words(observations) if word not in stop_words]
    if not vocabulary:
        return {}
    counter = sklearn.CountVectorizer(
        token_pattern=_WORD.pattern, vocabulary=vocabulary, preprocessor=str.lower
    )
    counts = counter.transform(observations)
    transformer = sklearn.TfidfTransformer(norm=None, smooth_idf=False)
    texts_with_word = zip(vocabulary, counts.getnnz(axis=0), strict=True)
    frequent = [word for word, texts in texts_with_word if texts > 1]
    if not frequent:
        return {}
    frequent_counts = counts[:, [vocabulary.index(word) for word in frequent]]
    # The transformer computes tf * (ln(N / df) + 1), which gives most weight to common words. So
    # subtract tf.
    weighed = transformer.fit_transform(frequent_counts) - frequent_counts
    sums = weighed.sum(axis=0).tolist()[0]
    return {word: weight for word, weight in zip(frequent, sums, strict=True) if weight > _ZERO}


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

    async def split(self, entity: str, splits: Sequence[Split], caller: Caller) -> DonePart:
        """Move facts of an entity to new entities, all or nothing.

        Raises EntityNotFound, or ArgumentInvalid if a part has the name of the entity.
        """
        parts = [
            {"name": part.name, "type": part.type, "observations": part.observations}
            for part in splits
        ]
        try:
            [row] = await self._call(
                "split_node", DonePart, entity=entity, splits=json.dumps(parts), **caller.writing
            )
        except DataRefused as refusal:
            if refusal.code == SAME_ENTITY:
                raise errors.ArgumentInvalid(
                    "approved_splits: give each part another name than the entity has"
                ) from refusal
            raise errors.EntityNotFound(refusal.detail or entity) from refusal
        return row

    async def find_model(self) -> int:
        """Return the active model. Raises EmbeddingNotConfigured and EmbeddingUnavailable."""
        return (await self._store.models.find_active()).model_id

    async def try_to_find_model(self) -> tuple[int | None, str | None]:
        """Return the active model or None, and the reason why an existing model is not used."""
        if not self._store.models.has_vectors:
            return None, None
        try:
            return await self.find_model(), None
        except errors.EmbeddingUnavailable as error:
            return None, error.title

    async def find_similar(
        self,
        entity: str | None,
        model: int | None,
        threshold: float,
        containment: float,
        caller: Caller,
    ) -> list[PairPart]:
        """Return pairs of facts that possibly state the same thing.

        Both facts belong to the same entity: to `entity`, or to any entity if `entity` is None.
        Without a model, only their words are compared.
        """
        return await self._call(
            "similar_observations",
            PairPart,
            entity=entity,
            model=model,
            threshold=threshold,
            containment=containment,
            **caller.reading_home,
        )

    async def _analyse(self, rows: Sequence[SizeRow]) -> list[Analysis]:
        words = await run_apart(_find_words, rows)
        stop_words = await self._store.database.value("stop_words", list[str], words=words)
        return await run_apart(_analyse, rows, set(stop_words))


def _find_words(rows: Sequence[SizeRow]) -> list[str]:
    return find_words(
        [text for row in rows if row.facts > row.threshold for text in row.observations]
    )


def _analyse(rows: Sequence[SizeRow], stop_words: set[str]) -> list[Analysis]:
    return [analyse(row.observations, row.threshold, stop_words, row.facts) for row in rows]
