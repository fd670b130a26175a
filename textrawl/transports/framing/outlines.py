"""The id of a message, even if the message is broken or too long.

Clients match responses to requests by the id.
"""

import json
import re
from typing import Any, cast

RequestId = int | str

_MARK = re.compile(rb'["{}\[\]]')
_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)  # up to its end or the end of the piece
_MOST_MARKS = 20_000  # quotes and brackets: reading this many takes 0.1 s, and prose has few
_LEFT_OUT = 2  # content at this nesting depth or deeper is left out
_LONGEST_OUTLINE = 8192  # bytes: a message has four members, and three of them are short
_LONGEST_ID = 1000  # characters of an id that is a string
_LARGEST_ID = 1 << 63


class Outline:
    """The outermost members of a JSON object that arrives in pieces and can be broken inside."""

    def __init__(self) -> None:
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._marks = 0
        self._kept = bytearray()

    def feed(self, piece: bytes) -> None:
        """Read the next piece."""
        place = 0
        while place < len(piece) and self._marks < _MOST_MARKS:
            read = self._read_string if self._quoted else self._read_mark
            place = read(piece, place)

    def find_id(self) -> RequestId | None:
        """Return the id, or None if the message has no id or is broken before its id."""
        if self._marks >= _MOST_MARKS:
            return None
        closing = b"}" if self._depth >= _LEFT_OUT else b""
        try:
            identity = read_id(json.loads((bytes(self._kept) + closing).decode()))
            str(identity).encode()  # a lone surrogate cannot be sent back
        except ValueError:
            return None
        return identity

    def _read_mark(self, piece: bytes, place: int) -> int:
        """Read up to and including the next mark, and return the position after it."""
        found = _MARK.search(piece, place)
        self._keep(piece[place : found.start() if found else len(piece)])
        if found is None:
            return len(piece)
        mark = found[0]
        self._marks += 1
        if mark in b"{[":
            self._depth += 1
            if self._depth == _LEFT_OUT:
                self._kept += b"0"
        self._keep(mark)
        self._quoted = mark == b'"'
        self._depth -= mark in b"}]"
        return found.end()

    def _read_string(self, piece: bytes, place: int) -> int:
        """Read to the end of the string or of the piece, and return the position after it."""
        begin = place
        if self._escaped:
            self._escaped, place = False, place + 1
        found = _STRING.match(piece, place)
        end = found.end() if found else place
        if end < len(piece):
            self._quoted = piece[end : end + 1] != b'"'
            self._escaped = self._quoted  # the piece ends with a backslash
            end += 1
        self._keep(piece[begin:end])
        return end

    def _keep(self, piece: bytes) -> None:
        if self._depth <= 1 and len(self._kept) < _LONGEST_OUTLINE:
            self._kept += piece


def read_id(members: object) -> RequestId | None:
    """Return the id among the `members` of a message, or None if it is missing or invalid."""
    if not isinstance(members, dict):
        return None
    match cast("dict[str, Any]", members).get("id"):
        case bool():
            return None
        case int() as number if abs(number) < _LARGEST_ID:
            return number
        case str() as text if len(text) <= _LONGEST_ID:
            return text
        case _:
            return None
