"""The drawing of a graph: where nodes, lines and names are."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from textrawl.explorer.graph_labels import FONT, Label, PlacedLabel, Spot, place_labels
from textrawl.explorer.graph_layout import find_communities, place_nodes
from textrawl.explorer.site import Record

_WIDTH, _HEIGHT, _SIDE = 1000, 620, 60  # units of a drawing with few nodes
_FEW = 30  # nodes; a drawing with more has a larger area, so that they keep their distances
_NARROWEST, _USUAL = 340, 1100  # pixels of a drawing on a phone, and on a page without a script
_LONGEST = 24  # characters of a name
_MOST_RELATIONS = 40  # lines with an arrow and a type: more would hide each other
_ARROW = 7  # the length of an arrow
_ALONG = (0.42, 0.55, 0.3)  # places of a type on its line, the best misses that of the way back
_COMMUNITIES, _SMALLEST = 7, 3  # communities with a shadow, and nodes of the smallest one
_SHADOW = 80  # width of the shadow of a line
_SIDES = {"below": (0, 1), "above": (0, -1), "right": (1, 0), "left": (-1, 0)}
_CORNERS = {
    f"{y} {x}": (0.7 * _SIDES[x][0], 0.7 * _SIDES[y][1])
    for y in ("below", "above")
    for x in ("right", "left")
}
_CLEAR = 100  # lines: names keep out of their way, and the corners of nodes are spots too
_HUBS = 60  # nodes whose names are more important than circles
_MOST_DAYS = 120  # of the slider


@dataclass(frozen=True)
class DrawnNode:
    """An entity in the drawing, with the number of its community."""

    name: str
    type: str
    space: str
    x: float
    y: float
    size: float
    degree: int
    community: int


@dataclass(frozen=True)
class DrawnLine:
    """The relations from one node to another one. It ends at `x` and `y`.

    `since` and `until` are the days between which one of them was valid, or empty. `community` is
    that of both ends, or -1.
    """

    start: int
    end: int
    relation: str
    x: float
    y: float
    since: str
    until: str
    community: int


def draw(row: Record) -> dict[str, Any]:
    """Return the values that the template draws."""
    edges = _join(row.edges)
    past = _join(row.past)
    growth = math.sqrt(max(len(row.nodes) / _FEW, 1))
    size = (_WIDTH * growth, _HEIGHT * growth)
    nodes = _draw_nodes(row.nodes, list(edges), size, math.sqrt(growth))
    lines = _draw_lines(edges, nodes)
    zoom = _NARROWEST / size[0]
    labels = _place(nodes, lines, zoom, size)
    return {
        "nodes": nodes,
        "lines": lines,
        "past": _draw_lines(past, nodes),
        "labels": [(key, list(each)) for key, each in groupby(labels, lambda label: label.zoom)],
        "shadows": _draw_shadows(lines, nodes),
        "shadow": round(_SHADOW * math.sqrt(growth)),
        "named": len(lines) <= _MOST_RELATIONS,
        "types": Counter(node.type for node in nodes).most_common(),
        "days": _list_days([*row.edges, *row.past]),
        "width": round(size[0]),
        "height": round(size[1]),
        "usual": _USUAL / size[0],
        "font": round(FONT * size[0] / _USUAL, 1),
    }


Joined = dict[tuple[int, int], list[dict[str, Any]]]


def _join(edges: Sequence[dict[str, Any]]) -> Joined:
    """Return the relations by their two nodes."""
    together: Joined = {}
    for edge in edges:
        together.setdefault((edge["from"], edge["to"]), []).append(edge)
    return together


def _draw_nodes(
    items: Sequence[dict[str, Any]],
    pairs: Sequence[tuple[int, int]],
    size: tuple[float, float],
    scale: float,
) -> list[DrawnNode]:
    degrees = Counter(end for pair in pairs for end in pair)
    radii = [scale * (5 + min(2 * math.sqrt(degrees[number]), 14)) for number in range(len(items))]
    groups = find_communities(len(items), pairs)
    inner = (size[0] - 2 * _SIDE, size[1] - 2 * _SIDE)
    places = place_nodes(len(items), pairs, groups, inner, radii) if items else []
    return [
        DrawnNode(
            item["name"], item["type"], item["space"], round(x + _SIDE, 1), round(y + _SIDE, 1),
            round(radii[number], 1), degrees[number], groups[number],
        )
        for number, (item, (x, y)) in enumerate(zip(items, places, strict=True))
    ]  # fmt: skip


def _draw_lines(joined: Joined, nodes: Sequence[DrawnNode]) -> list[DrawnLine]:
    gap = _ARROW if len(joined) <= _MOST_RELATIONS else None
    return [_draw_line(*ends, edges, nodes, gap) for ends, edges in joined.items()]


def _draw_line(
    number: int,
    other: int,
    edges: Sequence[dict[str, Any]],
    nodes: Sequence[DrawnNode],
    gap: float | None,
) -> DrawnLine:
    """Return a line with space for an arrow before the end node, or without it if `gap` is None."""
    start, end = nodes[number], nodes[other]
    right, down = end.x - start.x, end.y - start.y
    length = math.hypot(right, down)
    visible = 1.0 if gap is None or not length else max(length - end.size - gap, 0) / length
    ends = [edge.get("until", "") for edge in edges]
    return DrawnLine(
        number,
        other,
        ", ".join(edge["relation"] for edge in edges),
        round(start.x + right * visible, 1),
        round(start.y + down * visible, 1),
        min(edge["since"] for edge in edges),
        max(ends) if all(ends) else "",
        start.community if start.community == end.community else -1,
    )


def _draw_shadows(lines: Sequence[DrawnLine], nodes: Sequence[DrawnNode]) -> list[str]:
    """Return a path along the lines inside of each large community, if there are several."""
    members = Counter(node.community for node in nodes)
    paths: dict[int, list[str]] = {
        each: [] for each in range(_COMMUNITIES) if members[each] >= _SMALLEST
    }
    for line in lines:
        if line.community in paths:
            start, end = nodes[line.start], nodes[line.end]
            paths[line.community].append(f"M{start.x} {start.y}L{end.x} {end.y}")
    return ["".join(path) for path in paths.values()] if len(paths) > 1 else []


def _place(
    nodes: Sequence[DrawnNode],
    lines: Sequence[DrawnLine],
    zoom: float,
    size: tuple[float, float],
) -> list[PlacedLabel]:
    """Return the labels that fit: of the first node, of the best connected ones, then of lines."""
    order = sorted(range(len(nodes)), key=lambda each: (each != 0, -nodes[each].degree, each))
    ends: list[list[DrawnNode]] = [[] for _ in nodes]
    for line in lines:
        ends[line.start].append(nodes[line.end])
        ends[line.end].append(nodes[line.start])
    clear = len(lines) <= _CLEAR
    sides = _SIDES | _CORNERS if clear else _SIDES
    labels = [
        Label(shorten(nodes[n].name), _list_spots(nodes[n], ends[n], sides), n, place < _HUBS)
        for place, n in enumerate(order)
    ]
    if len(lines) <= _MOST_RELATIONS:
        labels += [Label(shorten(line.relation), _list_middles(line, nodes)) for line in lines]
    boxes = [(n.x - n.size, n.y - n.size, n.x + n.size, n.y + n.size) for n in nodes]
    circles = np.array(boxes, np.float32).reshape(-1, 4)
    runs = [(nodes[each.start].x, nodes[each.start].y, each.x, each.y) for each in lines if clear]
    paths = np.array(runs, np.float32).reshape(-1, 4)
    return sorted(place_labels(labels, circles, zoom, size, paths), key=lambda label: label.zoom)


def shorten(name: str) -> str:
    """Return a name of at most 24 characters."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _list_spots(
    node: DrawnNode, ends: Sequence[DrawnNode], sides: Mapping[str, tuple[float, float]]
) -> list[Spot]:
    """Return the spots of a name around its node, first the side that its lines leave free."""
    lengths = [(math.hypot(e.x - node.x, e.y - node.y) or 1.0, e) for e in ends]
    ways = [((e.x - node.x) / length, (e.y - node.y) / length) for length, e in lengths]
    crossed = {
        side: max((round(x * right + y * down, 1) for x, y in ways), default=0.0)
        for side, (right, down) in sides.items()
    }
    return [
        Spot(
            round(node.x + node.size * sides[side][0], 1),
            round(node.y + node.size * sides[side][1], 1),
            side,
        )
        for side in sorted(sides, key=lambda each: max(crossed[each], 0.5))
    ]


def _list_middles(line: DrawnLine, nodes: Sequence[DrawnNode]) -> list[Spot]:
    start = nodes[line.start]
    right, down = line.x - start.x, line.y - start.y
    return [
        Spot(round(start.x + share * right, 1), round(start.y + share * down, 1), "on")
        for share in _ALONG
    ]


def _list_days(edges: Sequence[dict[str, Any]]) -> list[str]:
    """Return the days on which a relation began or ended, at most 120 of them, evenly chosen."""
    days = sorted({edge[end] for edge in edges for end in ("since", "until") if edge.get(end)})
    step = max(math.ceil(len(days) / _MOST_DAYS), 1)
    return days[::-step][::-1]
