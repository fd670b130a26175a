"""The graph around an entity, drawn as SVG on the server."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from textrawl.explorer.arguments import read_moment, read_name, read_number, read_types
from textrawl.explorer.graph_layout import place_nodes
from textrawl.explorer.missing_page import show_missing
from textrawl.explorer.rows import GraphRow
from textrawl.explorer.visits import Visit
from textrawl.scheduling.workers import run_aside
from textrawl.values.entity_type import ENTITY_TYPES

_WIDTH, _HEIGHT, _SIDE, _EDGE = 1000, 640, 90, 40
_NODES, _MOST_NODES = 60, 500
_DEPTH, _MOST_DEPTH = 1, 4
_MOST_LABELS = 60  # nodes with a visible name: the nearest and the most connected


@dataclass(frozen=True)
class Node:
    """An entity in the drawing. `labelled` is false if its name is only shown on demand."""

    name: str
    type: str
    depth: int
    x: float
    y: float
    size: float
    labelled: bool


@dataclass(frozen=True)
class Line:
    """A relation in the drawing, between the two nodes."""

    start: Node
    end: Node
    relation: str


async def show(visit: Visit) -> Response:
    """Draw the entities that a few relations connect with an entity."""
    visit.principal.require("read")
    name, as_of = read_name(visit.read("name")), read_moment(visit.read("as_of"))
    depth = read_number(visit.read("depth"), least=1, most=_MOST_DEPTH, default=_DEPTH)
    most = read_number(visit.read("most"), least=2, most=_MOST_NODES, default=_NODES)
    arguments = {
        "entity": name,
        "depth": depth,
        "max_nodes": most,
        "entity_types": read_types(visit.read("type")),
        "as_of": as_of,
    }
    rows = await visit.site.store.database.call(
        "entity_graph", GraphRow, **arguments, **visit.caller.reading
    )
    if not rows:
        return await show_missing(visit, name)
    given = {name: visit.read(name) for name in ("type", "as_of", "space")}
    values = {"depth": depth, "most": most, **given, **await run_aside(_draw, rows[0])}
    return visit.show("graph.html", values)


def _draw(row: GraphRow) -> dict[str, Any]:
    """Return the values that the template draws."""
    pairs = [(edge["from"], edge["to"]) for edge in row.edges]
    degrees = [0] * len(row.nodes)
    for pair in pairs:
        for end in pair:
            degrees[end] += 1
    places = place_nodes(len(row.nodes), pairs)
    order = sorted(range(len(row.nodes)), key=lambda each: (each != 0, -degrees[each], each))
    labelled = set(order[:_MOST_LABELS])
    nodes = [
        _draw_node(item, places[number], degrees[number], labelled=number in labelled)
        for number, item in enumerate(row.nodes)
    ]
    return {
        "nodes": nodes,
        "lines": _draw_lines(row.edges, nodes),
        "complete": row.complete,
        "place": row.space,
        "width": _WIDTH,
        "height": _HEIGHT,
        "most_depth": _MOST_DEPTH,
        "most_nodes": _MOST_NODES,
        "types": ENTITY_TYPES,
    }


def _draw_node(
    item: dict[str, Any], place: tuple[float, float], degree: int, *, labelled: bool
) -> Node:
    x = _SIDE + place[0] * (_WIDTH - 2 * _SIDE)
    y = _EDGE + place[1] * (_HEIGHT - 2 * _EDGE)
    size = round(min(6 + degree, 16), 1)
    return Node(item["name"], item["type"], item["depth"], round(x, 1), round(y, 1), size, labelled)


def _draw_lines(edges: Sequence[dict[str, Any]], nodes: Sequence[Node]) -> list[Line]:
    return [
        Line(nodes[int(edge["from"])], nodes[int(edge["to"])], str(edge["relation"]))
        for edge in edges
    ]
