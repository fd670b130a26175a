"""What `textrawl stats` shows in a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from textrawl.rows import StatisticsRow

_BARS = "▁▂▃▄▅▆▇█"
_LONGEST = 72  # characters of a question or a fact


@dataclass(frozen=True)
class ReportRow:
    """What memory_report tells of some days; times are ISO 8601, costs are tokens."""

    growth: list[dict[str, Any]]
    sources: dict[str, int]
    authors: list[dict[str, Any]]
    recalls: dict[str, Any]
    recall_days: list[dict[str, Any]]
    slowest: list[dict[str, Any]]
    stale: dict[str, Any]
    unanswered: dict[str, Any]


@dataclass(frozen=True)
class Report:
    """What the memory holds now, and what was told of the last `days`."""

    holdings: StatisticsRow
    told: ReportRow
    days: int


def draw_report(console: Console, report: Report) -> None:
    """The whole report."""
    told = report.told
    console.print(_draw_holdings(report.holdings))
    console.print(f"\n[bold]Growth[/], facts a week, the last {report.days} days")
    counts = [int(week["facts"]) for week in told.growth]
    console.print(Text(f"{draw_sparkline(counts)}  most {max(counts, default=0):,}"))
    console.print(_draw_shares(told))
    console.print(f"\n[bold]Recalls[/], the last {report.days} days")
    console.print(_draw_recalls(told.recalls))
    _draw_items(console, "Slowest", [_tell_slow(item) for item in told.slowest])
    _draw_items(
        console, f"Unanswered: {told.unanswered['questions']:,} questions",
        [_tell_unanswered(item) for item in told.unanswered["most"]],
    )  # fmt: skip
    reasons = write_counts(told.stale["reasons"])
    title = f"Stale: {told.stale['facts']:,} facts{f' ({reasons})' if reasons else ''}"
    _draw_items(console, title, [_tell_stale(item) for item in told.stale["oldest"]])


def draw_sparkline(counts: Sequence[int]) -> str:
    """A bar a number, as high as it is beside the largest."""
    most = max(counts, default=0) or 1
    return "".join(_BARS[round((len(_BARS) - 1) * count / most)] for count in counts)


def write_counts(counts: Mapping[str, int]) -> str:
    """Counts with their names, the largest first."""
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {name}" for name, count in most)


def write_saved(recalls: Mapping[str, Any]) -> str | None:
    """What compact text saved beside verbose text; None where none was counted, or nothing saved.

    Extrapolated from the answers whose verbose text was counted.
    """
    spent, verbose = recalls["tokens"], recalls["verbose_tokens"]
    if not verbose or verbose <= spent:
        return None
    return f"about {verbose - spent:,} saved, {1 - spent / verbose:.0%} of verbose text"


def _draw_holdings(row: StatisticsRow) -> Table:
    table = _make_grid()
    ended = row.facts - row.valid_facts
    table.add_row("entities", f"{row.entities:,}", write_counts(row.types))
    table.add_row(
        "facts", f"{row.valid_facts:,}", f"and {ended:,} no longer valid" if ended else ""
    )
    table.add_row("relations", f"{row.relations:,}")
    table.add_row("events", f"{row.events:,}")
    table.add_row("size", decimal(row.bytes), "the whole database")
    for model in row.models:
        wait = f"{model['pending']:,} facts wait for a vector" if model["pending"] else "complete"
        table.add_row("vectors", f"{model['dimensions']}", f"{model['name']}, {wait}")
    return table


def _draw_shares(told: ReportRow) -> Text:
    authors = write_counts({item["author"]: item["facts"] for item in told.authors})
    return Text(f"by {authors or 'nobody'}\nfrom {write_counts(told.sources) or 'nothing'}", "dim")


def _draw_recalls(recalls: Mapping[str, Any]) -> Table | str:
    if not recalls["calls"]:
        return "none: there were none, or RECORD_RECALLS is off"
    table = _make_grid()
    cut = f"{recalls['cut']:,} cut to their budget" if recalls["cut"] else ""
    table.add_row("answers", f"{recalls['calls']:,}", cut)
    table.add_row("tokens", f"{recalls['tokens']:,}", write_saved(recalls) or "")
    if recalls["p50_ms"] is not None:
        table.add_row("half within", f"{recalls['p50_ms']} ms", f"95 % {recalls['p95_ms']} ms")
    return table


def _draw_items(console: Console, title: str, items: Sequence[tuple[str, str]]) -> None:
    console.print(Text(f"\n{title}", "bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis")
    for left, right in items:
        table.add_row(left, Text(right))
    console.print(table if items else "none")


def _tell_slow(item: Mapping[str, Any]) -> tuple[str, str]:
    return f"{item['milliseconds']} ms", f"{item['mode']} {item['asked'] or ''}"[:_LONGEST]


def _tell_unanswered(item: Mapping[str, Any]) -> tuple[str, str]:
    return f"{item['times']:,} times", str(item["asked"])[:_LONGEST]


def _tell_stale(item: Mapping[str, Any]) -> tuple[str, str]:
    return str(item["at"])[:10], f"{item['entity']}: {item['fact']}"[:_LONGEST]


def _make_grid() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(style="dim")
    return table
