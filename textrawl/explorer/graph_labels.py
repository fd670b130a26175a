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
_NARROW, _WIDE = "iljtfrI.,:;'|!()[]-· ", "mwMW@%&—…"

Boxes = npt.NDArray[np.float32]
"""Left, top, right and bottom of each box."""


@dataclass(frozen=True)
class Spot:
    """A place for a label: an anchor in the drawing, and the side of the anchor."""

    x: float
    y: float
    side: str  # below, above, right, left or on


@dataclass(frozen=True)
class Label:
    """A text with the spots where it can stand, the best first. `owner` is the node of its own."""

    text: str
    spots: Sequence[Spot]
    owner: int | None = None


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
    if unicodedata.east_asian_width(character) in "WF" or ord(character) > 0x1F000:
        return 1.4
    if character in _NARROW:
        return 0.4
    return 0.9 if character in _WIDE else 0.74 if character.isupper() else 0.6


def place_labels(
    labels: Sequence[Label], nodes: Boxes, first_zoom: float, edges: tuple[float, float]
) -> list[PlacedLabel]:
    """Return the labels that fit, at `first_zoom` or closer. Earlier labels have precedence.

    `nodes` has the boxes of the circles, which no label of another node covers. `edges` are the
    right and the lower edge of the drawing.
    """
    spots = [(number, spot) for number, each in enumerate(labels) for spot in each.spots]
    if not spots:
        return []
    shapes = _shape(labels, spots)
    anchors = np.array([(s.x, s.y, s.x, s.y) for _, s in spots], np.float32)
    owners = np.array([-1 if (own := labels[n].owner) is None else own for n, _ in spots])
    placed: dict[int, PlacedLabel] = {}
    taken: list[int] = []
    zoom = first_zoom
    while zoom <= _CLOSEST and len(placed) < len(labels):
        boxes = anchors + shapes / np.float32(zoom)
        hits = _overlap(boxes, nodes)
        hits[np.arange(len(spots)), owners] &= owners < 0
        free = ~hits.any(axis=1) & ~_overlap(boxes, boxes[taken]).any(axis=1)
        free &= (boxes[:, 0] > 0) & (boxes[:, 2] < edges[0]) & (boxes[:, 3] < edges[1])
        for index in np.flatnonzero(free):
            number, spot = spots[index]
            if free[index] and number not in placed:
                free &= ~_overlap(boxes, boxes[[index]])[:, 0]
                taken.append(int(index))
                label = labels[number]
                placed[number] = PlacedLabel(label.text, spot, round(zoom, 3), label.owner)
        zoom *= _STEP
    return [placed[number] for number in sorted(placed)]


def _shape(labels: Sequence[Label], spots: Sequence[tuple[int, Spot]]) -> Boxes:
    """Return the box of each spot around its anchor, in pixels, with the gap to the anchor."""
    widths = [FONT * (measure(each.text) + _GAP) for each in labels]
    height, gap = FONT * _LINE, FONT * _GAP
    return np.array(
        [_SHAPES[spot.side](widths[number], height, gap) for number, spot in spots], np.float32
    )


_SHAPES = {
    "below": lambda w, h, _: (-w / 2, 0, w / 2, h),
    "above": lambda w, h, _: (-w / 2, -h, w / 2, 0),
    "right": lambda w, h, g: (0, -h / 2, w + g, h / 2),
    "left": lambda w, h, g: (-w - g, -h / 2, 0, h / 2),
    "on": lambda w, h, _: (-w / 2, -h / 2, w / 2, h / 2),
}


def _overlap(some: Boxes, others: Boxes) -> npt.NDArray[np.bool_]:
    """Return for each box of `some` and each of `others` whether they overlap."""
    left, top, right, bottom = (some[:, None, side] for side in range(4))
    beside = (right <= others[None, :, 0]) | (left >= others[None, :, 2])
    return ~(beside | (bottom <= others[None, :, 1]) | (top >= others[None, :, 3]))
