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
    side: str  # below, above, right, left or on


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


def place_labels(
    labels: Sequence[Label], nodes: Boxes, first_zoom: float, edges: tuple[float, float]
) -> list[PlacedLabel]:
    """Return the labels that fit, at `first_zoom` or closer. Earlier labels have precedence.

    `nodes` has the boxes of the circles. `edges` are the right and the lower edge of the drawing.
    """
    spots = [(number, spot) for number, each in enumerate(labels) for spot in each.spots]
    if not spots:
        return []
    shapes = _shape(labels, spots)
    anchors = np.array([(s.x, s.y, s.x, s.y) for _, s in spots], np.float32)
    owners = np.array([-1 if (own := labels[n].owner) is None else own for n, _ in spots])
    important = np.array([labels[n].important for n, _ in spots])
    placed: dict[int, PlacedLabel] = {}
    taken: list[int] = []
    zoom = first_zoom
    while zoom <= _CLOSEST and len(placed) < len(labels):
        boxes = anchors + shapes / np.float32(zoom)
        hits = _overlap(boxes, nodes)
        hits[np.arange(len(spots)), owners] &= owners < 0
        free = (important | ~hits.any(axis=1)) & ~_overlap(boxes, boxes[taken]).any(axis=1)
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
    height, gap = FONT * _LINE, FONT * _GAP
    shapes: list[tuple[float, float, float, float]] = []
    for number, spot in spots:
        width = FONT * measure(labels[number].text) + gap
        left = {"right": 0.0, "left": -width - gap}.get(spot.side, -width / 2)
        top = {"below": 0.0, "above": -height}.get(spot.side, -height / 2)
        right = left + width + (gap if spot.side in ("left", "right") else 0)
        shapes.append((left, top, right, top + height))
    return np.array(shapes, np.float32)


def _overlap(some: Boxes, others: Boxes) -> npt.NDArray[np.bool_]:
    """Return for each box of `some` and each of `others` whether they overlap."""
    left, top, right, bottom = (some[:, None, side] for side in range(4))
    beside = (right <= others[None, :, 0]) | (left >= others[None, :, 2])
    return ~(beside | (bottom <= others[None, :, 1]) | (top >= others[None, :, 3]))
