"""The graph around an entity, or of the best connected entities, drawn as SVG on the server."""

from typing import Any

from starlette.responses import Response

from textrawl.explorer.arguments import read_moment, read_name, read_number, read_types
from textrawl.explorer.graph_drawing import draw
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record
from textrawl.scheduling import run_aside
from textrawl.values.names import ENTITY_TYPES

_NODES, _MOST_NODES = 60, 500
_DEPTH, _MOST_DEPTH = 1, 4


async def show(visit: PageRequest) -> Response:
    """Draw the entities that a few relations connect with an entity.

    Without an entity, draw the entities with the most relations of all spaces.
    """
    name = read_name(visit.read("name")) if visit.read("name") else ""
    chosen = _read_choice(visit)
    [row] = await visit.call("entity_graph", Record, entity=name or None, **chosen) or [None]
    if row is None:
        return await visit.show_missing(name)
    named = {"name": row.nodes[0]["name"] if name else "", "as_of": visit.read("as_of")}
    values = named | _describe(row, chosen)
    return visit.show("graph.html", values | await run_aside(draw, row))


def _describe(row: Record, chosen: dict[str, Any]) -> dict[str, Any]:
    """Return what the page says about the graph, and what can be chosen."""
    relations: list[str] = chosen["relation_types"] or []
    return {
        "depth": chosen["depth"],
        "most": chosen["max_nodes"],
        "chosen": chosen["entity_types"] or [],
        "relations": relations,
        "all_types": ENTITY_TYPES,
        "all_relations": sorted(set(row.relations + relations)),
        "most_depth": _MOST_DEPTH,
        "most_nodes": _MOST_NODES,
        "place": row.space,
        "complete": row.complete,
        "number": len(row.edges),
    }


def _read_choice(visit: PageRequest) -> dict[str, Any]:
    """Return what to draw, as arguments of entity_graph. Raises ArgumentInvalid."""
    depth, most = visit.read("depth"), visit.read("most")
    return {
        "depth": read_number(depth, least=1, most=_MOST_DEPTH, default=_DEPTH),
        "max_nodes": read_number(most, least=2, most=_MOST_NODES, default=_NODES),
        "entity_types": read_types(*visit.read_all("type")),
        "relation_types": visit.read_all("relation") or None,
        "as_of": read_moment(visit.read("as_of")),
    }
