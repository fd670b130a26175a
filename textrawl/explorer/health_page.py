"""Health: what answers of this server depend on, as far as people with a token may know it."""

import time

from starlette.responses import Response

from textrawl import __version__
from textrawl.explorer.visits import Visit
from textrawl.toolsets.stats.operations import StatsOperations


async def show(visit: Visit) -> Response:
    """Show how the database, the vectors and the answers of this server are."""
    visit.principal.require("read")
    store, settings, renderer = visit.site.store, visit.site.settings, visit.site.renderer
    began = time.perf_counter()
    await store.ping()
    milliseconds = 1000 * (time.perf_counter() - began)
    holdings = await StatsOperations(store).count_memory(visit.caller)
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
        "own_machine": visit.site.lookup is None,
    }
    return visit.show("health.html", values)
