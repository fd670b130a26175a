"""The places of nodes in a drawing: connected nodes attract each other, and all others repel.

The layout is our own after a second look at libraries. Cytoscape (136 kB compressed) and Sigma (103
kB) are larger than a whole page may be, and draw on a canvas, without links for people without a
script or with a screen reader. For Python, igraph has the GPL, networkx needs 0.3 seconds for 493
entities and 0.3 to load, and rustworkx needs 7 MB for these lines and finds no communities.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_FEWEST, _MOST, _WORK = 40, 150, 20_000  # steps, and steps times nodes
_CLOSEST = 1e-3
_GRAVITY = 0.6  # pulls parts without a connection to the middle, which would fly apart otherwise
_COHESION = 0.8  # pulls a node to the middle of its community
_EVEN = 0.5  # share of the rank of a coordinate, which spreads crowds
_ROUNDS = 12  # of moving apart nodes that overlap
_TURNS = 20  # of the search for communities

Places = npt.NDArray[np.float32]
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
    places = (distances * np.array([np.cos(angles), np.sin(angles)])).T.astype(np.float32)
    pairs = sorted({(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]})
    ends = np.array(pairs, np.intp).reshape(-1, 2).T
    groups = np.array(communities, np.intp)
    steps = min(max(_WORK // max(count, 1), _FEWEST), _MOST)
    for step in range(steps):
        places += _move(places, ends, groups, heat=0.1 * (1 - step / steps))
    spread = (_scale(places) * np.array(size)).astype(np.float32)
    return [(float(x), float(y)) for x, y in _part(spread, np.array(radii, np.float32), size)]


def _move(places: Places, ends: Ends, groups: Ends, *, heat: float) -> Places:
    """Return how far each node moves in one step, at most `heat`."""
    spacing = 1 / math.sqrt(len(places))
    shift = _repel(places, spacing)
    pull = places[ends[0]] - places[ends[1]]
    pull *= np.sqrt((pull**2).sum(axis=1, keepdims=True)) / spacing
    np.subtract.at(shift, ends[0], pull)
    np.add.at(shift, ends[1], pull)
    sizes = np.bincount(groups)[:, None]
    middles = np.array([np.bincount(groups, axis) for axis in places.T]).T / np.maximum(sizes, 1)
    shift += _COHESION * (middles[groups] - places) - _GRAVITY * places
    length = np.maximum(np.sqrt((shift**2).sum(axis=1, keepdims=True)), _CLOSEST)
    return (shift / length * np.minimum(length, heat)).astype(np.float32)


def _repel(places: Places, spacing: float) -> Places:
    """Return the sum of the forces of all other nodes on each node.

    The matrix of all pairs is changed in place, because making a new one takes longer.
    """
    force = _square_distances(places)
    np.maximum(force, _CLOSEST**2, out=force)
    np.divide(spacing**2, force, out=force)
    np.fill_diagonal(force, 0)
    return _sum_shifts(force, places)


def _scale(places: Places) -> Places:
    """Return places from 0 to 1, with crowds spread out."""
    least = places.min(axis=0)
    scaled = (places - least) / np.maximum(places.max(axis=0) - least, _CLOSEST)
    ranks = places.argsort(axis=0).argsort(axis=0) / max(len(places) - 1, 1)
    return (1 - _EVEN) * scaled + _EVEN * ranks


def _part(places: Places, radii: Places, size: tuple[float, float]) -> Places:
    """Move nodes apart that overlap, inside of the box."""
    needed = np.add.outer(radii, radii) + radii.max()
    least, most = radii[:, None], np.array(size, np.float32) - radii[:, None]
    for _ in range(_ROUNDS):
        distance = np.maximum(np.sqrt(_square_distances(places)), _CLOSEST)
        push = np.maximum(needed - distance, 0)
        np.fill_diagonal(push, 0)
        if not push.any():
            break
        push /= 3 * distance
        places = np.clip(places + _sum_shifts(push, places), least, most)
    return places


def _square_distances(places: Places) -> Places:
    x, y = places.T
    square, down = np.subtract.outer(x, x), np.subtract.outer(y, y)
    square *= square
    down *= down
    square += down
    return square


def _sum_shifts(force: Places, places: Places) -> Places:
    """Return the sum of the forces of all other nodes on each node, away from them."""
    return force.sum(axis=1, keepdims=True) * places - force @ places
