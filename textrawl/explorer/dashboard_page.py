"""The dashboard: what spaces hold, how they grow, what answers cost, and what needs a person."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from textrawl.explorer.arguments import read_number
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record, describe_numbers
from textrawl.memory.store import ReportRow, StatisticsRow

DAYS, _MOST_DAYS = 90, 3660
LARGE = 3_000  # facts: counting more of them takes longer than a page may
_ENTITIES = 100  # that changed last: the dashboard counts candidates among their facts


async def show(visit: PageRequest) -> Response:
    """Show the numbers of one space, or of all spaces that the person can read."""
    days = read_number(visit.read("days"), least=1, most=_MOST_DAYS, default=DAYS)
    values = {
        "days": days,
        "most_days": _MOST_DAYS,
        "compared": _ENTITIES,
        "reviewing": visit.allows("review"),
    }
    numbers = await visit.remember(("numbers", days), lambda: count_numbers(visit, days), is_large)
    return visit.show("dashboard.html", {**values, **numbers})


def is_large(numbers: Mapping[str, Any]) -> bool:
    """Return whether the spaces have so many facts that it takes long to count them."""
    return numbers["holdings"].facts > LARGE


async def count_numbers(visit: PageRequest, days: int) -> dict[str, Any]:
    """Return the contents of the spaces of this visit, and what happened in the last days."""
    [report] = await visit.call("memory_report", ReportRow, days=days)
    pairs = await visit.call("close_pairs", Record, entities=_ENTITIES, max_rows=1)
    return describe_numbers(await count_holdings(visit), report, pairs)


async def count_holdings(visit: PageRequest) -> StatisticsRow:
    """Return the contents of the spaces of this visit."""
    return (await visit.call("memory_statistics", StatisticsRow))[0]
