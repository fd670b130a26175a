"""The commands `cost` and `toolsets`."""

from dataclasses import dataclass
from typing import Annotated, get_args

from rich.console import Console
from rich.table import Table
from rich.text import Text

from textrawl.cli.administration import RecallCostsRow
from textrawl.cli.console import count, open_console, show_wait, write_json
from textrawl.cli.demo import read_text, write_whole
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import AsJson, SpaceName, argument, option
from textrawl.cli.memory_session import read_memory
from textrawl.errors import QueryMissing, StartRefused, TextrawlError
from textrawl.memory.commands import Session
from textrawl.memory.questions import Question
from textrawl.server.definition_costs import (
    DefinitionCosts,
    ToolCost,
    ToolsetCost,
    count_definitions,
)
from textrawl.server.server import create_server
from textrawl.settings import Format, Settings, read_settings
from textrawl.tools.catalogue import TOOLSETS, choose_toolsets, find_toolsets
from textrawl.tools.memory.search_replies import SearchReply
from textrawl.values.text import clean_name
from textrawl.wire.token_counter import Counter, choose_counter


@dataclass(frozen=True)
class _ToolsetCost:
    """A toolset with the tokens of its definitions.

    `offered` is true if TEXTRAWL_TOOLSETS names the toolset.
    """

    name: str
    offered: bool
    purpose: str
    tokens: int
    tools: list[ToolCost]


def toolsets(as_json: AsJson = False) -> None:
    """List the toolsets that a server can offer.

    TEXTRAWL_TOOLSETS names the toolsets that a server offers. Over HTTP each offered toolset also
    has the path /mcp/t/NAME. The table counts the tokens of the tools' definitions. Every
    conversation begins with these definitions.
    """
    settings = read_settings()
    costs = run_foreground(lambda: _count(settings))
    if as_json:
        write_json(costs)
    else:
        open_console().print(_draw(costs))


async def _count(settings: Settings) -> list[_ToolsetCost]:
    changes = {"read_only": False, "enable_memory": True}
    counter = choose_counter()
    costs: list[ToolsetCost] = []
    for name in TOOLSETS:  # one server for each, because two toolsets can have a tool of one name
        server = create_server(settings.model_copy(update={"toolsets": [name], **changes}))
        costs += (await count_definitions(server, counter)).toolsets
    offered = {toolset.name for toolset in choose_toolsets(settings.toolsets)}
    purposes = {name: toolset.purpose for name, toolset in find_toolsets().items()}
    return [
        _ToolsetCost(cost.name, cost.name in offered, purposes[cost.name], cost.tokens, cost.tools)
        for cost in costs
    ]


def _draw(costs: list[_ToolsetCost]) -> Table:
    table = Table()
    for name in ("toolset", "offered"):
        table.add_column(name)
    for name in ("tools", "tokens"):
        table.add_column(name, justify="right")
    table.add_column("purpose")
    for toolset in costs:
        offered = "yes" if toolset.offered else "no"
        table.add_row(
            toolset.name, offered, str(len(toolset.tools)), f"{toolset.tokens:,}", toolset.purpose
        )
    return table


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
        recorded = settings.record_recalls != "off" and not settings.read_only
        console.print(_draw_recalls(report.recalls, recorded=recorded))
    if report.answer is not None:
        console.print()
        _draw_answer(console, report.answer, settings.max_response_tokens)
    if report.missing is not None:
        console.print("\n[bold]Recalls and answers[/] cannot be counted.")
        console.print(Text(report.missing), soft_wrap=True)


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


_MOST_RECALLS = 10_000


def cost(
    query: Annotated[
        str | None,
        argument("[QUERY]", "Search for this, and show the answer's cost in each format."),
    ] = None,
    last: Annotated[
        int, option("", "How many of the last recalls to sum up.", min=1, max=_MOST_RECALLS)
    ] = 100,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show what the server costs a client in tokens.

    The command counts the tokens of the tools' definitions and of the last recalls. With a QUERY it
    also counts the tokens of your memory's answer in each format. The command changes nothing, and
    its search is not recorded as a recall.
    """
    settings = read_settings(**({} if space is None else {"space": space}))
    counter = choose_counter()
    with show_wait("Counting"):
        server = create_server(settings)
        introduction = run_foreground(lambda: count_definitions(server, counter))
    recalls, answer, missing = _read_memory(query, last, space, counter)
    report = CostReport(counter.name, counter.exact, introduction, recalls, answer, missing)
    if as_json:
        write_json(report)
    else:
        draw_costs(open_console(), report, settings)


def _read_memory(
    query: str | None, last: int, space: str | None, counter: Counter
) -> tuple[RecallCostsRow | None, AnswerCost | None, str | None]:
    """Count recalls and the answer. Return the fault of a memory that cannot be read.

    Raises it if there is a query to answer.
    """

    async def work(session: Session) -> tuple[RecallCostsRow, AnswerCost | None]:
        [recalls] = await session.store.database.call(
            "recall_costs", RecallCostsRow, last=last, **session.caller.reading
        )
        return recalls, None if query is None else await _count_answer(session, counter, query)

    try:
        return *read_memory("textrawl cost", space, work), None
    except (StartRefused, TextrawlError) as error:
        if query is not None:
            raise
        return None, None, str(error)


async def _count_answer(session: Session, counter: Counter, query: str) -> AnswerCost:
    """Count the whole answer to `query` in each format."""
    if not (query := clean_name(query)):
        raise QueryMissing
    rows, missing = await session.memory.search(Question(query), session.caller)
    reply = SearchReply.build(rows, missing, query)
    formats = [
        FormatCost(
            form,
            write_whole(reply, form, counter).tokens,
            write_whole(reply, form, counter, structured=True).tokens,
        )
        for form in get_args(Format)
    ]
    return AnswerCost(query, len(rows), read_text(write_whole(reply, "compact", counter)), formats)
