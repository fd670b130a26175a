"""`textrawl stats`: contents, growth and costs of a memory."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
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
)
from textrawl.cli.inputs import AsJson, SpaceName
from textrawl.cli.memory_session import ask
from textrawl.errors import StartRefused
from textrawl.memory import commands
from textrawl.memory.commands import Report
from textrawl.memory.store import ReportRow

_BARS = "▁▂▃▄▅▆▇█"
_LONGEST_TEXT = 72  # characters of a question or a fact


def draw_report(console: Console, report: Report) -> None:
    """Draw the whole report. Each figure has its unit and a short explanation."""
    recent, days = report.recent, report.days
    console.print("[bold]The memory now[/]")
    console.print(_draw_holdings(report))
    console.print(f"\n[bold]Growth[/]: facts added in each week of the last {days} days")
    counts = [int(week["facts"]) for week in recent.growth]
    most = max(counts, default=0)
    console.print(Text(f"{draw_sparkline(counts)}  {count(most, 'fact')} in the fullest week"))
    _draw_shares(console, recent)
    console.print(f"\n[bold]Recalls[/]: answers of the last {days} days")
    console.print(_draw_recalls(recent.recalls))
    console.print(f"\n[bold]LLM[/]: calls of the last {days} days")
    console.print(_draw_llm(recent.llm))
    if recent.proposals:
        console.print(f"\n[bold]Proposals[/]: by author and LLM, of the last {days} days")
        console.print(_draw_proposals(recent.proposals))
    slowest = [
        (f"{i['milliseconds']} ms", f"{i['mode']} {_read_question(i)}") for i in recent.slowest
    ]
    _draw_items(console, "Slowest answers", slowest)
    unanswered = recent.unanswered
    _draw_items(
        console,
        f"Unanswered: {count(unanswered['questions'], 'question')} that found little",
        [(count(item["times"], "time"), _read_question(item)) for item in unanswered["most"]],
    )
    reasons = write_counts(recent.stale["reasons"])
    title = f"Stale: {count(recent.stale['facts'], 'fact')}{f' ({reasons})' if reasons else ''}"
    oldest = [(str(i["at"])[:10], f"{i['entity']}: {i['fact']}") for i in recent.stale["oldest"]]
    _draw_items(console, f"{title}, the oldest", oldest)


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


def _draw_holdings(report: Report) -> Table:
    table, row = _make_grid(), report.holdings
    ended = row.facts - row.valid_facts
    table.add_row("entities", f"{row.entities:,}", write_counts(row.types))
    table.add_row("valid facts", f"{row.valid_facts:,}", f"and {ended:,} no longer valid")
    table.add_row("relations", f"{row.relations:,}")
    if report.documents:
        meaning = f"in graphs, {count(report.chunks, 'chunk')} of text"
        table.add_row("documents", f"{report.documents:,}", meaning)
    table.add_row("events", f"{row.events:,}", "lines of `textrawl log`")
    size, unit = decimal(row.bytes).split(" ")
    table.add_row(unit, size, "on disk, the whole database")
    for model in row.models:
        pending = model["pending"]
        wait = f"; {count(pending, 'fact')} without a vector yet" if pending else ""
        meaning = f"numbers in a vector of {model['name']}{wait}"
        table.add_row("dimensions", f"{model['dimensions']:,}", write_cell(meaning))
    return table


def _draw_shares(console: Console, recent: ReportRow) -> None:
    authors = write_counts({item["author"]: item["facts"] for item in recent.authors})
    console.print(write_cell(f"facts by author: {authors or 'none'}", "dim"))
    console.print(write_cell(f"facts by source: {write_counts(recent.sources) or 'none'}", "dim"))


def _draw_recalls(recalls: Mapping[str, Any]) -> Table | str:
    if not recalls["calls"]:
        return "none, or TEXTRAWL_RECORD_RECALLS is off; searches of commands are not recorded"
    table = _make_grid()
    cut = f"{recalls['cut']:,} of them cut to their budget" if recalls["cut"] else ""
    table.add_row("answers", f"{recalls['calls']:,}", cut or "without searches of commands")
    table.add_row("tokens", f"{recalls['tokens']:,}", write_saved(recalls) or "in all answers")
    if recalls["p50_ms"] is not None:
        table.add_row("ms", f"{recalls['p50_ms']}", "median time of an answer")
        table.add_row("ms", f"{recalls['p95_ms']}", "95th percentile of the time of an answer")
    return table


def _draw_llm(uses: Sequence[Mapping[str, Any]]) -> Table | str:
    if not uses:
        return "none"
    table = _make_grid()
    for use in uses:
        table.add_row(str(use["purpose"]), f"{use['calls']:,}", write_cell(describe_llm(use)))
    return table


def describe_llm(use: Mapping[str, Any]) -> str:
    """Return the tokens, median time and failures of the calls to the LLM for one purpose."""
    cost = f"{use['tokens_in']:,} tokens in, {use['tokens_out']:,} out"
    failed = f"; failed: {write_counts(use['errors'])}" if use["failures"] else ""
    return f"{cost}; {use['p50_ms']} ms{failed}"


def _draw_proposals(rates: Sequence[Mapping[str, Any]]) -> Table:
    table = _make_grid()
    for rate in rates:
        source = f" with {rate['llm']}" if rate["llm"] else ""
        name = write_cell(f"{rate['author']}{source}", "bold")
        table.add_row(name, f"{rate['proposed']:,}", write_cell(describe_rate(rate)))
    return table


def describe_rate(rate: Mapping[str, Any]) -> str:
    """Return the decisions about the proposals of an author, and the reasons of rejections."""
    states = [f"{rate[state]:,} {state}" for state in ("accepted", "rejected", "pending")]
    decided = rate["acceptance"]
    share = f"; {decided:.0%} of the decided ones accepted" if decided is not None else ""
    why = f"; rejected: {write_counts(rate['reasons'])}" if rate["reasons"] else ""
    return f"{', '.join(states)}{share}{why}"


def _draw_items(console: Console, title: str, items: Sequence[tuple[str, str]]) -> None:
    console.print(Text(f"\n{title}", "bold"))
    table = Table.grid(padding=(0, 2))
    widest = max((len(left) for left, _ in items), default=0)
    table.add_column(justify="right", no_wrap=True, min_width=widest)
    table.add_column(no_wrap=True, overflow="ellipsis")
    for left, right in items:
        table.add_row(left, write_cell(right[:_LONGEST_TEXT]))
    console.print(table if items else "none")


def _make_grid() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(style="dim")
    return table


def stats(
    days: Annotated[int, typer.Option(min=1, max=3660, help="How many days to look back.")] = 90,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write an HTML page with charts to FILE. The page loads no other file.",
        ),
    ] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show what the memory holds, how it grows, and what answers cost.

    It also shows the slowest answers, stale facts, and questions without an answer. Questions are
    shown as text only if TEXTRAWL_RECORD_RECALLS=text stored them.
    """
    report = ask(commands.report, space, days)
    if html is not None:
        _save(html, _write_page(report))
    if as_json:
        sums = {name: getattr(report, name) for name in ("documents", "chunks", "days")}
        write_json({**asdict(report.holdings), **sums, **asdict(report.recent)})
    elif html is None:
        draw_report(open_console(), report)


def _write_page(report: Report) -> str:
    from textrawl.explorer.overview_pages import write_statistics  # noqa: PLC0415 - half a second, for pages

    return write_statistics(report.holdings, report.recent, report.days)


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
