"""Reading stdin from the start of the process, and greeting the client while modules are loaded.

A thread reads and greets until the event loop takes over. The thread uses only the standard
library.
"""

import os
import select
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from threading import Thread

from textrawl.transports.framing.lines import CHUNK, LineSplitter, Output, Text, redirect
from textrawl.transports.stdio.greeting import Greeter

_MOST_WAITING = 8 << 20  # bytes of lines that wait for the SDK. Further input stays in the pipe.


class Reception:
    """The lines that a client sends, and the output to it. A thread handles both until `take_over`.

    The thread reads from the start, and answers only after `begin_greeting`.
    """

    def __init__(self, input_descriptor: int, output_descriptor: int) -> None:
        self.input = input_descriptor
        self.output = Output(output_descriptor)
        self.greeter: Greeter | None = None
        self.splitter = LineSplitter()
        self.waiting = deque[Text]()
        """Lines for the SDK, in their order."""
        self.unwritten = bytearray()
        self.ended = False
        """True after the end of the client's input."""
        self._lines = deque[Text]()
        self._size = 0
        self._stopped = False
        self._wakeup_reader, self._wakeup_writer = os.pipe()
        self._thread = Thread(target=self._run, name="reception", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def begin_greeting(self, greeter: Greeter) -> None:
        """Begin to answer with `greeter`."""
        self.greeter = greeter
        os.write(self._wakeup_writer, b".")

    def take_over(self) -> None:
        """End the thread. Then the caller handles the waiting lines and the unwritten answers."""
        if self._stopped:
            return
        self._stopped = True
        os.write(self._wakeup_writer, b".")
        self._thread.join()
        self.waiting += self._lines
        self._lines.clear()
        os.close(self._wakeup_reader)
        os.close(self._wakeup_writer)

    def _run(self) -> None:
        while not self._stopped:
            reads = not self.ended and self._size < _MOST_WAITING
            readers = [self._wakeup_reader, self.input] if reads else [self._wakeup_reader]
            writers = [self.output.descriptor] if self.unwritten else []
            readable, writable, _ = select.select(readers, writers, [])
            if self._wakeup_reader in readable:
                os.read(self._wakeup_reader, CHUNK)
            if self.input in readable:
                self._read()
            self._greet()
            if writable:
                self._write()

    def _read(self) -> None:
        try:
            chunk = os.read(self.input, CHUNK)
        except OSError:
            chunk = b""
        self._size += len(chunk)
        self.ended = not chunk
        self._lines += self.splitter.feed(chunk) if chunk else self.splitter.end()

    def _greet(self) -> None:
        while self._lines and self.greeter is not None:
            line = self._lines.popleft()
            greeting = self.greeter.greet(line) if isinstance(line, bytes) else None
            if greeting is None:
                self.waiting.append(line)
                continue
            self.unwritten += greeting.answer + b"\n"
            if greeting.passed is not None:
                self.waiting.append(greeting.passed)

    def _write(self) -> None:
        try:
            del self.unwritten[: self.output.write(self.unwritten)]
        except OSError:  # the client has closed its end
            self.unwritten.clear()
            self.ended = True


@contextmanager
def receive() -> Generator[Reception]:
    """Read the stdin and write to the stdout of this process, through duplicates of both.

    Inside the block, the original stdin is empty and the original stdout leads to stderr, so that
    stray prints and child processes cannot disturb the protocol.
    """
    with redirect(0, os.devnull) as source, redirect(1, None) as target:
        reception = Reception(source, target)
        reception.start()
        try:
            yield reception
        finally:
            reception.take_over()
            reception.output.close()
