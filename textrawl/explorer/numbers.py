"""The numbers of a memory, as the dashboard and `textrawl stats --html` show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textrawl.explorer.rows import PairRow
from textrawl.store.report import ReportRow
from textrawl.store.rows import StatisticsRow

_HEIGHT = 100


@dataclass(frozen=True)
class Numbers:
    """The contents of a memory now, what happened in the last days, and facts to compare."""

    holdings: StatisticsRow
    report: ReportRow
    pairs: Sequence[PairRow] = ()


@dataclass(frozen=True)
class Bar:
    """A bar of a chart. `height` is in hundredths of the highest bar."""

    label: str
    value: float
    height: float


def describe_numbers(numbers: Numbers) -> Mapping[str, Any]:
    """Return the values that the templates in pages/numbers.html need."""
    holdings, report = numbers.holdings, numbers.report
    types = [{"type": name, "entities": number} for name, number in holdings.types.items()]
    sources = [{"source": name, "facts": number} for name, number in report.sources.items()]
    return {
        "holdings": holdings,
        "report": report,
        "types": _draw(types, "type", "entities"),
        "sources": _draw(sources, "source", "facts"),
        "growth": _draw(report.growth, "week", "facts"),
        "authors": _draw(report.authors, "author", "facts"),
        "tokens": _draw(report.recall_days, "day", "tokens"),
        "times": _draw(report.recall_days, "day", "p50_ms"),
        "saved": _count_saved(report.recalls),
        "duplicates": count_pairs(numbers.pairs, "duplicate"),
        "conflicts": count_pairs(numbers.pairs, "conflict"),
    }


def count_pairs(pairs: Sequence[PairRow], kind: str) -> int:
    """Return the number of all pairs of a kind, also of those that are not listed."""
    return next((pair.total for pair in pairs if pair.kind == kind), 0)


def _draw(rows: Sequence[dict[str, Any]], label: str, value: str) -> list[Bar]:
    values = [row[value] or 0 for row in rows]  # a day without recalls has no median time
    most = max(map(float, values), default=0) or 1
    return [
        Bar(str(row[label]), number, _HEIGHT * float(number) / most)
        for row, number in zip(rows, values, strict=True)
    ]


def _count_saved(recalls: Mapping[str, Any]) -> int:
    """Return the tokens that the format saved compared with verbose text, or 0."""
    return max(int(recalls["verbose_tokens"] or 0) - int(recalls["tokens"]), 0)
