"""The places of nodes in a drawing: connected nodes attract each other, and all others repel."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_FEWEST, _MOST, _WORK = 40, 150, 20_000  # steps, and steps times nodes
_CLOSEST = 1e-3

Places = npt.NDArray[np.float32]


def place_nodes(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return a place for each node, both numbers from 0 to 1. Equal graphs have equal drawings.

    The method is that of Fruchterman and Reingold (1991). Its cost grows with the square of the
    number of nodes: 500 nodes take some 0.1 seconds.
    """
    angles = np.arange(count) * 2.399963  # the golden angle, so that no two nodes are on a line
    radii = np.sqrt((np.arange(count) + 0.5) / count) / 2
    places = (radii * np.array([np.cos(angles), np.sin(angles)])).T.astype(np.float32)
    joined = np.zeros((count, count), np.float32)
    for first, second in edges:
        if first != second:
            joined[first, second] = joined[second, first] = 1
    steps = min(max(_WORK // count, _FEWEST), _MOST)
    for step in range(steps):
        places += _move(places, joined, heat=0.1 * (1 - step / steps))
    return _scale(places)


def _move(places: Places, joined: Places, *, heat: float) -> Places:
    """Return how far each node moves in one step, at most `heat`."""
    spacing = 1 / math.sqrt(len(places))
    x, y = places.T
    right, down = x[:, None] - x, y[:, None] - y
    square = np.maximum(right * right + down * down, _CLOSEST**2)
    force = spacing**2 / square - joined * np.sqrt(square) / spacing
    shift = np.stack([(force * right).sum(axis=1), (force * down).sum(axis=1)], axis=1)
    length = np.maximum(np.sqrt((shift**2).sum(axis=1, keepdims=True)), _CLOSEST)
    return (shift / length * np.minimum(length, heat)).astype(np.float32)


def _scale(places: Places) -> list[tuple[float, float]]:
    least = places.min(axis=0)
    size = np.maximum(places.max(axis=0) - least, _CLOSEST)
    return [(float(x), float(y)) for x, y in (places - least) / size]
