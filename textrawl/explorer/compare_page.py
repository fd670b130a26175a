"""Facts to compare: facts of one entity that may say the same, or contradict each other."""

from starlette.responses import Response

from textrawl.explorer.arguments import read_number
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record, count_pairs

_ENTITIES, _MOST_ENTITIES = 100, 2_000
_PAIRS = 50  # of each kind


async def show(visit: PageRequest) -> Response:
    """Show pairs of facts of the entities that changed last."""
    entities = read_number(visit.read("entities"), least=1, most=_MOST_ENTITIES, default=_ENTITIES)
    pairs = await visit.call("close_pairs", Record, entities=entities, max_rows=_PAIRS)
    kinds = [
        (kind, [pair for pair in pairs if pair.kind == kind], count_pairs(pairs, kind))
        for kind in ("duplicate", "conflict")
    ]
    values = {
        "kinds": kinds,
        "entities": entities,
        "most_entities": _MOST_ENTITIES,
        "with_vectors": bool(pairs) or visit.site.store.models.has_vectors,
    }
    return visit.show("compare.html", values)
