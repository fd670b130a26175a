"""Lines of JSON-RPC on a pair of file descriptors.

This module uses only the standard library, because a thread calls it before other modules are
loaded.
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

MOST_BYTES = 1_048_576  # of a message over stdio or HTTP: ten times the size of 50 long facts
CHUNK = 65_536  # bytes: the capacity of a pipe

Text = bytes | Outline
"""The text of a message, or the outline of a message that is too long."""


@contextmanager
def redirect(number: int, path: str | None) -> Generator[int]:
    """Yield a duplicate of stdin (0) or stdout (1), and redirect the original during the block.

    The original becomes the file `path`, or a copy of stderr if there is no path. Then child
    processes and stray prints cannot disturb the protocol.
    """
    duplicate = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)
    target = os.open(path, os.O_RDONLY) if path else os.dup(2)
    os.dup2(target, number)
    os.close(target)
    try:
        yield duplicate
    finally:
        os.dup2(duplicate, number)
        os.close(duplicate)


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
        return [line] if isinstance(line, Outline) or line.strip() else []


class Output:
    """The descriptor that answers are written to.

    The descriptor stays in blocking mode, because other processes can share it.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        mode = os.fstat(descriptor).st_mode
        self._socket = _open_socket(descriptor) if stat.S_ISSOCK(mode) else None
        self.pollable = stat.S_ISFIFO(mode) or self._socket is not None
        """True if `write` never blocks while the descriptor is writable."""

    def close(self) -> None:
        """Free the socket object. The descriptor stays open."""
        if self._socket is not None:
            self._socket.close()

    def write(self, text: bytes | bytearray) -> int:
        """Write as much of the beginning of `text` as fits. Return the number of bytes written."""
        if not self.pollable:
            return os.write(self.descriptor, text)
        if self._socket is None:
            # A writable pipe has room for PIPE_BUF bytes.
            return os.write(self.descriptor, text[: select.PIPE_BUF])
        with suppress(BlockingIOError):
            return _send(self._socket, text)
        return 0


def _open_socket(descriptor: int) -> "socket":
    import socket  # noqa: PLC0415 - few clients connect with one

    return socket.socket(fileno=os.dup(descriptor))


def _send(connection: "socket", text: bytes | bytearray) -> int:
    import socket  # noqa: PLC0415 - few clients connect with one

    return connection.send(text, socket.MSG_DONTWAIT)
