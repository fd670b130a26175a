"""The first page: what happened today and by whom, what waits for the person, and what is there."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import accumulate
from math import ceil
from typing import Any

from starlette.responses import RedirectResponse, Response

from textrawl.errors import ArgumentInvalid, SpaceIsGraph
from textrawl.explorer import cookies
from textrawl.explorer.dashboard_page import DAYS, count_numbers, is_large
from textrawl.explorer.fact_map import HEIGHT, WIDTH, MapPoint, draw_points, find_cells
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.same_entities_page import find_pairs
from textrawl.explorer.site import Numbers, Record, describe_numbers
from textrawl.memory.review import Filter, ReviewOperations

_WEEKS = 26
_LATEST = 6  # changes
_LEVELS = 4  # of the colours of days
_CURVE_WIDTH, _CURVE_HEIGHT = 300, 60


@dataclass(frozen=True)
class HeatDay:
    """A day of the heat map, with its place and its colour from 0 to 4."""

    day: date
    facts: int
    level: int
    column: int
    row: int


@dataclass(frozen=True)
class Savings:
    """The tokens that short answers saved in the last days, with the curve of their sum."""

    tokens: int
    share: float
    days: int
    curve: str


@dataclass(frozen=True)
class Slow:
    """The contents of the page that need more than a moment in a large memory."""

    numbers: Numbers
    days: Sequence[Record]
    cells: Sequence[Record]
    pairs: int


async def show(visit: PageRequest) -> Response:
    """Show the first page, or the search to somebody whose facts cannot be counted together."""
    visit.principal.require("read")
    try:
        return await _show(visit)
    except (SpaceIsGraph, ArgumentInvalid):  # there are only graphs, or spaces of several cells
        return RedirectResponse(write_link("search"), 303)


async def _show(visit: PageRequest) -> Response:
    slow = await visit.remember("home", lambda: _make(visit), lambda kept: is_large(kept.numbers))
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    points = await draw_points(visit, slow.cells)
    values = {
        **describe_numbers(slow.numbers),
        "since": today.date(),
        "authors_today": await visit.call("recent_authors", Record, since=today),
        "latest": await visit.call("space_timeline", Record, max_rows=_LATEST),
        "proposals": await _count_proposals(visit),
        "same": slow.pairs,
        "heat": arrange(slow.days),
        "saving": add_up(slow.numbers.report.recall_days, slow.numbers.report.recalls),
        "price": cookies.read_price(visit.request),
        "points": points,
        "found_types": _order_types(points),
        "map_size": (WIDTH, HEIGHT),
        "curve_size": (_CURVE_WIDTH, _CURVE_HEIGHT),
        "own_machine": visit.site.own_machine,
        "address": f"{visit.site.settings.public_url or 'https://' + visit.request.url.netloc}/mcp",
    }
    return visit.show("home.html", values)


async def _make(visit: PageRequest) -> Slow:
    pairs = await find_pairs(visit) if visit.find_spaces("write") else ()
    return Slow(
        await count_numbers(visit, DAYS),
        await visit.call("activity_days", Record, weeks=_WEEKS),
        await find_cells(visit),
        len(pairs),
    )


async def _count_proposals(visit: PageRequest) -> int:
    """Return how many proposals wait for a decision of the person."""
    if not visit.find_spaces("review"):
        return 0
    waiting = Filter(None, None, None, "pending", 1, 0)
    rows = await ReviewOperations(visit.site.store).list(waiting, visit.caller)
    return rows[0].total if rows else 0


def arrange(days: Sequence[Record]) -> list[HeatDay]:
    """Return the days in columns of weeks. Their colours follow the order of their numbers."""
    busy = sorted({row.facts for row in days if row.facts})
    return [
        HeatDay(row.day, row.facts, _find_level(busy, row.facts), number // 7, number % 7)
        for number, row in enumerate(days)
    ]


def _find_level(busy: Sequence[int], facts: int) -> int:
    return ceil(_LEVELS * bisect_right(busy, facts) / len(busy)) if facts else 0


def add_up(days: Sequence[dict[str, Any]], recalls: dict[str, Any]) -> Savings | None:
    """Return what short answers saved on these days, or None if no answer was counted twice.

    Only some answers are also counted as verbose text, so their ratio stands for all answers.
    """
    verbose, tokens = float(recalls["verbose_tokens"] or 0), float(recalls["tokens"] or 0)
    if verbose <= tokens or not tokens:
        return None
    sums = list(accumulate(day["tokens"] * (verbose / tokens - 1) for day in days))
    if not sums or not sums[-1]:
        return None
    step = _CURVE_WIDTH / max(len(sums) - 1, 1)
    places = [
        f"{number * step:.1f} {_CURVE_HEIGHT * (1 - each / sums[-1]):.1f}"
        for number, each in enumerate(sums)
    ]
    return Savings(round(sums[-1]), 1 - tokens / verbose, len(days), " L".join(places))


def _order_types(points: Sequence[MapPoint]) -> list[tuple[str, int]]:
    """Return the types on the map with the numbers of facts in their points, the largest first."""
    facts = Counter[str]()
    for point in points:
        facts[point.type] += point.facts
    return facts.most_common()
