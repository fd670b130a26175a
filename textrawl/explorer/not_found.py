"""The page for a name that no entity has."""

from starlette.responses import Response

from textrawl.explorer.requests import PageRequest
from textrawl.memory.facts import suggest_names


async def show_missing(visit: PageRequest, name: str) -> Response:
    """Return the page, with similar names."""
    similar = await suggest_names(visit.site.memory, name, visit.caller)
    values = {"name": name, "similar": similar, "space": visit.read("space")}
    return visit.show("missing.html", values, 404)
