"""The search of several cells, with the scores of a search in one.

A word weighs more if few facts have it, in all searched spaces. So the cells count first, and each
of them searches with the sums.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textrawl.distribution.merging import Values, sort

COUNTED = (
    "query",
    "credential",
    "entity_types",
    "as_of",
    "since",
    "until",
    "sources",
    "graphs",
)
"""The arguments that count_terms() shares with search_memory()."""
_BEST = ("-score", "-created_at", "observation_id")
_MOST_COUNTED = 4000  # facts that are counted anew if the statistics are old


@dataclass(frozen=True)
class Counts:
    """The row of count_terms() in a cell. Its fields name the columns."""

    languages_found: list[str]
    facts: int
    counted: int | None
    words: Mapping[str, int]
    counted_words: Mapping[str, int] | None
    named: bool
    bar: float
    kept: int


def add_counts(counts: Sequence[Counts], languages: Sequence[str]) -> str:
    """Return the sums for search_memory(), from the statistics or from the counts of now."""
    facts = sum(cell.facts for cell in counts)
    counted = sum(cell.counted or 0 for cell in counts)
    every = all(cell.counted_words is not None for cell in counts)
    stale = every and counted <= _MOST_COUNTED and abs(counted - facts) > 0.2 * counted
    words: dict[str, int] = {}
    for cell in counts:
        known = cell.counted_words if stale and cell.counted_words is not None else cell.words
        for word, number in known.items():
            words[word] = words.get(word, 0) + number
    totals = {
        "facts": counted if stale else facts or None,
        "words": words,
        "languages": list(languages),
        "named": any(cell.named for cell in counts),
    }
    return json.dumps(totals)


def keep_best(rows: Sequence[Values], counts: Counts, arguments: Mapping[str, Any]) -> list[Values]:
    """Return the rows that one search of all cells has: those of a high score, and the best."""
    best = sort(rows, *_BEST)
    if arguments.get("least_score") is not None:
        return best
    return [
        row for place, row in enumerate(best) if row["score"] >= counts.bar or place < counts.kept
    ]


def explain_best(
    rows: Sequence[Values], counts: Counts, arguments: Mapping[str, Any]
) -> list[Values]:
    """Return the explained rows of all cells with their places and outcomes among all."""
    most, more = (arguments.get(name, 10) for name in ("max_rows", "more"))
    least, kept = arguments.get("least_score"), 0
    if least is None:
        least, kept = counts.bar, counts.kept
    valid = sort((row for row in rows if row["place"] is not None), *_BEST)
    ended = sort((row for row in rows if row["place"] is None), "-created_at", "observation_id")
    explained: list[Values] = []
    for place, row in enumerate(valid[: most + more], start=1):
        outcome = "returned" if row["score"] >= least or place <= kept else "below the least score"
        outcome = "over the limit" if place > most else outcome
        explained.append({**row, "place": place, "outcome": outcome})
    return [*explained, *ended[:more]]


CHOICES = {"explain_search": explain_best, "search_memory": keep_best}
"""The functions whose words are counted in all cells first, and what is kept of their rows."""
