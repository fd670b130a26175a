"""Lines of one descriptor and bytes to another, with the standard library alone.

A process uses it from its start on, when nothing else is loaded.
"""

import fcntl
import os
import select
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from textrawl.transports.framing.outlines import Outline

if TYPE_CHECKING:
    from socket import socket

MOST_BYTES = 1_048_576  # of a request, on either transport: fifty long facts are a tenth of it
CHUNK = 65_536  # bytes: what a pipe holds

Text = bytes | Outline
"""A line: itself, or if it is too long no more than its outline."""


@contextmanager
def claim(number: int, instead: str | None) -> Generator[int]:
    """A descriptor of what stdin (0) or stdout (1) is.

    Meanwhile that one is something else, for children and stray prints: the file `instead`, or what
    stderr is.
    """
    wire = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)
    other = os.open(instead, os.O_RDONLY) if instead else os.dup(2)
    os.dup2(other, number)
    os.close(other)
    try:
        yield wire
    finally:
        os.dup2(wire, number)
        os.close(wire)


class Lines:
    """Cuts what comes in pieces into lines; blank ones are left out."""

    def __init__(self) -> None:
        self._begun = bytearray()
        self._outline: Outline | None = None

    def feed(self, chunk: bytes) -> list[Text]:
        """The lines that end in `chunk`."""
        *ended, rest = chunk.split(b"\n")
        whole: list[Text] = []
        for piece in ended:
            self._extend(piece)
            whole += self.end()
        self._extend(rest)
        return whole

    def end(self) -> list[Text]:
        """The line that was begun, if there is one; another begins."""
        begun, outline = bytes(self._begun), self._outline
        self._begun.clear()
        self._outline = None
        if outline is not None:
            return [outline]
        return [begun] if begun.strip() else []

    def _extend(self, piece: bytes) -> None:
        if self._outline is None and len(self._begun) + len(piece) > MOST_BYTES:
            self._outline = Outline()
            self._outline.feed(bytes(self._begun))
        if self._outline is not None:
            self._outline.feed(piece)
        else:
            self._begun += piece


class Outlet:
    """Where answers go: a descriptor that stays a blocking one, since others may share it."""

    def __init__(self, wire: int) -> None:
        self.wire = wire
        mode = os.fstat(wire).st_mode
        self._socket = _open_socket(wire) if stat.S_ISSOCK(mode) else None
        self.pollable = stat.S_ISFIFO(mode) or self._socket is not None
        """Whether `write` never waits, once the descriptor can be written to."""

    def close(self) -> None:
        """Leaves the descriptor open."""
        if self._socket is not None:
            self._socket.close()

    def write(self, text: bytes | bytearray) -> int:
        """Writes the beginning of `text`; how much that was."""
        if not self.pollable:
            return os.write(self.wire, text)
        if self._socket is None:
            # A pipe that can be written to has room for PIPE_BUF bytes.
            return os.write(self.wire, text[: select.PIPE_BUF])
        with suppress(BlockingIOError):
            return _send(self._socket, text)
        return 0


def _open_socket(wire: int) -> "socket":
    import socket  # noqa: PLC0415 - few clients connect with one

    return socket.socket(fileno=os.dup(wire))


def _send(to: "socket", text: bytes | bytearray) -> int:
    import socket  # noqa: PLC0415

    return to.send(text, socket.MSG_DONTWAIT)
