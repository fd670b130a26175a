"""Reads stdin from the start of the process, and greets the client while all else is loaded.

A thread does it, with the standard library alone, until the event loop takes over.
"""

import os
import select
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from threading import Thread

from textrawl.transports.framing.lines import CHUNK, Lines, Outlet, Text, claim
from textrawl.transports.stdio.greeting import Greeter

_MOST_WAITING = 8 << 20  # bytes of lines that wait for the SDK: what comes then stays in the pipe


class Reception:
    """A client's lines, read and greeted by a thread until `take_over`; and where answers go.

    Nothing is answered before `introduce` says what this server is.
    """

    def __init__(self, wire_in: int, wire_out: int) -> None:
        self.wire_in = wire_in
        self.outlet = Outlet(wire_out)
        self.greeter: Greeter | None = None
        self.lines = Lines()
        self.waiting = deque[Text]()
        """Lines for the SDK, in their order."""
        self.unwritten = bytearray()
        self.ended = False
        """Whether the client sends no more."""
        self._read = deque[Text]()
        self._size = 0
        self._over = False
        self._bell, self._ring = os.pipe()
        self._thread = Thread(target=self._run, name="reception", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def introduce(self, greeter: Greeter) -> None:
        """Begin to answer."""
        self.greeter = greeter
        os.write(self._ring, b".")

    def take_over(self) -> None:
        """End the thread; what it has read and not written is the caller's."""
        if self._over:
            return
        self._over = True
        os.write(self._ring, b".")
        self._thread.join()
        self.waiting += self._read
        self._read.clear()
        os.close(self._bell)
        os.close(self._ring)

    def _run(self) -> None:
        while not self._over:
            hears = not self.ended and self._size < _MOST_WAITING
            readers = [self._bell, self.wire_in] if hears else [self._bell]
            writers = [self.outlet.wire] if self.unwritten else []
            readable, writable, _ = select.select(readers, writers, [])
            if self._bell in readable:
                os.read(self._bell, CHUNK)
            if self.wire_in in readable:
                self._hear()
            self._greet()
            if writable:
                self._write()

    def _hear(self) -> None:
        try:
            chunk = os.read(self.wire_in, CHUNK)
        except OSError:
            chunk = b""
        self._size += len(chunk)
        self.ended = not chunk
        self._read += self.lines.feed(chunk) if chunk else self.lines.end()

    def _greet(self) -> None:
        while self._read and self.greeter is not None:
            line = self._read.popleft()
            greeting = self.greeter.greet(line) if isinstance(line, bytes) else None
            if greeting is None:
                self.waiting.append(line)
                continue
            self.unwritten += greeting.answer + b"\n"
            if greeting.passed is not None:
                self.waiting.append(greeting.passed)

    def _write(self) -> None:
        try:
            del self.unwritten[: self.outlet.write(self.unwritten)]
        except OSError:  # nobody reads any more
            self.unwritten.clear()
            self.ended = True


@contextmanager
def receive() -> Generator[Reception]:
    """The reception at this process's stdin and stdout, which are something else meanwhile."""
    with claim(0, os.devnull) as wire_in, claim(1, None) as wire_out:
        reception = Reception(wire_in, wire_out)
        reception.start()
        try:
            yield reception
        finally:
            reception.take_over()
            reception.outlet.close()
