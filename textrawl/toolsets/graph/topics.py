"""What the observations of an entity are about: TF-IDF, and how large an entity should be.

A topic is named by its heaviest word; weights are tf * ln(N / df), summed over all observations.
Needs scikit-learn: textrawl[topics].
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from textrawl.errors import TextrawlError

_WORD = re.compile(r"[^\W\d_]{4,}")
_ANCHORS = 10
_HALVED = 4  # observations from which on one topic is none
_MOST_BONUS = 0.5
_NOTHING = 1e-9  # what is left of a weight of 0


class TopicsNotInstalled(TextrawlError):
    """Scikit-learn is not there."""

    title = "Topic grouping not installed"
    fix = "Install textrawl[topics], or group the observations yourself: open_nodes shows them"


@dataclass(frozen=True)
class Analysis:
    """How an entity might be split; without topics it needs not be."""

    threshold: int
    count: int
    topics: dict[str, list[str]]

    @property
    def score(self) -> float:
        """More than 1: too large; up to half of it more for having many topics."""
        if not self.topics:
            return self.count / self.threshold
        return self.count / self.threshold + min(len(self.topics) / self.count, _MOST_BONUS)

    @property
    def needs_split(self) -> bool:
        """Whether there is more than one entity should hold."""
        return self.count > self.threshold and self.score > 1


def find_words(observations: Sequence[str]) -> list[str]:
    """Words that may name a topic: of four letters or more, in lower case, each once."""
    return sorted({word for text in observations for word in _WORD.findall(text.lower())})


def analyse(
    observations: Sequence[str],
    threshold: int,
    stop_words: Collection[str],
    count: int | None = None,
) -> Analysis:
    """How many there are, and, if that is too many, what they are about.

    `count` is given where `observations` are not all: topics are those of the observations.
    """
    count = len(observations) if count is None else count
    if count <= threshold or not observations:
        return Analysis(threshold, count, {})
    return Analysis(threshold, count, group_topics(observations, stop_words))


def group_topics(observations: Sequence[str], stop_words: Collection[str]) -> dict[str, list[str]]:
    """Observations by topic, each with the heaviest of the ten heaviest words that it has."""
    weights = weigh_words(observations, stop_words)
    # Rounded: equal weights differ in the last digits, by the order of their sums.
    anchors = sorted(weights, key=lambda word: (-round(weights[word], 6), word))[:_ANCHORS]
    topics: dict[str, list[str]] = {}
    for place, text in enumerate(observations, 1):
        words = set(_WORD.findall(text.lower()))
        name = next((word.capitalize() for word in anchors if word in words), f"tema_{place}")
        topics.setdefault(name, []).append(text)
    if len(topics) == 1 and len(observations) >= _HALVED:
        middle = len(observations) // 2
        return {"Tema_A": [*observations[:middle]], "Tema_B": [*observations[middle:]]}
    return topics


def weigh_words(observations: Sequence[str], stop_words: Collection[str]) -> dict[str, float]:
    """Weights of words that two or more observations have, and not all.

    Raises TopicsNotInstalled.
    """
    try:
        sklearn: Any = import_module("sklearn.feature_extraction.text")  # optional, slow to load
    except ImportError as error:
        raise TopicsNotInstalled from error
    known = [word for word in find_words(observations) if word not in stop_words]
    if not known:
        return {}
    counter = sklearn.CountVectorizer(
        token_pattern=_WORD.pattern, vocabulary=known, preprocessor=str.lower
    )
    counts = counter.transform(observations)
    transformer = sklearn.TfidfTransformer(norm=None, smooth_idf=False)
    frequent = [word for word, held in zip(known, counts.getnnz(axis=0), strict=True) if held > 1]
    if not frequent:
        return {}
    chosen = counts[:, [known.index(word) for word in frequent]]
    # Theirs is tf * (ln(N / df) + 1): what all have would weigh most.
    weighed = transformer.fit_transform(chosen) - chosen
    sums = weighed.sum(axis=0).tolist()[0]
    return {word: weight for word, weight in zip(frequent, sums, strict=True) if weight > _NOTHING}
