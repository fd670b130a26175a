"""The places of a name: the spaces that have an entity of this name."""

from collections.abc import Sequence

from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import PlaceRow


async def find_places(visit: PageRequest, name: str) -> Sequence[PlaceRow]:
    """Return the spaces of this visit with an entity of this name, the home space first."""
    return await visit.site.store.database.call(
        "entity_spaces", PlaceRow, entity=name, **visit.caller.reading
    )
