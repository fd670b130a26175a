"""The drawing of a graph: where nodes, lines and names are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textrawl.explorer.graph_layout import place_nodes
from textrawl.explorer.site import EntityGraphRow

_WIDTH, _HEIGHT, _SIDE, _EDGE = 1000, 640, 90, 40
_MOST_NAMES = 60  # nodes with a visible name: the nearest and the most connected
_MOST_RELATIONS = 40  # lines with a visible type and an arrow: more would hide each other
_NEAR_START = 0.42  # the place of the type on its line, so that it misses the type of the way back
_ARROW = 7  # the length of an arrow


@dataclass(frozen=True)
class DrawnNode:
    """An entity in the drawing. `labelled` is false if its name is only shown on demand."""

    name: str
    type: str
    x: float
    y: float
    size: float
    labelled: bool


@dataclass(frozen=True)
class DrawnLine:
    """The relations from one node to another one. It ends at `x` and `y`.

    The names of the relations are at `label_x` and `label_y`.
    """

    start: DrawnNode
    end: DrawnNode
    relation: str
    x: float
    y: float
    label_x: float
    label_y: float


def draw(row: EntityGraphRow) -> dict[str, Any]:
    """Return the values that the template draws."""
    pairs = [(edge["from"], edge["to"]) for edge in row.edges]
    degrees = [0] * len(row.nodes)
    for pair in pairs:
        for end in pair:
            degrees[end] += 1
    places = place_nodes(len(row.nodes), pairs)
    order = sorted(range(len(row.nodes)), key=lambda each: (each != 0, -degrees[each], each))
    labelled = set(order[:_MOST_NAMES])
    nodes = [
        _draw_node(item, places[number], degrees[number], labelled=number in labelled)
        for number, item in enumerate(row.nodes)
    ]
    lines = _draw_lines(row.edges, nodes)
    return {
        "nodes": nodes,
        "lines": lines,
        "named": len(lines) <= _MOST_RELATIONS,
        "width": _WIDTH,
        "height": _HEIGHT,
    }


def _draw_node(
    item: dict[str, Any], place: tuple[float, float], degree: int, *, labelled: bool
) -> DrawnNode:
    x = _SIDE + place[0] * (_WIDTH - 2 * _SIDE)
    y = _EDGE + place[1] * (_HEIGHT - 2 * _EDGE)
    return DrawnNode(
        item["name"], item["type"], round(x, 1), round(y, 1), min(6 + degree, 16), labelled
    )


def _draw_lines(edges: Sequence[dict[str, Any]], nodes: Sequence[DrawnNode]) -> list[DrawnLine]:
    together: dict[tuple[int, int], list[str]] = {}
    for edge in edges:
        together.setdefault((edge["from"], edge["to"]), []).append(edge["relation"])
    gap = _ARROW if len(together) <= _MOST_RELATIONS else None
    return [
        _draw_line(nodes[start], nodes[end], ", ".join(relations), gap)
        for (start, end), relations in together.items()
    ]


def _draw_line(start: DrawnNode, end: DrawnNode, relation: str, gap: float | None) -> DrawnLine:
    """Return a line with space for an arrow before the end node, or without it if `gap` is None."""
    right, down = end.x - start.x, end.y - start.y
    length = math.hypot(right, down)
    visible = 1.0 if gap is None or not length else max(length - end.size - gap, 0) / length
    return DrawnLine(
        start,
        end,
        relation,
        round(start.x + right * visible, 1),
        round(start.y + down * visible, 1),
        round(start.x + right * _NEAR_START, 1),
        round(start.y + down * _NEAR_START, 1),
    )
