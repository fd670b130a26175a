"""The labels of a drawing: which of them fit without overlap, and from which zoom on.

A label keeps its size on the screen, so a closer look has space for more of them. A label that fits
at a zoom also fits at every closer one, because its box only shrinks towards its anchor.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FONT = 13.0  # pixels on the screen
_LINE = 1.35  # height of a line, in font sizes
_GAP = 0.35  # between a label and its anchor, in font sizes
_STEP = 1.5  # from one zoom to the next one
_CLOSEST = 6.0  # pixels of a unit of the drawing, at the closest zoom
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
    """A text with the spots where it can stand, the best first. `owner` is the node of its own.

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
    while zoom <= _CLOSEST and len(placed) < len(labels):
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
