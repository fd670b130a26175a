"""The first page and the page of spaces, the health of the server, and how clients are connected.

The first page says what happened today and by whom, what waits for the person, and what is there.
The page of spaces says more: how they grow, and what answers cost. The page of health says what
people with a token may know. On a person's own machine it also shows the checks of
`textrawl doctor` and all settings.
"""

import shlex
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import anyio
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from textrawl import __version__
from textrawl.connect.clients import (
    CLIENTS,
    OTHER,
    ClientProgram,
    LocalServer,
    Server,
    ServerAddress,
    ServerToken,
    find_command,
)
from textrawl.connect.connection import write_entry
from textrawl.doctor.checks import CheckResult, examine_memory
from textrawl.doctor.configuration import DEFAULT, list_settings
from textrawl.errors import ArgumentInvalid, SpaceIsGraph, StartRefused
from textrawl.explorer import cookies
from textrawl.explorer.arguments import read_number
from textrawl.explorer.decision_pages import find_pairs
from textrawl.explorer.forms import OwnerNeeded
from textrawl.explorer.grants_page import find_address
from textrawl.explorer.graph_page import draw_map, find_cells
from textrawl.explorer.rendering import read_assets, write, write_link
from textrawl.explorer.requests import PageRequest, turn
from textrawl.explorer.site import Record, describe_numbers
from textrawl.memory.fact_rows import ReportRow, StatisticsRow
from textrawl.memory.review import count_waiting

_WEEKS = 26
_LATEST, _RECENT = 6, 30  # changes that are shown, and those among which equal ones are one


async def show_home(visit: PageRequest) -> Response:
    """Show the first page, or the search to somebody whose facts cannot be counted together."""
    try:
        return await _show_home(visit)
    except (SpaceIsGraph, ArgumentInvalid):  # there are only graphs, or spaces of several cells
        return RedirectResponse(write_link("search"), 303)


async def _show_home(visit: PageRequest) -> Response:
    slow = await visit.remember("home", lambda: _make_home(visit), is_large)
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    values = {
        **slow,
        "since": today.date(),
        "authors_today": await visit.call("recent_authors", Record, since=today),
        "latest": _fold(await visit.call("space_timeline", Record, max_rows=_RECENT))[:_LATEST],
        "proposals": await count_waiting(visit.store_call),
        "price": cookies.read_price(visit.request),
        **await draw_map(visit, slow["cells"]),
        "own_machine": visit.site.own_machine,
        "address": f"{visit.site.settings.public_url or 'https://' + visit.request.url.netloc}/mcp",
    }
    return visit.show("home.html", values)


def _fold(rows: Sequence[Record]) -> list[tuple[Record, int]]:
    """Return the first of each run of equal changes, with their number."""
    runs = groupby(rows, attrgetter("space", "entity_name", "author_name", "change", "content"))
    return [(each[0], len(each)) for each in (list(run) for _, run in runs)]


async def _make_home(visit: PageRequest) -> dict[str, Any]:
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


_LONGEST_CHECKS = 20.0  # seconds for all checks, because the page has to begin within 30


async def show_health(visit: PageRequest) -> Response:
    """Show how the database, the vectors and the answers of this server are."""
    store, settings, renderer = visit.site.store, visit.site.settings, visit.site.renderer
    began = time.perf_counter()
    await store.ping()
    milliseconds = 1000 * (time.perf_counter() - began)
    try:
        holdings = await visit.remember(
            "holdings", lambda: count_holdings(visit), lambda kept: kept.facts > LARGE
        )
    except ArgumentInvalid:  # the spaces are in several cells, which nobody counts together
        holdings = None
    values = {
        "version": __version__,
        "milliseconds": milliseconds,
        "models": holdings and holdings.models,
        "makes_vectors": store.models.has_vectors,
        "counter": renderer.counter,
        "format": renderer.format,
        "budget": renderer.budget,
        "structured": renderer.structured,
        "read_only": settings.read_only,
        "recorded": "off" if settings.read_only else settings.record_recalls,
        "toolsets": settings.toolsets,
        "own_machine": visit.site.own_machine,
        "last_checks": visit.site.last_checks,
        "settings": list_settings(settings) if visit.site.own_machine else [],
        "default": DEFAULT,
    }
    return visit.show("health.html", values)


async def check(visit: PageRequest) -> Response:
    """Run the checks of `textrawl doctor`, and show them. Only the owner of the machine can."""
    visit.principal.require("read")
    if not visit.site.own_machine:
        raise OwnerNeeded("Ask the administrator of the server, who runs `textrawl doctor --http`")
    findings = [
        CheckResult("checks", "note", f"did not end within {_LONGEST_CHECKS:.0f} s: check again")
    ]
    with anyio.move_on_after(_LONGEST_CHECKS):
        findings = await examine_memory(visit.site.settings)
    last = visit.site.last_checks
    last.findings, last.at = findings, datetime.now(UTC)
    return RedirectResponse(write_link("health"), 303)


_TOKEN_FILE = "/path/to/token"  # noqa: S105 - where a person may keep it


_SEEN = timedelta(days=30)  # time for which a client counts as connected
_PAGE = 50


async def show_clients(visit: PageRequest) -> Response:
    """Show who is connected, and the commands and entries that connect each client."""
    own_machine, address = visit.site.own_machine, find_address(visit)
    server: Server = (
        LocalServer(find_command())
        if own_machine
        else ServerAddress(address, ServerToken("file", _TOKEN_FILE))
    )
    since, skip = datetime.now(UTC) - _SEEN, visit.read_skip()
    seen = await visit.call("list_clients", Record, since=since, max_rows=_PAGE, skip=skip)
    values = {
        "clients": [_describe_client(client, server) for client in (*CLIENTS.values(), OTHER)],
        "seen": seen,
        "days": _SEEN.days,
        "since": since.date(),
        **turn(skip, _PAGE, seen[0].total if seen else 0),
        "own_machine": own_machine,
        "page": "token" if visit.site.open_owner else "grant",
    }
    return visit.show_list("clients.html", values, seen, _COLUMNS)


_COLUMNS = "client author facts answers recalled tokens last_at"


def _describe_client(client: ClientProgram, server: Server) -> dict[str, Any]:
    """Return the command that connects a client, and what it writes into the client's file.

    If the client takes no address of a server, both are empty, and `hint` says what to do.
    """
    words = ["textrawl", "connect", client.name if client.name in CLIENTS else "--print"]
    if isinstance(server, ServerAddress):
        words += ["--url", server.url, "--token-file", _TOKEN_FILE]
    try:
        additions = client.list_additions(server, Path(client.files[0]), hidden=True)
    except StartRefused:
        words, additions = [], ()
    entries = [write_entry(each) for each in additions]
    shown = {"title": client.title, "hint": client.hint}
    return {**shown, "command": shlex.join(words), "entries": entries}


def write_statistics(holdings: StatisticsRow, report: ReportRow, days: int) -> str:
    """Return the whole page about the last `days`."""
    # The stylesheet is a file of this package, so it is safe to write it as it is.
    style = Markup(read_assets()["style.css"].decode())  # noqa: S704
    values = {"style": style, "at": datetime.now(UTC), "days": days}
    return write("statistics.html", {**values, **describe_numbers(holdings, report)})
