"""Lines of JSON-RPC, read before the SDK is loaded."""

import json
import re

RequestId = int | str

_MARK = re.compile(rb'["{}\[\]]')
_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)  # up to its end or the end of the piece
_MOST_MARKS = 20_000  # quotes and brackets: reading this many takes 0.1 s, and prose has few
_LEFT_OUT = 2  # content at this nesting depth or deeper is left out
_LONGEST_OUTLINE = 8192  # bytes: a message has four members, and three of them are short
_LONGEST_ID, _LARGEST_ID = 1000, 1 << 63  # characters of an id that is a text, and a number
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # .NET programs begin a stream with it


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
        offset = 0
        while offset < len(piece) and self._marks < _MOST_MARKS:
            read = self._read_string if self._quoted else self._read_mark
            offset = read(piece, offset)

    def find_id(self) -> RequestId | None:
        """Return the id, or None if the message has no id or is broken before its id."""
        if self._marks >= _MOST_MARKS:
            return None
        closing = b"}" if self._depth >= _LEFT_OUT else b""
        try:
            kept = bytes(self._kept).removeprefix(_BYTE_ORDER_MARK)
            identity = read_id(json.loads((kept + closing).decode()))
            str(identity).encode()  # a lone surrogate cannot be sent back
        except ValueError:
            return None
        return identity

    def _read_mark(self, piece: bytes, offset: int) -> int:
        """Read up to and including the next mark, and return the position after it."""
        found = _MARK.search(piece, offset)
        self._keep(piece[offset : found.start() if found else len(piece)])
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

    def _read_string(self, piece: bytes, offset: int) -> int:
        """Read to the end of the string or of the piece, and return the position after it."""
        begin = offset
        if self._escaped:
            self._escaped, offset = False, offset + 1
        found = _STRING.match(piece, offset)
        end = found.end() if found else offset
        if end < len(piece):
            self._quoted = piece[end : end + 1] != b'"'
            self._escaped = self._quoted  # the piece ends with a backslash
            end += 1
        self._keep(piece[begin:end])
        return end

    def _keep(self, piece: bytes) -> None:
        if self._depth <= 1 and len(self._kept) < _LONGEST_OUTLINE:
            self._kept += piece


def read_id(message: object) -> RequestId | None:
    """Return the id of a message, or None if it is missing or unusual."""
    match message:
        case {"id": bool()}:
            return None
        case {"id": int(number)} if abs(number) < _LARGEST_ID:
            return number
        case {"id": str(text)} if len(text) <= _LONGEST_ID:
            return text
        case _:
            return None


MOST_BYTES = 1_048_576  # of a message over stdio or HTTP: ten times the size of 50 long facts
TOO_LONG = f"A message has at most {MOST_BYTES} bytes: send less"
CHUNK = 65_536  # bytes: the capacity of a pipe

Text = bytes | Outline
"""The text of a message, or the outline of a message that is too long."""


def read_outline(text: Text) -> Outline:
    """Return the outline of a message, which can be broken."""
    if isinstance(text, Outline):
        return text
    outline = Outline()
    outline.feed(text)
    return outline


class MessageBuffer:
    """Collects the pieces of one message. If the message is too long, it keeps an outline."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._outline: Outline | None = None

    def add(self, piece: bytes) -> None:
        """Add the next piece."""
        if self._outline is None and len(self._text) + len(piece) > MOST_BYTES:
            self._outline = Outline()
            self._outline.feed(bytes(self._text))
        if self._outline is not None:
            self._outline.feed(piece)
        else:
            self._text += piece

    def take(self) -> Text:
        """Return the message, and clear the buffer for the next message."""
        text, outline = bytes(self._text), self._outline
        self._text.clear()
        self._outline = None
        return text if outline is None else outline


class LineSplitter:
    """Splits chunks of input into lines. Blank lines are left out."""

    def __init__(self) -> None:
        self._buffer = MessageBuffer()

    def feed(self, chunk: bytes) -> list[Text]:
        """Return the lines that end in `chunk`."""
        *ended, rest = chunk.split(b"\n")
        lines: list[Text] = []
        for piece in ended:
            self._buffer.add(piece)
            lines += self.end()
        self._buffer.add(rest)
        return lines

    def end(self) -> list[Text]:
        """Return the unfinished line, if there is one, and begin another."""
        line = self._buffer.take()
        if isinstance(line, Outline):
            return [line]
        line = line.removeprefix(_BYTE_ORDER_MARK)
        return [line] if line.strip() else []
