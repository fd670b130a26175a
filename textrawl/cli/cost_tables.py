"""Tables of `textrawl cost`."""

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from textrawl.cli.console import count
from textrawl.cli.rows import RecallCostsRow
from textrawl.server.definition_costs import DefinitionCosts
from textrawl.settings import Format, Settings


@dataclass(frozen=True)
class FormatCost:
    """The tokens of an answer in one format.

    `text` counts only the text, and `with_structured` counts text and structured content together.
    """

    format: Format
    text: int
    with_structured: int


@dataclass(frozen=True)
class AnswerCost:
    """An answer as compact text, and its cost in every format."""

    query: str
    facts: int
    text: str
    formats: list[FormatCost]


@dataclass(frozen=True)
class CostReport:
    """All costs. `missing` says why recalls and answers were not counted, or is None."""

    counter: str
    exact: bool
    introduction: DefinitionCosts
    recalls: RecallCostsRow | None
    answer: AnswerCost | None
    missing: str | None


def draw_costs(console: Console, report: CostReport, settings: Settings) -> None:
    """Draw all costs of a server with these `settings`."""
    precision = "counted exactly" if report.exact else "estimated, never too low"
    console.print(f"Tokens, {precision}: {report.counter}.\n")
    console.print("[bold]Before the first call[/] of every conversation")
    console.print(_draw_introduction(report.introduction))
    if report.recalls is not None:
        console.print("\n[bold]Recalls[/]")
        console.print(_draw_recalls(report.recalls, recorded=_are_recorded(settings)))
    if report.answer is not None:
        console.print()
        _draw_answer(console, report.answer, settings.max_response_tokens)
    if report.missing is not None:
        console.print("\n[bold]Recalls and answers[/] cannot be counted.")
        console.print(Text(report.missing), soft_wrap=True)


def _are_recorded(settings: Settings) -> bool:
    return settings.record_recalls != "off" and not settings.read_only


def _draw_introduction(introduction: DefinitionCosts) -> Table:
    table = _make_grid()
    for toolset in introduction.toolsets:
        table.add_row(f"toolset {toolset.name}", f"{toolset.tokens:,}")
        for tool in toolset.tools:
            table.add_row(f"  {tool.name}", f"{tool.tokens:,}", style="dim")
    table.add_row("instructions", f"{introduction.instructions:,}")
    table.add_row("total", f"{introduction.tokens:,}", style="bold")
    return table


def _draw_recalls(recalls: RecallCostsRow, *, recorded: bool) -> Table | str:
    if not recalls.recalls or recalls.since is None:
        return (
            "none yet"
            if recorded
            else "none: TEXTRAWL_RECORD_RECALLS is off, or TEXTRAWL_READ_ONLY is on"
        )
    table = _make_grid()
    table.add_row("recalls", f"{recalls.recalls:,}", f"since {recalls.since:%Y-%m-%d %H:%M %Z}")
    table.add_row("median", f"{recalls.p50:,}", "tokens")
    table.add_row("95th percentile", f"{recalls.p95:,}", "tokens")
    table.add_row("largest", f"{recalls.largest:,}", "tokens")
    left_out = f"{recalls.dropped:,} items left out" if recalls.cut else ""
    table.add_row("cut to the budget", f"{recalls.cut:,}", left_out)
    return table


def _draw_answer(console: Console, answer: AnswerCost, budget: int) -> None:
    console.print(Text.assemble((answer.query, "bold"), f": {count(answer.facts, 'fact')}"))
    table = Table()
    table.add_column("format")
    table.add_column("text", justify="right")
    table.add_column("text + structured content", justify="right")
    for cost in answer.formats:
        table.add_row(cost.format, f"{cost.text:,}", f"{cost.with_structured:,}")
    console.print(table)
    if max(cost.with_structured for cost in answer.formats) > budget:
        console.print(
            f"If an answer exceeds TEXTRAWL_MAX_RESPONSE_TOKENS ({budget:,}), the server leaves "
            "facts out."
        )
    console.print("\nThe answer in the format `compact`:")
    console.print(Text(answer.text, style="cyan"), soft_wrap=True)


def _make_grid() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    return table
