"""Comparison of names of graphs: equal names, and names that are similar."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

_CONTAINS, _CONTAINS_LITTLE = 0.9, 0.7
_SHORT = 4  # characters: shorter names are parts of many others
_LEAST = 0.6
_MOST = 3
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class Candidate:
    """A name that resembles another, with the reason. The score is from 0 to 1."""

    name: str
    score: float
    reason: str


def fold(name: str) -> str:
    """Return the letters and digits of a name in lower case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFC", name).lower()))


def find_equal(given: str, names: Iterable[str]) -> list[str]:
    """Return the names that have the letters and digits of `given`, or only the very same name."""
    folded = fold(given)
    equal = [name for name in names if fold(name) == folded]
    return [given] if given in equal else equal


def rank(given: str, names: Iterable[str]) -> Sequence[Candidate]:
    """Return the at most three names that resemble `given` most, the best first."""
    candidates = [_compare(given, name) for name in names] if fold(given) else []
    close = [candidate for candidate in candidates if candidate.score >= _LEAST]
    return sorted(close, key=lambda candidate: (-candidate.score, candidate.name))[:_MOST]


def _compare(given: str, name: str) -> Candidate:
    mine, other = fold(given), fold(name)
    scores = (
        (_compare_parts(mine, other), "contains your text"),
        (_compare_words(given, name), "same words"),
        (Levenshtein.normalized_similarity(mine, other), "close spelling"),
    )
    score, reason = max(scores, key=lambda pair: pair[0])
    return Candidate(name, score, reason)


def _compare_parts(mine: str, other: str) -> float:
    if mine in other:
        return _CONTAINS if len(mine) >= _SHORT else _CONTAINS_LITTLE
    return _CONTAINS if other in mine else 0


def _compare_words(given: str, name: str) -> float:
    """Return the share of words that both names have among the words that one of them has."""
    mine, other = _list_words(given), _list_words(name)
    return len(mine & other) / max(len(mine | other), 1)


def _list_words(name: str) -> set[str]:
    plain = _CAMEL.sub(" ", unicodedata.normalize("NFC", name))
    return {word.lower() for word in _WORD.findall(plain)}
