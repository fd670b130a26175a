"""Drawings: the graph around an entity or of the best connected ones, and a map of all facts.

In the map, facts about the same things lie together, in the colour of their type: their vectors are
projected on the two directions in which they differ most. The directions come from a sample, and
SQL projects the facts and counts them in cells.
"""

from collections.abc import Sequence
from typing import Any

import anyio.to_thread
import numpy as np
import numpy.typing as npt
from starlette.responses import Response

from textrawl.explorer.arguments import read_moment, read_name, read_number, read_types
from textrawl.explorer.graph_drawing import (
    Label,
    PlacedLabel,
    Spot,
    draw,
    find_way,
    keep_near,
    place_labels,
    shorten,
)
from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record
from textrawl.scheduling import run_aside
from textrawl.values.names import ENTITY_TYPES
from textrawl.values.text import clean_name

_NODES, _MOST_NODES = 60, 500
_DEPTH, _MOST_DEPTH = 1, 4


async def show_graph(visit: PageRequest) -> Response:
    """Draw the entities that a few relations connect with an entity.

    Without an entity, draw the entities with the most relations of all spaces. With another
    entity, draw the shortest way to it, and what is connected with this way.
    """
    name = read_name(visit.read("name")) if visit.read("name") else ""
    other = read_name(visit.read("other"), "other") if name and visit.read("other") else ""
    chosen = _read_choice(visit)
    wide = {"depth": _MOST_DEPTH, "max_nodes": _MOST_NODES} if other else {}
    asked = {"entity": name or None, **chosen, **wide}
    [row] = await visit.call("entity_graph", Record, **asked) or [None]
    if row is None:
        return await visit.show_missing(name)
    if other:  # by any of its names
        names = {place.space: place.name for place in await visit.find_places(other)}
        other = names.get(row.space, other)
    named = {"other": other, "searched_all": row.complete, "as_of": visit.read("as_of")}
    way = find_way(row, other) if other else []
    row = keep_near(row, way or [0], chosen["max_nodes"]) if other else row
    named["name"] = row.nodes[0]["name"] if name else ""
    named["way"] = [node["name"] for node in row.nodes[: len(way)]]
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
    relations = [name for word in visit.read_all("relation") if (name := clean_name(word))]
    return {
        "depth": read_number(depth, least=1, most=_MOST_DEPTH, default=_DEPTH),
        "max_nodes": read_number(most, least=2, most=_MOST_NODES, default=_NODES),
        "entity_types": read_types(*visit.read_all("type")),
        "relation_types": relations or None,
        "as_of": read_moment(visit.read("as_of")),
    }


WIDTH, HEIGHT = 1000, 520  # of the drawing
_MARGIN = 20
_SAMPLE = 1000  # vectors that the directions are made of
_FEWEST = 12  # facts: fewer make no picture
_ROUNDS = 16
_LABELS = 16
_SMALLEST, _LARGEST = 3.0, 11.0  # radii

Vectors = npt.NDArray[np.float32]


async def find_cells(visit: PageRequest) -> Sequence[Record]:
    """Return the cells of the map of all facts that the person can read, the fullest first."""
    sample: list[Any] = await visit.call("sample_vectors", object, max_rows=_SAMPLE)
    if len(sample) < _FEWEST:
        return []
    vectors = np.stack([vector.to_numpy() for vector in sample]).astype(np.float32)
    x, y = await anyio.to_thread.run_sync(find_directions, vectors)
    return await visit.call("map_facts", Record, x=x, y=y)


def find_directions(vectors: Vectors) -> tuple[Vectors, Vectors]:
    """Return the first two principal components, by power iteration of a block.

    The block begins the same each time, and the largest number of a component is positive. So the
    map of a memory that changed a little looks almost the same.
    """
    centred = vectors - vectors.mean(axis=0)
    block = np.random.default_rng(0).standard_normal((vectors.shape[1], 3)).astype(np.float32)
    for _ in range(_ROUNDS):
        block = np.linalg.qr(centred.T @ (centred @ block))[0].astype(np.float32)
    # The columns of the block are the components only up to their order.
    order = np.argsort(-np.square(centred @ block).sum(axis=0))
    first, second = (block[:, order[number]] for number in (0, 1))
    return _point(first), _point(second)


def _point(component: Vectors) -> Vectors:
    largest = component[np.argmax(np.abs(component))]
    return component if largest > 0 else -component


async def draw_map(visit: PageRequest, cells: Sequence[Record]) -> dict[str, Any]:
    """Return the points of the drawing and their labels, as the template draws them.

    Names are read now, so no forgotten entity is named.
    """
    homes, ids = [cell.space_id for cell in cells], [cell.entity_id for cell in cells]
    rows = await visit.call("entity_names", Record, homes=homes, ids=ids) if cells else []
    names = {(row.space_id, row.id): row for row in rows}
    most = max((cell.facts for cell in cells), default=1)
    points = [
        _draw_cell(cell, names[cell.space_id, cell.entity_id], most)
        for cell in cells
        if (cell.space_id, cell.entity_id) in names
    ]
    labels = _place_labels(choose_fullest(points[: 3 * _LABELS]))
    return {"points": points, "labels": labels, "map_size": (WIDTH, HEIGHT)}


def choose_fullest(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first point of each name. The fullest points come first."""
    fullest = dict[str, dict[str, Any]]()
    for point in points:
        fullest.setdefault(point["name"], point)
    return list(fullest.values())


def _draw_cell(cell: Record, row: Record, most: int) -> dict[str, Any]:
    return {
        "x": round(WIDTH / 2 + cell.at_x * (WIDTH / 2 - _MARGIN), 1),
        "y": round(HEIGHT / 2 - cell.at_y * (HEIGHT / 2 - _MARGIN), 1),
        "radius": round(_SMALLEST + (_LARGEST - _SMALLEST) * (cell.facts / most) ** 0.5, 1),
        "facts": cell.facts,
        "others": cell.entities - 1,
        "name": row.name,
        "type": row.entity_type,
        "space": row.space,
    }


def _place_labels(points: Sequence[dict[str, Any]]) -> list[PlacedLabel]:
    """Return the labels that fit, of the fullest points, above them or below."""
    places = [(point["x"], point["y"], point["radius"]) for point in points]
    labels = [
        Label(
            shorten(point["name"]),
            [Spot(x, y - r, "above"), Spot(x, y + r, "below")],
            each,
            important=True,
        )
        for each, (point, (x, y, r)) in enumerate(zip(points, places, strict=True))
    ]
    circles = np.array([(x - r, y - r, x + r, y + r) for x, y, r in places], np.float32)
    placed = place_labels(labels, circles, 1.0, (WIDTH, HEIGHT))
    return [label for label in placed if label.zoom == 1][:_LABELS]
