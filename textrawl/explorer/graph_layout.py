"""The places of nodes in a drawing: connected nodes attract each other, and all others repel."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_FEWEST, _MOST, _WORK = 40, 150, 20_000  # steps, and steps times nodes
_CLOSEST = 1e-3

Places = npt.NDArray[np.float32]
Ends = npt.NDArray[np.intp]


def place_nodes(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return a place for each node, both numbers from 0 to 1. Equal graphs have equal drawings.

    The method is that of Fruchterman and Reingold (1991). Its cost grows with the square of the
    number of nodes: 500 nodes take some 40 milliseconds.
    """
    angles = np.arange(count) * 2.399963  # the golden angle, so that no two nodes are on a line
    radii = np.sqrt((np.arange(count) + 0.5) / count) / 2
    places = (radii * np.array([np.cos(angles), np.sin(angles)])).T.astype(np.float32)
    pairs = sorted({(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]})
    ends = np.array(pairs, np.intp).reshape(-1, 2).T
    steps = min(max(_WORK // count, _FEWEST), _MOST)
    for step in range(steps):
        places += _move(places, ends, heat=0.1 * (1 - step / steps))
    return _scale(places)


def _move(places: Places, ends: Ends, *, heat: float) -> Places:
    """Return how far each node moves in one step, at most `heat`."""
    spacing = 1 / math.sqrt(len(places))
    shift = _repel(places, spacing)
    pull = places[ends[0]] - places[ends[1]]
    pull *= np.sqrt((pull**2).sum(axis=1, keepdims=True)) / spacing
    np.subtract.at(shift, ends[0], pull)
    np.add.at(shift, ends[1], pull)
    length = np.maximum(np.sqrt((shift**2).sum(axis=1, keepdims=True)), _CLOSEST)
    return (shift / length * np.minimum(length, heat)).astype(np.float32)


def _repel(places: Places, spacing: float) -> Places:
    """Return the sum of the forces of all other nodes on each node.

    The matrix of all pairs is changed in place, because making a new one takes longer.
    """
    x, y = places.T
    force, down = np.subtract.outer(x, x), np.subtract.outer(y, y)
    force *= force
    down *= down
    force += down
    np.maximum(force, _CLOSEST**2, out=force)
    np.divide(spacing**2, force, out=force)
    np.fill_diagonal(force, 0)
    return force.sum(axis=1, keepdims=True) * places - force @ places


def _scale(places: Places) -> list[tuple[float, float]]:
    least = places.min(axis=0)
    size = np.maximum(places.max(axis=0) - least, _CLOSEST)
    return [(float(x), float(y)) for x, y in (places - least) / size]
