"""Texts that a splitter cuts into chunks piece by piece.

The time of a splitter grows with the square of a text without sentences or lines, or whose syntax
is nested deeply. With pieces of bounded size it grows with the size of the text.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol


class Splitter(Protocol):
    """A splitter of semantic-text-splitter."""

    def chunk_indices(self, text: str) -> list[tuple[int, str]]:
        """Return the chunks of a text, each with the number of characters before it."""
        ...


class Bounds(NamedTuple):
    """The most characters of a line and of a piece. A chunk has to be shorter than a line."""

    line: int
    piece: int


def split_pieces(splitter: Splitter, text: str, bounds: Bounds) -> Iterator[tuple[int, str]]:
    """Yield the chunks of a text, each with its start.

    A text within the bounds is one piece. The last chunk of a piece is not used, unless the text
    ends there. The next piece begins with it. So no chunk ends because a piece does, and
    neighbouring chunks overlap as usual.
    """
    start = 0
    while start < len(text):
        end = _find_end(text, start, bounds)
        chunks = splitter.chunk_indices(text[start:end])
        following = end
        if chunks and end < len(text) and chunks[-1][0] > 0:
            following = start + chunks.pop()[0]
        for within, chunk in chunks:
            yield start + within, chunk
        start = following


def _find_end(text: str, start: int, bounds: Bounds) -> int:
    """Return the end of the piece that begins at `start`: in the first line that is too long."""
    place = start  # the beginning of a line
    most = start + bounds.piece
    while place < most:
        end = text.find("\n", place, place + bounds.line)
        if end < 0:
            return min(place + bounds.line, most, len(text))
        place = end + 1
    return most
