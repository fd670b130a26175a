"""`textrawl cost`: the tokens that a server costs its clients."""

from dataclasses import asdict, dataclass
from typing import Annotated, get_args

import typer

from textrawl.access.directory import Directory
from textrawl.access.principal import Caller
from textrawl.cli.console import open_console, show_wait, write_json
from textrawl.cli.cost_tables import AnswerCost, CostReport, FormatCost, draw_costs
from textrawl.cli.database_access import require_memory
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import SpaceName
from textrawl.cli.memory_session import find_reading, read_space_settings
from textrawl.cli.rows import RecallCostsRow
from textrawl.demonstration.costs import read_text, write_whole
from textrawl.errors import (
    MemoryNotEnabled,
    QueryMissing,
    StartRefused,
    TextrawlError,
)
from textrawl.server.definition_costs import count_definitions
from textrawl.server.server import create_server
from textrawl.settings import Format, Settings
from textrawl.store.opening import open_memory
from textrawl.store.store import Store
from textrawl.toolsets.memory.operations import MemoryOperations, Question
from textrawl.toolsets.memory.search_replies import SearchReply
from textrawl.values.text import clean_name
from textrawl.wire.token_counter import Counter, choose_counter

_MOST_RECALLS = 10_000


@dataclass(frozen=True)
class _Options:
    """The query to search for, or None, and the number of recalls to sum up."""

    query: str | None
    last: int


def cost(
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUERY]", help="Search for this, and show the answer's cost in each format."
        ),
    ] = None,
    last: Annotated[
        int, typer.Option(min=1, max=_MOST_RECALLS, help="How many of the last recalls to sum up.")
    ] = 100,
    space: SpaceName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show what the server costs a client in tokens.

    The command counts the tokens of the tools' definitions and of the last recalls. With a QUERY it
    also counts the tokens of your memory's answer in each format. The command changes nothing, and
    its search is not recorded as a recall.
    """
    settings = read_space_settings(space)
    counter = choose_counter()
    with show_wait("Counting"):
        report = _count_costs(settings, counter, _Options(query, last))
    if as_json:
        write_json(asdict(report))
    else:
        draw_costs(open_console(), report, settings)


def _count_costs(settings: Settings, counter: Counter, options: _Options) -> CostReport:
    """Count all costs. If the memory cannot be read, raise only if there is a query to answer."""
    server = create_server(settings)
    introduction = run_foreground(lambda: count_definitions(server, counter))
    try:
        recalls, answer = run_foreground(lambda: _read_memory(settings, counter, options))
    except (StartRefused, TextrawlError) as error:
        if options.query is not None:
            raise
        return CostReport(counter.name, counter.exact, introduction, None, None, str(error))
    return CostReport(counter.name, counter.exact, introduction, recalls, answer, None)


async def _read_memory(
    settings: Settings, counter: Counter, options: _Options
) -> tuple[RecallCostsRow, AnswerCost | None]:
    if not settings.enable_memory:
        raise MemoryNotEnabled
    require_memory(settings)
    async with open_memory(settings.model_copy(update={"read_only": True})) as memory:
        reading = await find_reading(memory.database, memory.credential, settings)
        [recalls] = await memory.database.call(
            "recall_costs", RecallCostsRow, last=options.last, **reading
        )
        if options.query is None:
            return recalls, None
        return recalls, await _count_answer(memory, counter, options.query, settings.space)


async def _count_answer(
    store: Store, counter: Counter, query: str, space: str | None
) -> AnswerCost:
    """Count the whole answer to `query` in each format."""
    if not (query := clean_name(query)):
        raise QueryMissing
    principal = await Directory(store.database).find_own(store.credential, space)
    caller = Caller(principal, None, "textrawl cost")
    rows, missing = await MemoryOperations(store).search(Question(query), caller)
    reply = SearchReply.build(rows, missing, query)
    formats = [_count_format(reply, form, counter) for form in get_args(Format)]
    return AnswerCost(query, len(rows), read_text(write_whole(reply, "compact", counter)), formats)


def _count_format(reply: SearchReply, form: Format, counter: Counter) -> FormatCost:
    text = write_whole(reply, form, counter)
    both = write_whole(reply, form, counter, structured=True)
    return FormatCost(form, text.tokens, both.tokens)
