"""The drawing of a graph: where nodes, lines and names are.

Connected nodes attract each other, and all others repel. The layout is our own after a second look
at libraries. Cytoscape (136 kB compressed) and Sigma (103 kB) are larger than a whole page may be,
and draw on a canvas, without links for people without a script or with a screen reader. For Python,
igraph has the GPL, networkx needs 0.3 seconds for 493 entities and 0.3 to load, and rustworkx needs
7 MB for these lines and finds no communities.

A label keeps its size on the screen, so a closer look has space for more of them. A label that fits
at a zoom also fits at every closer one, because its box only shrinks towards its anchor.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from textrawl.explorer.site import Record

FONT = 13.0  # pixels on the screen
_LINE = 1.35  # height of a line, in font sizes
_GAP = 0.35  # between a label and its anchor, in font sizes
_STEP = 1.5  # from one zoom to the next one
_CLOSEST_ZOOM = 6.0  # pixels of a unit of the drawing, at the closest zoom
_PICTURES = 0x1F000  # emoji and other pictures come after this character
_NARROW, _WIDE = "iljtfrI.,:;'|!()[]-· ", "mwMW@%&—…"

Boxes = npt.NDArray[np.floating]
"""Left, top, right and bottom of each box."""


@dataclass(frozen=True)
class Spot:
    """A place for a label: an anchor in the drawing, and the side of the anchor."""

    x: float
    y: float
    side: str  # below, above, right, left, a corner such as "below right", or on


@dataclass(frozen=True)
class Label:
    """A text and its possible spots, the best first. `owner` is the node that the text names.

    An important label also covers circles of other nodes.
    """

    text: str
    spots: Sequence[Spot]
    owner: int | None = None
    important: bool = False


@dataclass(frozen=True)
class PlacedLabel:
    """A label with its spot, and the zoom from which on it is shown, in pixels of a unit."""

    text: str
    spot: Spot
    zoom: float
    owner: int | None


def measure(text: str) -> float:
    """Return an upper estimate of the width of a text, in font sizes."""
    return sum(map(_measure_character, text))


def _measure_character(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF" or ord(character) > _PICTURES:
        return 1.4
    if character in _NARROW:
        return 0.4
    return 0.9 if character in _WIDE else 0.74 if character.isupper() else 0.6


_NO_LINES: Boxes = np.zeros((0, 4))


def place_labels(
    labels: Sequence[Label],
    nodes: Boxes,
    zoom: float,
    edges: tuple[float, float],
    lines: Boxes = _NO_LINES,
) -> list[PlacedLabel]:
    """Return the labels that fit, at `zoom` or closer. Earlier labels have precedence.

    A label takes the spot that the fewest `lines` cross, each with its two ends. `nodes` has the
    boxes of the circles. `edges` are the right and the lower edge of the drawing.
    """
    spots = [(number, spot) for number, each in enumerate(labels) for spot in each.spots]
    shapes, numbers = _shape(labels, spots), np.array([number for number, _ in spots], np.intp)
    anchors = np.array([(s.x, s.y, s.x, s.y) for _, s in spots], np.float32).reshape(-1, 4)
    owners = np.array([-1 if (own := labels[n].owner) is None else own for n, _ in spots], np.intp)
    important = np.array([labels[n].important for n, _ in spots], bool)
    placed: dict[int, PlacedLabel] = {}
    taken: list[int] = []
    while zoom <= _CLOSEST_ZOOM and len(placed) < len(labels):
        boxes = anchors + shapes / np.float32(zoom)
        hits = _overlap(boxes, nodes)
        hits[np.arange(len(spots)), owners] &= owners < 0
        free = (important | ~hits.any(axis=1)) & ~_overlap(boxes, boxes[taken]).any(axis=1)
        free &= (boxes[:, 0] > 0) & (boxes[:, 2] < edges[0]) & (boxes[:, 3] < edges[1])
        free &= ~np.isin(numbers, list(placed))
        crossed = _count_crossings(boxes, lines) if len(lines) else np.zeros_like(numbers)
        order = np.argsort(numbers * (len(lines) + 1) + crossed, kind="stable")
        for index in _choose(order[free[order]], free, numbers, boxes):
            taken.append(index)
            number, spot = spots[index]
            label = labels[number]
            placed[number] = PlacedLabel(label.text, spot, round(zoom, 3), label.owner)
        zoom *= _STEP
    return [placed[number] for number in sorted(placed)]


def _choose(
    order: npt.NDArray[np.intp],
    free: npt.NDArray[np.bool_],
    numbers: npt.NDArray[np.intp],
    boxes: Boxes,
) -> list[int]:
    """Return free spots that do not overlap each other, at most one of each label, in an order."""
    chosen: list[int] = []
    for index in map(int, order):
        if free[index]:
            free &= (numbers != numbers[index]) & ~_overlap(boxes, boxes[[index]])[:, 0]
            chosen.append(index)
    return chosen


def _shape(labels: Sequence[Label], spots: Sequence[tuple[int, Spot]]) -> Boxes:
    """Return the box of each spot around its anchor, in pixels, with the gap to the anchor."""
    height, gap = FONT * _LINE, FONT * _GAP
    shapes: list[tuple[float, float, float, float]] = []
    for number, spot in spots:
        width = FONT * measure(labels[number].text) + gap
        beside = gap if spot.side in ("left", "right") else 0.0
        left = -width / 2
        if spot.side.endswith(("left", "right")):
            left = 0.0 if spot.side.endswith("right") else -width - beside
        top = {"below": 0.0, "above": -height}.get(spot.side.split()[0], -height / 2)
        right = left + width + beside
        shapes.append((left, top, right, top + height))
    return np.array(shapes, np.float32).reshape(-1, 4)


def _count_crossings(boxes: Boxes, lines: Boxes) -> npt.NDArray[np.intp]:
    """Return how many lines run through each box."""
    left, top, right, bottom = (boxes[:, None, side] for side in range(4))
    start_x, start_y, end_x, end_y = lines.T
    near = (np.minimum(start_x, end_x) < right) & (np.maximum(start_x, end_x) > left)
    near &= (np.minimum(start_y, end_y) < bottom) & (np.maximum(start_y, end_y) > top)
    run, fall = end_x - start_x, end_y - start_y
    upper, lower = run * (top - start_y), run * (bottom - start_y)
    first, second = fall * (left - start_x), fall * (right - start_x)
    # The corners of a box are on both sides of a line that runs through it.
    near &= np.minimum(upper, lower) < np.maximum(first, second)
    near &= np.maximum(upper, lower) > np.minimum(first, second)
    return near.sum(axis=1)


def _overlap(some: Boxes, others: Boxes) -> npt.NDArray[np.bool_]:
    """Return for each box of `some` and each of `others` whether they overlap."""
    left, top, right, bottom = (some[:, None, side] for side in range(4))
    beside = (right <= others[None, :, 0]) | (left >= others[None, :, 2])
    return ~(beside | (bottom <= others[None, :, 1]) | (top >= others[None, :, 3]))


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
        "groups": name_groups(nodes),
        "shadow": round(_SHADOW * math.sqrt(growth)),
        "named": len(lines) <= _MOST_RELATIONS,
        "types": Counter(node.type for node in nodes).most_common(),
        "days": _list_days([*row.edges, *row.past]),
        "width": round(size[0]),
        "height": round(size[1]),
        "usual": _USUAL / size[0],
        "font": round(FONT * size[0] / _USUAL, 1),
    }


def find_way(row: Record, other: str) -> list[int]:
    """Return the nodes of a shortest way from the first node to `other`, or none."""
    near = [list[int]() for _ in row.nodes]
    for edge in row.edges:
        one, two = int(edge["from"]), int(edge["to"])
        near[one].append(two)
        near[two].append(one)
    ways, reached = [[0]], {0}
    for way in ways:
        if row.nodes[way[-1]]["name"] == other:
            return way
        ways += [[*way, node] for node in dict.fromkeys(near[way[-1]]) if node not in reached]
        reached.update(near[way[-1]])
    return []


def keep_near(row: Record, way: Sequence[int], most: int) -> Record:
    """Return the graph with the nodes of a way first, and at most `most` with their neighbours."""
    ends = [(edge["from"], edge["to"]) for edge in row.edges]
    beside = [end for pair in ends if not {*pair}.isdisjoint(way) for end in pair]
    kept = list(dict.fromkeys([*way, *beside]))[: max(most, len(way))]
    places = {node: place for place, node in enumerate(kept)}

    def move(edges: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            edge | {"from": places[edge["from"]], "to": places[edge["to"]]}
            for edge in edges
            if edge["from"] in places and edge["to"] in places
        ]

    nodes = [row.nodes[node] for node in kept]
    given = vars(row) | {"nodes": nodes, "edges": move(row.edges), "past": move(row.past)}
    return Record(**given | {"complete": row.complete and len(kept) == len(row.nodes)})


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
    positions = place_nodes(len(items), pairs, groups, inner, radii) if items else []
    return [
        DrawnNode(
            item["name"], item["type"], item["space"], round(x + _SIDE, 1), round(y + _SIDE, 1),
            round(radii[number], 1), degrees[number], groups[number],
        )
        for number, (item, (x, y)) in enumerate(zip(items, positions, strict=True))
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


def name_groups(nodes: Sequence[DrawnNode]) -> list[tuple[str, int]]:
    """Return a name of each large community, of its two best connected nodes, and its size."""
    groups = [[node for node in nodes if node.community == each] for each in range(_COMMUNITIES)]
    return [
        (" and ".join(each.name for each in sorted(group, key=lambda n: -n.degree)[:2]), len(group))
        for group in groups
        if len(group) >= _SMALLEST
    ]


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
        Label(shorten(nodes[n].name), _list_spots(nodes[n], ends[n], sides), n, rank < _HUBS)
        for rank, n in enumerate(order)
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


_FEWEST, _MOST, _WORK = 40, 150, 20_000  # steps, and steps times nodes
_CLOSEST = 1e-3
_GRAVITY = 0.6  # pulls parts without a connection to the middle, which would fly apart otherwise
_COHESION = 0.8  # pulls a node to the middle of its community
_EVEN = 0.5  # share of the rank of a coordinate, which spreads crowds
_ROUNDS = 12  # of moving apart nodes that overlap
_TURNS = 20  # of the search for communities

Positions = npt.NDArray[np.float32]
Ends = npt.NDArray[np.intp]


def find_communities(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the number of the community of each node, the largest community first, from 0.

    A node joins the community of most of its neighbours, until nobody moves (label propagation by
    Raghavan, Albert and Kumara, 2007).
    """
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for start, end in edges:
        if start != end:
            neighbours[start].append(end)
            neighbours[end].append(start)
    labels = list(range(count))
    order = sorted((node for node in labels if neighbours[node]), key=lambda n: len(neighbours[n]))
    for _ in range(_TURNS):
        before = list(labels)
        for node in order:
            votes = Counter(labels[other] for other in neighbours[node])
            own = labels[node]
            labels[node] = max(votes, key=lambda each: (votes[each], each == own, -each))
        if labels == before:
            break
    ranks = {label: rank for rank, (label, _) in enumerate(Counter(labels).most_common())}
    return [ranks[label] for label in labels]


def place_nodes(
    count: int,
    edges: Sequence[tuple[int, int]],
    communities: Sequence[int],
    size: tuple[float, float],
    radii: Sequence[float],
) -> list[tuple[float, float]]:
    """Return a place for each node in a box of this size. Equal graphs have equal drawings.

    The method is that of Fruchterman and Reingold (1991). Its cost grows with the square of the
    number of nodes: 500 nodes take some 80 milliseconds.
    """
    angles = np.arange(count) * 2.399963  # the golden angle, so that no two nodes are on a line
    distances = np.sqrt((np.arange(count) + 0.5) / count) / 2
    positions = (distances * np.array([np.cos(angles), np.sin(angles)])).T.astype(np.float32)
    pairs = sorted({(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]})
    ends = np.array(pairs, np.intp).reshape(-1, 2).T
    groups = np.array(communities, np.intp)
    steps = min(max(_WORK // max(count, 1), _FEWEST), _MOST)
    for step in range(steps):
        positions += _move(positions, ends, groups, heat=0.1 * (1 - step / steps))
    spread = (_scale(positions) * np.array(size)).astype(np.float32)
    return [(float(x), float(y)) for x, y in _part(spread, np.array(radii, np.float32), size)]


def _move(positions: Positions, ends: Ends, groups: Ends, *, heat: float) -> Positions:
    """Return how far each node moves in one step, at most `heat`."""
    spacing = 1 / math.sqrt(len(positions))
    shift = _repel(positions, spacing)
    pull = positions[ends[0]] - positions[ends[1]]
    pull *= np.sqrt((pull**2).sum(axis=1, keepdims=True)) / spacing
    np.subtract.at(shift, ends[0], pull)
    np.add.at(shift, ends[1], pull)
    sizes = np.bincount(groups)[:, None]
    middles = np.array([np.bincount(groups, axis) for axis in positions.T]).T / np.maximum(sizes, 1)
    shift += _COHESION * (middles[groups] - positions) - _GRAVITY * positions
    length = np.maximum(np.sqrt((shift**2).sum(axis=1, keepdims=True)), _CLOSEST)
    return (shift / length * np.minimum(length, heat)).astype(np.float32)


def _repel(positions: Positions, spacing: float) -> Positions:
    """Return the sum of the forces of all other nodes on each node.

    The matrix of all pairs is changed in place, because making a new one takes longer.
    """
    force = _square_distances(positions)
    np.maximum(force, _CLOSEST**2, out=force)
    np.divide(spacing**2, force, out=force)
    np.fill_diagonal(force, 0)
    return _sum_shifts(force, positions)


def _scale(positions: Positions) -> Positions:
    """Return places from 0 to 1, with crowds spread out."""
    least = positions.min(axis=0)
    scaled = (positions - least) / np.maximum(positions.max(axis=0) - least, _CLOSEST)
    ranks = positions.argsort(axis=0).argsort(axis=0) / max(len(positions) - 1, 1)
    return (1 - _EVEN) * scaled + _EVEN * ranks


def _part(positions: Positions, radii: Positions, size: tuple[float, float]) -> Positions:
    """Move nodes apart that overlap, inside of the box."""
    needed = np.add.outer(radii, radii) + radii.max()
    least, most = radii[:, None], np.array(size, np.float32) - radii[:, None]
    for _ in range(_ROUNDS):
        distance = np.maximum(np.sqrt(_square_distances(positions)), _CLOSEST)
        push = np.maximum(needed - distance, 0)
        np.fill_diagonal(push, 0)
        if not push.any():
            break
        push /= 3 * distance
        positions = np.clip(positions + _sum_shifts(push, positions), least, most)
    return positions


def _square_distances(positions: Positions) -> Positions:
    x, y = positions.T
    square, down = np.subtract.outer(x, x), np.subtract.outer(y, y)
    square *= square
    down *= down
    square += down
    return square


def _sum_shifts(force: Positions, positions: Positions) -> Positions:
    """Return the sum of the forces of all other nodes on each node, away from them."""
    return force.sum(axis=1, keepdims=True) * positions - force @ positions
