"""The dashboard: what spaces hold, how they grow, what answers cost, and what needs a person."""

from starlette.background import BackgroundTasks
from starlette.responses import Response

from textrawl.explorer.arguments import read_number
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import ClosePairRow, Numbers, describe_numbers
from textrawl.memory.store import ReportRow, StatisticsRow

DAYS, _MOST_DAYS = 90, 3660
_LARGE = 3_000  # facts: counting more of them takes longer than a page may
_ENTITIES = 100  # that changed last: the dashboard counts candidates among their facts


async def show(visit: PageRequest) -> Response:
    """Show the numbers of one space, or of all spaces that the person can read."""
    visit.principal.require("read")
    days = read_number(visit.read("days"), least=1, most=_MOST_DAYS, default=DAYS)
    values = {
        "space": visit.read("space"),
        "days": days,
        "most_days": _MOST_DAYS,
        "compared": _ENTITIES,
        "reviewing": visit.allows("review"),
    }
    after = BackgroundTasks()
    numbers = await visit.remember_soon(
        visit.site.numbers, days, lambda: count_numbers(visit, days), after, is_large
    )
    response = visit.show("dashboard.html", {**values, **describe_numbers(numbers)})
    response.background = after
    return response


def is_large(numbers: Numbers) -> bool:
    """Return whether the spaces have so many facts that it takes long to count them."""
    return numbers.holdings.facts > _LARGE


async def count_numbers(visit: PageRequest, days: int) -> Numbers:
    """Return the contents of the spaces of this visit, and what happened in the last days."""
    database, reading = visit.site.store.database, visit.caller.reading
    [holdings] = await database.call("memory_statistics", StatisticsRow, **reading)
    [report] = await database.call("memory_report", ReportRow, days=days, **reading)
    pairs = await database.call(
        "close_pairs", ClosePairRow, entities=_ENTITIES, max_rows=1, **reading
    )
    return Numbers(holdings, report, pairs)
