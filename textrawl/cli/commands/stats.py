"""`textrawl stats`: contents, growth and costs of a memory."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from textrawl.cli.console import (
    count,
    open_console,
    write_cell,
    write_json,
    write_message,
    write_row,
)
from textrawl.cli.inputs import AsJson, SpaceName, option
from textrawl.cli.questions import ask
from textrawl.errors import StartRefused
from textrawl.memory.command_results import Report
from textrawl.memory.fact_rows import ReportRow

_BARS = "▁▂▃▄▅▆▇█"
_LONGEST_TEXT = 72  # characters of a question or a fact
_ENOUGH = 100  # facts whose languages say which model suits the memory


Cells = Sequence[str]

_NO_RECALLS = "none, or TEXTRAWL_RECORD_RECALLS is off; searches of commands are not recorded"


def draw_report(console: Console, report: Report) -> None:
    """Draw the whole report. Each figure has its unit and a short explanation."""
    recent, days = report.recent, report.days
    console.print("[bold]The memory now[/]")
    console.print(_draw_grid(_list_holdings(report)))
    console.print(f"\n[bold]Growth[/]: facts added in each week of the last {days} days")
    counts = [int(week["facts"]) for week in recent.growth]
    most = max(counts, default=0)
    console.print(Text(f"{draw_sparkline(counts)}  {count(most, 'fact')} in the fullest week"))
    for label, shares in _list_shares(recent):
        console.print(write_cell(f"facts by {label}: {write_counts(shares) or 'none'}", "dim"))
    console.print(f"\n[bold]Recalls[/]: answers of the last {days} days")
    console.print(_draw_grid(_list_recalls(recent.recalls)) or _NO_RECALLS)
    console.print(f"\n[bold]LLM[/]: calls of the last {days} days")
    console.print(_draw_grid(_list_llm(recent.llm)) or "none")
    if recent.proposals:
        console.print(f"\n[bold]Proposals[/]: by author and LLM, of the last {days} days")
        console.print(_draw_grid(_list_proposals(recent.proposals)))
    _draw_items(console, "Slowest answers", _list_slowest(recent))
    questions = count(recent.unanswered["questions"], "question")
    _draw_items(console, f"Unanswered: {questions} that found little", _list_unanswered(recent))
    reasons = write_counts(recent.stale["reasons"])
    title = f"Stale: {count(recent.stale['facts'], 'fact')}{f' ({reasons})' if reasons else ''}"
    _draw_items(console, f"{title}, the oldest", _list_stale(recent))


def write_report(report: Report) -> None:
    """Write the whole report as lines, each with the name of its part as the first cell."""
    recent = report.recent
    parts: Mapping[str, Sequence[Cells]] = {
        "memory": _list_holdings(report),
        "growth": [(str(week["week"])[:10], str(week["facts"])) for week in recent.growth],
        **{
            label: [(name, str(number)) for name, number in counts.items()]
            for label, counts in _list_shares(recent)
        },
        "recalls": _list_recalls(recent.recalls),
        "llm": _list_llm(recent.llm),
        "proposals": _list_proposals(recent.proposals),
        "slowest": _list_slowest(recent),
        "unanswered": _list_unanswered(recent),
        "stale": _list_stale(recent),
    }
    for name, rows in parts.items():
        for cells in rows:
            write_row((name, *cells))


def _read_question(item: Mapping[str, Any]) -> str:
    """Return the words of a question, or how to have them next time."""
    if item["kept"] or item["asked"] is None:
        return item["asked"] or ""
    return "(its words are kept with TEXTRAWL_RECORD_RECALLS=text)"


def draw_sparkline(counts: Sequence[int]) -> str:
    """Return a bar for each number, in proportion to the largest number."""
    most = max(counts, default=0) or 1
    return "".join(_BARS[round((len(_BARS) - 1) * count / most)] for count in counts)


def write_counts(counts: Mapping[str, int]) -> str:
    """Return counts with their names, the largest first."""
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {name}" for name, count in most)


def write_saved(recalls: Mapping[str, Any]) -> str | None:
    """Return the tokens that compact text saved compared with verbose text, or None.

    The number is extrapolated, because verbose text is counted only for some answers.
    """
    spent, verbose = recalls["tokens"], recalls["verbose_tokens"]
    if not verbose or verbose <= spent:
        return None
    return f"about {verbose - spent:,} saved, {1 - spent / verbose:.0%} of verbose text"


def _list_holdings(report: Report) -> list[Cells]:
    row = report.holdings
    ended = row.facts - row.valid_facts
    rows: list[Cells] = [
        ("entities", f"{row.entities:,}", write_counts(row.types)),
        ("valid facts", f"{row.valid_facts:,}", f"and {ended:,} no longer valid"),
        ("relations", f"{row.relations:,}", ""),
    ]
    if report.documents:
        meaning = f"in graphs, {count(report.chunks, 'chunk')} of text"
        rows.append(("documents", f"{report.documents:,}", meaning))
    size, unit = decimal(row.bytes).split(" ")
    rows += [
        ("events", f"{row.events:,}", "lines of `textrawl log`"),
        (unit, size, "on disk, the whole database"),
    ]
    for model in row.models:
        pending = model["pending"]
        wait = f"; {count(pending, 'fact')} without a vector yet" if pending else ""
        meaning = f"numbers in a vector of {model['name']}{wait}"
        rows.append(("dimensions", f"{model['dimensions']:,}", meaning))
    return rows


def _list_shares(recent: ReportRow) -> list[tuple[str, Mapping[str, int]]]:
    authors = {item["author"]: item["facts"] for item in recent.authors}
    return [("author", authors), ("source", recent.sources)]


def _list_recalls(recalls: Mapping[str, Any]) -> list[Cells]:
    if not recalls["calls"]:
        return []
    cut = f"{recalls['cut']:,} of them cut to their budget" if recalls["cut"] else ""
    rows: list[Cells] = [
        ("answers", f"{recalls['calls']:,}", cut or "without searches of commands"),
        ("tokens", f"{recalls['tokens']:,}", write_saved(recalls) or "in all answers"),
    ]
    if recalls["p50_ms"] is not None:
        rows.append(("ms", f"{recalls['p50_ms']}", "median time of an answer"))
        rows.append(("ms", f"{recalls['p95_ms']}", "95th percentile of the time of an answer"))
    return rows


def _list_llm(uses: Sequence[Mapping[str, Any]]) -> list[Cells]:
    return [(str(use["purpose"]), f"{use['calls']:,}", describe_llm(use)) for use in uses]


def describe_llm(use: Mapping[str, Any]) -> str:
    """Return the tokens, median time and failures of the calls to the LLM for one purpose."""
    cost = f"{use['tokens_in']:,} tokens in, {use['tokens_out']:,} out"
    failed = f"; failed: {write_counts(use['errors'])}" if use["failures"] else ""
    return f"{cost}; {use['p50_ms']} ms{failed}"


def _list_proposals(rates: Sequence[Mapping[str, Any]]) -> list[Cells]:
    names = [" with ".join(filter(None, (rate["author"], rate["llm"]))) for rate in rates]
    return [
        (name, f"{rate['proposed']:,}", describe_rate(rate))
        for name, rate in zip(names, rates, strict=True)
    ]


def describe_rate(rate: Mapping[str, Any]) -> str:
    """Return the decisions about the proposals of an author, and the reasons of rejections."""
    states = [f"{rate[state]:,} {state}" for state in ("accepted", "rejected", "pending")]
    decided = rate["acceptance"]
    share = f"; {decided:.0%} of the decided ones accepted" if decided is not None else ""
    why = f"; rejected: {write_counts(rate['reasons'])}" if rate["reasons"] else ""
    return f"{', '.join(states)}{share}{why}"


def _list_slowest(recent: ReportRow) -> list[Cells]:
    return [
        (f"{item['milliseconds']} ms", f"{item['mode']} {_read_question(item)}")
        for item in recent.slowest
    ]


def _list_unanswered(recent: ReportRow) -> list[Cells]:
    most = recent.unanswered["most"]
    return [(count(item["times"], "time"), _read_question(item)) for item in most]


def _list_stale(recent: ReportRow) -> list[Cells]:
    oldest = recent.stale["oldest"]
    return [(str(item["at"])[:10], f"{item['entity']}: {item['fact']}") for item in oldest]


def _draw_items(console: Console, title: str, items: Sequence[Cells]) -> None:
    console.print(Text(f"\n{title}", "bold"))
    table = Table.grid(padding=(0, 2))
    widest = max((len(left) for left, _ in items), default=0)
    table.add_column(justify="right", no_wrap=True, min_width=widest)
    table.add_column(no_wrap=True, overflow="ellipsis")
    for left, right in items:
        table.add_row(left, write_cell(right[:_LONGEST_TEXT]))
    console.print(table if items else "none")


def _draw_grid(rows: Sequence[Cells]) -> Table | None:
    if not rows:
        return None
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(style="dim")
    for row in rows:
        table.add_row(*map(write_cell, row))
    return table


def stats(
    days: Annotated[int, option("", "How many days to look back.", min=1, max=3660)] = 90,
    html: Annotated[
        Path | None,
        option("FILE", "Write an HTML page with charts to FILE. The page loads no other file."),
    ] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show what the memory holds, how it grows, and what answers cost.

    It also shows the slowest answers, stale facts, and questions without an answer. Questions are
    shown as text only if TEXTRAWL_RECORD_RECALLS=text stored them.
    """
    report = ask("report", Report, space, days=days)
    if html is not None:
        from textrawl.explorer.overview_pages import write_statistics  # noqa: PLC0415 - half a second, for pages

        _save(html, write_statistics(report.holdings, report.recent, report.days))
    if as_json:
        sums = {name: getattr(report, name) for name in ("documents", "chunks", "days")}
        write_json({**asdict(report.holdings), **sums, **asdict(report.recent)})
    elif html is None:
        console = open_console()
        draw_report(console, report) if console.is_terminal else write_report(report)
        if report.holdings.facts >= _ENOUGH:
            write_message(*ask("offer_model", list[str], space))


def _save(file: Path, page: str) -> None:
    try:
        # The page has questions and facts, so only its owner can read it, even if FILE existed.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as out:  # noqa: PTH123 - a descriptor has no path
            os.fchmod(descriptor, 0o600)
            out.write(page)
    except OSError as error:
        raise StartRefused(
            f"{file} cannot be written: {error.strerror}. Name another file"
        ) from error
    write_message(f"Wrote {file}.")
