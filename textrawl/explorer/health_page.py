"""Health: what answers of this server depend on, as far as people with a token may know it.

On a person's own machine it also shows the checks of `textrawl doctor` and all settings.
"""

import time
from datetime import UTC, datetime

import anyio
from starlette.responses import RedirectResponse, Response

from textrawl import __version__
from textrawl.doctor.checks import CheckResult, examine_memory
from textrawl.doctor.configuration import DEFAULT, list_settings
from textrawl.explorer.forms import OwnerNeeded
from textrawl.explorer.home_page import LARGE, count_holdings
from textrawl.explorer.rendering import write_link
from textrawl.explorer.requests import PageRequest

_LONGEST = 20.0  # seconds for all checks, because the page has to begin within 30


async def show(visit: PageRequest) -> Response:
    """Show how the database, the vectors and the answers of this server are."""
    store, settings, renderer = visit.site.store, visit.site.settings, visit.site.renderer
    began = time.perf_counter()
    await store.ping()
    milliseconds = 1000 * (time.perf_counter() - began)
    holdings = await visit.remember(
        "holdings", lambda: count_holdings(visit), lambda kept: kept.facts > LARGE
    )
    values = {
        "version": __version__,
        "milliseconds": milliseconds,
        "models": holdings.models,
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
    findings = [CheckResult("checks", "note", f"did not end within {_LONGEST:.0f} s: check again")]
    with anyio.move_on_after(_LONGEST):
        findings = await examine_memory(visit.site.settings)
    last = visit.site.last_checks
    last.findings, last.at = findings, datetime.now(UTC)
    return RedirectResponse(write_link("health"), 303)
