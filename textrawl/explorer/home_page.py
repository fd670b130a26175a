"""The first page: what happened today and by whom, what waits for the person, and what is there.

The page of spaces says more: how they grow, and what answers cost.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.responses import RedirectResponse, Response

from textrawl.errors import ArgumentInvalid, SpaceIsGraph
from textrawl.explorer import cookies
from textrawl.explorer.arguments import read_number
from textrawl.explorer.fact_map import draw_map, find_cells
from textrawl.explorer.merges_page import find_pairs
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record, describe_numbers
from textrawl.memory.review import ReviewOperations
from textrawl.memory.store import ReportRow, StatisticsRow

_WEEKS = 26
_LATEST = 6  # changes


async def show(visit: PageRequest) -> Response:
    """Show the first page, or the search to somebody whose facts cannot be counted together."""
    try:
        return await _show(visit)
    except (SpaceIsGraph, ArgumentInvalid):  # there are only graphs, or spaces of several cells
        return RedirectResponse(write_link("search"), 303)


async def _show(visit: PageRequest) -> Response:
    slow = await visit.remember("home", lambda: _make(visit), is_large)
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    values = {
        **slow,
        "since": today.date(),
        "authors_today": await visit.call("recent_authors", Record, since=today),
        "latest": await visit.call("space_timeline", Record, max_rows=_LATEST),
        "proposals": await ReviewOperations(visit.site.store).count_waiting(visit.caller),
        "price": cookies.read_price(visit.request),
        **await draw_map(visit, slow["cells"]),
        "own_machine": visit.site.own_machine,
        "address": f"{visit.site.settings.public_url or 'https://' + visit.request.url.netloc}/mcp",
    }
    return visit.show("home.html", values)


async def _make(visit: PageRequest) -> dict[str, Any]:
    """Return what needs more than a moment in a large memory."""
    return {
        **await count_numbers(visit, DAYS),
        "same": len(await find_pairs(visit)) if visit.find_spaces("write") else 0,
        "heat": await visit.call("activity_days", Record, weeks=_WEEKS),
        "cells": await find_cells(visit),
    }


DAYS, _MOST_DAYS = 90, 3660
LARGE = 3_000  # facts: counting more of them takes longer than a page may
_ENTITIES = 100  # that changed last: the dashboard counts candidates among their facts


async def show_spaces(visit: PageRequest) -> Response:
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
