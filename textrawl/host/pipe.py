"""The pipe between a client over stdio and the host that has the memory open.

A client starts this process, which copies lines both ways. It greets the client while it starts a
host, goes on with another host if one ends, and ends a host that is silent. It takes an eighth of
the memory of a host. This module uses only the standard library, and modules like itself.
"""

import json
import os
import select
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn, cast

from textrawl.environment import read_sources
from textrawl.errors import StartRefused
from textrawl.host.conversation import Conversation, Request
from textrawl.host.entrance import (
    LEAVING_LINE,
    Entrance,
    find_entrance,
    is_claimed,
    read_refusal,
    start_host,
)
from textrawl.host.framing import CHUNK, MOST_BYTES
from textrawl_client.unix_socket import (
    NotListening,
    Unreachable,
    connect,
    find_process,
    receive_line,
)

if TYPE_CHECKING:
    from subprocess import Popen

_ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_MOST = 8 << 20  # bytes that are kept for a slow client or host; further ones stay in the pipe
_PAUSE, _RESTART = 0.02, 0.5  # seconds between attempts to reach a host, and to start one
_SILENCE, _SIGN = 2.0, 6.0  # seconds without an answer until a host is asked, and has to answer
_LAST_WORDS = 2.0  # seconds for a client's first request, and to read why no host starts


def run_pipe(words: Sequence[str] = ()) -> int | None:
    """Serve the client at stdin and stdout until it leaves. Return 0, or None for `words`.

    Raises StartRefused if no host can be started. Each request of the client gets the reason.
    """
    if [*words] not in ([], ["serve"]):
        return None
    with _end_on_signals():
        pipe = Pipe(0, 1)
        try:
            pipe.run(find_entrance(read_sources()))
        except (StartRefused, OSError, RuntimeError) as error:
            pipe.refuse(f"textrawl cannot start: {error}")
            raise StartRefused(str(error)) from error
    return 0


@contextmanager
def _end_on_signals() -> Generator[None]:
    """End the process with exit code 0 at a signal. The host finishes what it has read."""
    handlers = {number: signal.signal(number, _end) for number in _ENDS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _end(_: int, __: object) -> NoReturn:
    os._exit(0)


class ClientLeft(Exception):
    """The client reads no more."""


class Pipe:
    """The ends of a client, and the connection to the host that serves it now."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self._talk = Conversation({})
        self._line = bytearray()
        self._endless = self._ended = False
        self._unwritten = bytearray()
        self._child: Popen[bytes] | None = None
        self._next_start = 0.0
        self._forget_host()

    def _forget_host(self) -> None:
        self._host: socket.socket | None = None
        self._unsent = deque[Request]()
        self._begun = 0  # bytes of the first unsent line that were sent
        self._received = bytearray()
        self._leaving = self._finished = False
        self._heard, self._pinged = time.monotonic(), 0.0
        self._ping: socket.socket | None = None

    def run(self, entrance: Entrance) -> None:
        """Copy until the client or, after the client's end, the host ends. Raises StartRefused."""
        self._entrance, self._talk.described = entrance, entrance.read_description()
        if os.isatty(self._source):
            sys.stderr.write("Waiting for an MCP client on stdin. Ctrl-C ends this.\n")
        with suppress(ClientLeft):
            while self._host or self._unwritten or not self._ended or self._talk.owes:
                if self._host is None and (self._talk.owes or not self._ended):
                    self._join()
                self._move()
        self._close()

    def refuse(self, reason: str) -> None:
        """Answer what the client asks with an error, because no host serves it."""
        with suppress(ClientLeft, OSError):
            end = time.monotonic() + _LAST_WORDS
            while not self._ended and not self._talk.owes and time.monotonic() < end:
                self._move()
            while select.select([self._source], [], [], _PAUSE)[0] and not self._ended:
                self._read()
            for answer in self._talk.refuse(reason):
                self._unwritten += answer + b"\n"
            while self._unwritten and time.monotonic() < end + _LAST_WORDS:
                self._write()

    def _join(self) -> None:
        """Ask a host for a session, or start one. Raises StartRefused."""
        try:
            with ExitStack() as stack:
                deadline = time.monotonic() + _SILENCE + _SIGN
                host = stack.enter_context(connect(self._entrance.address, deadline))
                host.sendall(self._entrance.request)
                try:
                    answer = json.loads(receive_line(host, deadline))
                except TimeoutError:
                    os.kill(find_process(host), signal.SIGKILL)
                    return
                reads = _read_admission(answer)
                host.setblocking(False)
                stack.pop_all()
        except NotListening:
            self._start()
        except (OSError, Unreachable, ValueError):
            self._start()  # it ended meanwhile
        else:
            self._forget_host()
            self._host = host
            self._unsent += self._talk.begin(reads)

    def _start(self) -> None:
        """Start a host, unless one is starting. Raises StartRefused if it could not start."""
        if self._child is not None:
            if (code := self._child.poll()) is None:
                return
            self._child = None
            if code > 0:  # it was not killed
                raise StartRefused(read_refusal(self._entrance.address))
        if time.monotonic() >= self._next_start and not is_claimed(self._entrance.address):
            self._child = start_host(self._entrance.address)
            self._next_start = time.monotonic() + _RESTART

    def _move(self) -> None:
        """Wait until a line can move, and move it. Raises ClientLeft."""
        ready = self._wait()
        if self._target in ready:
            self._write()
        if self._source in ready:
            self._read()
        host = self._host
        if host is None:
            return
        if self._ping is not None and self._ping.fileno() in ready:
            self._note_life()
        try:
            if host.fileno() in ready:
                self._receive(host)
            self._send(host)
            self._check_life(host)
        except EOFError:
            self._lose(host)

    def _wait(self) -> set[int]:
        """Return the descriptors that are ready, after a pause if there is no host."""
        poll, waiting = select.poll(), sum(len(one.line) for one in self._unsent)
        endless = self._host is None and len(self._line) > MOST_BYTES
        if not (self._ended or self._leaving or endless or max(waiting, self._talk.size) > _MOST):
            poll.register(self._source, select.POLLIN)
        if self._unwritten:
            poll.register(self._target, select.POLLOUT)
        if self._host is None:
            return {descriptor for descriptor, _ in poll.poll(_PAUSE * 1000)}
        reads = select.POLLIN if len(self._unwritten) < _MOST else 0
        writes = select.POLLOUT if self._unsent and not self._finished else 0
        poll.register(self._host, reads | writes)
        if self._ping is not None:
            poll.register(self._ping, select.POLLIN)
        return {descriptor for descriptor, _ in poll.poll(1000 if self._talk.owes else None)}

    def _read(self) -> None:
        """Read what the client sends, and greet it or queue it for the host."""
        try:
            chunk = os.read(self._source, CHUNK)
        except OSError:  # a socket or terminal whose other end is closed
            chunk = b""
        self._ended = not chunk
        *lines, rest = (chunk or b"\n").split(b"\n")
        for line in lines:
            self._pass(bytes(self._line) + line, whole=True)
            self._line.clear()
        self._line += rest
        if len(self._line) > MOST_BYTES and self._host is not None:
            self._pass(bytes(self._line), whole=False)
            self._line.clear()

    def _pass(self, line: bytes, *, whole: bool) -> None:
        """Queue a line for the host, or a piece of a line that is too long to keep."""
        if self._endless or not whole:
            self._unsent.append(Request(line, "", None, end=b"\n" * whole))
            self._endless = not whole
            return
        if not line.strip():
            return
        if self._host is not None and self._talk.begins_again(line):
            self._lose(self._host)
        if self._host is None and (answer := self._talk.greet(line)) is not None:
            self._unwritten += answer + b"\n"
        elif (request := self._talk.send(line)) is not None and self._host is not None:
            self._unsent.append(request)

    def _send(self, host: socket.socket) -> None:
        """Send what fits. If the host leaves, only finish the line that was begun."""
        try:
            while not self._finished:
                if self._begun or (self._unsent and not self._leaving):
                    self._send_line(host)
                elif self._leaving or self._ended:
                    self._finished = True
                    host.shutdown(socket.SHUT_WR)
                else:
                    return
        except BlockingIOError:
            return
        except OSError:  # it has ended, but may have answered before
            self._finished = True

    def _send_line(self, host: socket.socket) -> None:
        request = self._unsent[0]
        line = request.line + request.end
        self._begun += host.send(line[self._begun :])
        request.sent = True
        if self._begun == len(line):
            self._unsent.popleft()
            self._begun = 0

    def _receive(self, host: socket.socket) -> None:
        """Receive lines of the host, and queue them for the client. Raises EOFError."""
        try:
            chunk = host.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:  # it was killed before it read everything
            chunk = b""
        if not chunk:
            raise EOFError
        self._note_life()
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            whole = bytes(self._received) + line
            self._received.clear()
            if whole == LEAVING_LINE:
                self._leaving = True
            elif (shown := self._talk.receive(whole)) is not None:
                self._unwritten += shown + b"\n"
        self._received += rest

    def _write(self) -> None:
        """Write what the client can read now. Raises ClientLeft."""
        try:
            # A writable pipe has room for PIPE_BUF bytes.
            del self._unwritten[: os.write(self._target, self._unwritten[: select.PIPE_BUF])]
        except OSError as error:
            raise ClientLeft from error

    def _check_life(self, host: socket.socket) -> None:
        """Ask a silent host whether it lives, and end it if it gives no sign. Raises EOFError."""
        now = time.monotonic()
        if self._talk.asks or not self._talk.owes:
            self._heard = now
        elif not self._pinged and now - self._heard >= _SILENCE:
            self._pinged = now
            with suppress(OSError, Unreachable):
                self._ping = connect(self._entrance.address, now + _SILENCE)
                self._ping.sendall(self._entrance.ping)
        elif self._pinged and now - self._pinged >= _SIGN:
            with suppress(OSError):
                os.kill(find_process(host), signal.SIGKILL)
            raise EOFError

    def _note_life(self) -> None:
        if self._ping is not None:
            self._ping.close()
        self._ping, self._pinged, self._heard = None, 0.0, time.monotonic()

    def _lose(self, host: socket.socket) -> None:
        """Answer the writes that the host may have done, and keep the rest for the next host."""
        host.close()
        self._note_life()
        for answer in self._talk.lose():
            self._unwritten += answer + b"\n"
        self._forget_host()

    def _close(self) -> None:
        """Leave the host, which goes on. It ends with a container whose only process this is."""
        if self._host is not None:
            self._host.close()
        if self._child is not None and os.getpid() == 1:
            self._child.terminate()
            self._child.wait()


def _read_admission(answer: Any) -> frozenset[str]:
    """Return the tools that change nothing. Raises StartRefused if the session is refused."""
    match answer:
        case {"result": {"reads": names}}:
            return frozenset(cast("list[str]", names))
        case {"error": {"data": {"fix": str(reason)}}}:
            raise StartRefused(reason)
        case _:
            raise ValueError(answer)
