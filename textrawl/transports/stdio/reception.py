"""Reading stdin from the start of the process, and greeting the client while modules load.

A thread does both with the standard library alone, until the event loop takes over.
"""

import os
import select
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from threading import Thread

from textrawl.transports.framing.lines import CHUNK, LineSplitter, Output, Text, redirect
from textrawl.transports.stdio.greeting import Greeter

_MOST_WAITING = 8 << 20  # bytes of lines that wait for the SDK: more input stays in the pipe


class Reception:
    """A client's lines, read and greeted by a thread until `take_over`; and the output.

    Nothing is answered before `begin_greeting`.
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
        """True once the client sends no more."""
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
        """End the thread; the caller handles unread lines and unwritten answers from now on."""
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
    """Read this process's stdin and write to its stdout; both are redirected meanwhile."""
    with redirect(0, os.devnull) as source, redirect(1, None) as target:
        reception = Reception(source, target)
        reception.start()
        try:
            yield reception
        finally:
            reception.take_over()
            reception.output.close()
