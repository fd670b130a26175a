"""The first page: what happened today and by whom, what waits for the person, and what is there."""

from datetime import UTC, datetime
from typing import Any

from starlette.responses import RedirectResponse, Response

from textrawl.errors import ArgumentInvalid, SpaceIsGraph
from textrawl.explorer import cookies
from textrawl.explorer.dashboard_page import DAYS, count_numbers, is_large
from textrawl.explorer.fact_map import draw_map, find_cells
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.same_entities_page import find_pairs
from textrawl.explorer.site import Record
from textrawl.memory.review import ReviewOperations

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
