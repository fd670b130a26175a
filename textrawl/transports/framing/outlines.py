"""The id of a message, also of one that is broken or too long: clients know answers by it."""

import json
import re
from typing import Any, cast

RequestId = int | str

_MARK = re.compile(rb'["{}\[\]]')
_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)  # to its end, or to where the piece ends
_MOST_MARKS = 20_000  # a tenth of a second; a message of words has few
_LEFT_OUT = 2  # the depth from which on nothing is kept
_LONGEST_OUTLINE = 8192  # bytes: a message has four members, and three of them are short
_LONGEST_ID = 1000  # characters of one that is text
_LARGEST_ID = 1 << 63


class Outline:
    """The outermost members of a JSON object that comes in pieces and may be broken inside."""

    def __init__(self) -> None:
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._marks = 0
        self._kept = bytearray()

    def feed(self, piece: bytes) -> None:
        """Read on."""
        place = 0
        while place < len(piece) and self._marks < _MOST_MARKS:
            place = self._read_string(piece, place) if self._quoted else self._step(piece, place)

    def find_id(self) -> RequestId | None:
        """The id of the message, if it has one and nothing before it is broken."""
        if self._marks >= _MOST_MARKS:
            return None
        closing = b"}" if self._depth >= _LEFT_OUT else b""
        try:
            identity = read_id(json.loads((bytes(self._kept) + closing).decode()))
            str(identity).encode()  # half a character cannot be sent back
        except ValueError:
            return None
        return identity

    def _step(self, piece: bytes, place: int) -> int:
        """Read to the next mark, and it; where to read on."""
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
        """Read to the end of a string, or of the piece; where to read on."""
        begin = place
        if self._escaped:
            self._escaped, place = False, place + 1
        found = _STRING.match(piece, place)
        end = found.end() if found else place
        if end < len(piece):
            self._quoted = piece[end : end + 1] != b'"'
            self._escaped = self._quoted  # a backslash is the last of the piece
            end += 1
        self._keep(piece[begin:end])
        return end

    def _keep(self, piece: bytes) -> None:
        if self._depth <= 1 and len(self._kept) < _LONGEST_OUTLINE:
            self._kept += piece


def read_id(members: object) -> RequestId | None:
    """The id among the `members` of a message; None for one that is none."""
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
