"""The operations that find and split large entities, and find similar facts and unused entities."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from textrawl import errors
from textrawl.errors import TextrawlError
from textrawl.memory.store import Store, StoreCall
from textrawl.postgres.sqlstates import SAME_ENTITY, DataRefused
from textrawl.scheduling import run_apart
from textrawl.wire.columns import ROUNDED
from textrawl.wire.replies import SnakePart

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
class SizeRow:
    """An entity with the number of its facts, and the number above which it needs a split.

    `observations` holds its newest facts. It can be empty, because one call returns a limited
    number of facts for all entities.
    """

    number: int
    name: str
    entity_type: str
    facts: int
    threshold: int
    observations: list[str]


class DonePart(SnakePart):
    """The new entities and the counts of a split."""

    new_entities: Annotated[list[str], Field(validation_alias="names")]
    moved_observations: Annotated[int, Field(validation_alias="moved")]
    relations_created: Annotated[int, Field(validation_alias="related")]
    original_observations_remaining: Annotated[int, Field(validation_alias="remaining")]


class PairPart(SnakePart):
    """Two observations of an entity that possibly state the same thing."""

    entity_name: Annotated[str, Field(exclude=True)]
    obs_text_a: Annotated[str, Field(validation_alias="one")]
    obs_text_b: Annotated[str, Field(validation_alias="other")]
    similarity_score: Annotated[float, ROUNDED, Field(validation_alias="similarity")]
    match_type: str


@dataclass(frozen=True)
class ComparedRow:
    """The number of compared facts, and the number of all facts that could be compared.

    A fact can be compared if its entity has other facts.
    """

    compared: int
    facts: int


class StalePart(SnakePart):
    """An entity that was not used lately.

    `last_accessed_days_ago` is None if the entity was never used.
    """

    entity_name: Annotated[str, Field(validation_alias="name")]
    entity_type: str
    last_accessed_days_ago: Annotated[
        int | None,
        BeforeValidator(lambda days: days if days is None else int(days)),
        Field(validation_alias="days"),
    ]
    access_count: Annotated[int, Field(validation_alias="uses")]
    observation_count: Annotated[int, Field(validation_alias="facts")]


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


async def measure_node(call: StoreCall, entity: str, most_texts: int = _MOST_TEXTS) -> SizeRow:
    """Return an entity with up to `most_texts` of its newest facts. Raises EntityNotFound."""
    rows = await call.read("node_sizes", SizeRow, entity=entity, most_texts=most_texts)
    if not rows:
        raise errors.EntityNotFound(entity)
    return rows[0]


async def find_large(call: StoreCall) -> list[tuple[SizeRow, Analysis]]:
    """Return the entities with too many facts. Raises TopicsNotInstalled."""
    rows = await call.read("node_sizes", SizeRow, larger=True, most_texts=_MOST_TEXTS)
    return list(zip(rows, await analyse_nodes(call, rows), strict=True))


async def split_node(
    call: StoreCall, entity: str, splits: Sequence[Mapping[str, object]]
) -> DonePart:
    """Move facts of an entity to new entities, all or nothing.

    A part has a name, a type and observations. If its type is None, it gets that of the entity.
    Raises EntityNotFound, or ArgumentInvalid if a part has the name of the entity.
    """
    writing = call.caller.writing
    try:
        [row] = await call.store.database.call(
            "split_node", DonePart, entity=entity, splits=json.dumps(splits), **writing
        )
    except DataRefused as refusal:
        if refusal.code == SAME_ENTITY:
            raise errors.ArgumentInvalid(
                "approved_splits: give each part another name than the entity has"
            ) from refusal
        raise errors.EntityNotFound(refusal.detail or entity) from refusal
    return row


async def try_to_find_model(store: Store) -> tuple[int | None, str | None]:
    """Return the active model or None, and the reason why an existing model is not used."""
    if not store.models.has_vectors:
        return None, None
    try:
        return (await store.models.find_active()).model_id, None
    except errors.EmbeddingUnavailable as error:
        return None, error.title


async def analyse_nodes(call: StoreCall, rows: Sequence[SizeRow]) -> list[Analysis]:
    """Return the possible splits of entities. Raises TopicsNotInstalled."""
    texts = [text for row in rows if row.facts > row.threshold for text in row.observations]
    words = await run_apart(find_words, texts)
    stop_words = await call.store.database.value("stop_words", list[str], words=words)
    return await run_apart(_analyse, rows, set(stop_words))


def _analyse(rows: Sequence[SizeRow], stop_words: set[str]) -> list[Analysis]:
    return [analyse(row.observations, row.threshold, stop_words, row.facts) for row in rows]
