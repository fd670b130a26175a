"""A map of all facts: their vectors, projected on the two directions in which they differ most.

Facts about the same things lie together, in the colour of their type. The directions come from a
sample, and SQL projects the facts and counts them in cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
import numpy as np
import numpy.typing as npt

from textrawl.explorer.requests import PageRequest
from textrawl.explorer.site import Record

WIDTH, HEIGHT = 1000, 520  # of the drawing
_EDGE = 20
_SAMPLE = 1000  # vectors that the directions are made of
_FEWEST = 12  # facts: fewer make no picture
_ROUNDS = 16
_LABELS, _LETTER, _LINE, _LONGEST = 16, 7.5, 18, 24
_SMALLEST, _LARGEST = 3.0, 11.0  # radii

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class MapPoint:
    """A point of the drawing. `labelled` points show their name."""

    x: float
    y: float
    radius: float
    facts: int
    others: int
    name: str
    type: str
    space: str
    label_y: float
    labelled: bool


async def find_cells(visit: PageRequest) -> Sequence[Record]:
    """Return the cells of the map of all facts that the person can read, the fullest first."""
    sample = await visit.call("sample_vectors", object, max_rows=_SAMPLE)
    if len(sample) < _FEWEST:
        return []
    x, y = await anyio.to_thread.run_sync(find_directions, _stack(sample))
    return await visit.call("map_facts", Record, x=x, y=y)


def _stack(sample: Sequence[Any]) -> Vectors:
    return np.stack([vector.to_numpy() for vector in sample]).astype(np.float32)


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


async def draw_points(visit: PageRequest, cells: Sequence[Record]) -> list[MapPoint]:
    """Return the points of the drawing. Names are read now, so no forgotten entity is named."""
    if not cells:
        return []
    homes, ids = [cell.space_id for cell in cells], [cell.entity_id for cell in cells]
    rows = await visit.call("entity_names", Record, homes=homes, ids=ids)
    names = {(row.space_id, row.id): row for row in rows}
    most = max(cell.facts for cell in cells)
    taken: list[tuple[float, float, float]] = []
    seen = set[str]()
    points: list[MapPoint] = []
    for cell in cells:
        row = names.get((cell.space_id, cell.entity_id))
        if row is not None:
            points.append(_draw(cell, row, most, taken, seen))
    return points


def _draw(
    cell: Record,
    row: Record,
    most: int,
    taken: list[tuple[float, float, float]],
    seen: set[str],
) -> MapPoint:
    x = round(WIDTH / 2 + cell.at_x * (WIDTH / 2 - _EDGE), 1)
    y = round(HEIGHT / 2 - cell.at_y * (HEIGHT / 2 - _EDGE), 1)
    radius = _SMALLEST + (_LARGEST - _SMALLEST) * (cell.facts / most) ** 0.5
    label_y = _place_label(y, radius)
    half = _LETTER * min(len(row.name), _LONGEST) / 2
    free = all(abs(x - a) > half + b or abs(label_y - c) > _LINE for a, b, c in taken)
    labelled = free and len(taken) < _LABELS and row.name not in seen and half < x < WIDTH - half
    if labelled:
        taken.append((x, half, label_y))
        seen.add(row.name)
    return MapPoint(
        x=x,
        y=y,
        radius=round(radius, 1),
        facts=cell.facts,
        others=cell.entities - 1,
        name=row.name,
        type=row.entity_type,
        space=row.space,
        label_y=label_y,
        labelled=labelled,
    )


def _place_label(y: float, radius: float) -> float:
    """Return the base line of a label: above its point, or below a point at the upper edge."""
    above = y - radius - 3
    return round(above if above > _LINE else y + radius + _LINE - 4, 1)
