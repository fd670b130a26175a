"""The copying of lines between a client and a server that another process runs.

If the server ends, the client goes on with another one, or this process becomes its server. The
next server gets the handshake, the subscriptions, and each request that was not answered and
changes nothing. A request that may have changed something is not repeated. This module uses only
the standard library, and modules like itself.
"""

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from textrawl.environment import list_options
from textrawl.server.description import NAME
from textrawl.server.early_lists import describe_code
from textrawl.server.framing import CHUNK, TOO_LONG, RequestId, Text, read_id
from textrawl.server.handover import (
    LEAVING_LINE,
    Entrance,
    Joined,
    find_entrance,
    join,
    let_others_join,
)
from textrawl_client.unix_socket import Unreachable, connect

Members = dict[str, Any]

CANCELLED = "notifications/cancelled"
_INITIALIZED = "notifications/initialized"
_SUBSCRIBE, _UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"
_CALL, _LISTEN = "tools/call", "subscriptions/listen"
_INTERNAL_ERROR = -32603  # a number of JSON-RPC
_UNKNOWN = (
    "Not known whether this was done: the process that had the memory open ended before it "
    "answered. Ask with query_memory, and call again only if it was not done."
)


class Request(NamedTuple):
    """A request that was not answered.

    `changes` is true if it may change something. `lasts` is true for a subscription, which is
    answered at its end.
    """

    line: bytes
    changes: bool
    lasts: bool


class Repetition(NamedTuple):
    """The lines for another server, and the answers to requests that are not repeated."""

    lines: list[bytes]
    answers: list[bytes]


@dataclass
class Conversation:
    """One conversation, which can pass from server to server.

    `reads` has the names of the tools that change nothing. `hidden` gets the ids of repeated
    requests, whose answers the client has got before, and `hides` returns whether to drop one.
    """

    hides: Callable[[RequestId], bool]
    hidden: set[RequestId]
    reads: frozenset[str] = frozenset()
    open: dict[RequestId, Request] = field(default_factory=dict[RequestId, Request])
    _servers: int = 0
    _questions: dict[RequestId, RequestId] = field(default_factory=dict[RequestId, RequestId])
    _handshake: Members | None = None
    _initialized: bytes | None = None
    _subscriptions: dict[str, Members] = field(default_factory=dict[str, Members])

    @property
    def owes(self) -> bool:
        """Return whether the server owes an answer."""
        return any(not request.lasts for request in self.open.values())

    @property
    def asks(self) -> bool:
        """Return whether the server waits for an answer of the client, such as that of a user."""
        return bool(self._questions)

    def send(self, line: bytes) -> bytes | None:
        """Note a line of the client. Return the line for the server, or None if it gets none."""
        message = _read(line)
        if message is None:
            return line
        identity, method = read_id(message), message.get("method")
        if method is None:
            return self._answer_question(line, message)
        if identity is not None:
            self._note_request(line, message, identity)
        elif method == _INITIALIZED:
            self._initialized = line
        elif method == CANCELLED:
            self.open.pop(_find(message, "requestId"), None)
        return line

    def receive(self, line: bytes) -> bytes | None:
        """Note a line of the server. Return the line for the client, or None if it gets none."""
        message = _read(line)
        if message is None:
            return line
        identity, method = read_id(message), message.get("method")
        if method == CANCELLED and (asked := _find(message, "requestId")) is not None:
            params = message["params"] | {"requestId": self._rename(asked)}
            return _encode(message | {"params": params})
        if identity is None:
            return line
        if method is not None:
            name = self._rename(identity)
            self._questions[name] = identity
            return line if name == identity else _encode(message | {"id": name})
        self.open.pop(identity, None)
        return None if self.hides(identity) else line

    def begin_again(self, unsent: Iterable[bytes]) -> Repetition:
        """Return what another server has to know. The server that ended never got `unsent`."""
        never = {read_id(message) for line in unsent if "method" in (message := _read(line) or {})}
        self._servers += 1
        self._questions.clear()
        before, self.open = self.open, {}
        lines, answers = self._repeat_state(before), list[bytes]()
        for identity, request in before.items():
            if request.changes and identity not in never:
                error = {"code": _INTERNAL_ERROR, "message": _UNKNOWN}
                answers.append(_encode({"jsonrpc": "2.0", "id": identity, "error": error}))
            else:
                lines.append(request.line)
        return Repetition(lines, answers)

    def _note_request(self, line: bytes, message: Members, identity: RequestId) -> None:
        method = message["method"]
        changes = method == _CALL and _find(message, "name") not in self.reads
        self.open[identity] = Request(line, changes, method == _LISTEN)
        if method == "initialize":
            self._handshake = message
        elif method == _SUBSCRIBE:
            self._subscriptions[str(_find(message, "uri"))] = message
        elif method == _UNSUBSCRIBE:
            self._subscriptions.pop(str(_find(message, "uri")), None)

    def _repeat_state(self, unanswered: dict[RequestId, Request]) -> list[bytes]:
        """Return the lines that make another server know the client, in their order.

        Removes from `unanswered` the requests that these lines repeat.
        """
        lines = list[bytes]()
        for message in (self._handshake, *self._subscriptions.values()):
            if message is not None:
                request = unanswered.pop(message["id"], None)
                lines.append(request.line if request else self._hide(message))
            if message is self._handshake and self._initialized is not None:
                lines.append(self._initialized)
        return lines

    def _hide(self, message: Members) -> bytes:
        """Return the line of a request whose answer the client has got before."""
        identity = f"{NAME}-{os.urandom(8).hex()}"
        self.hidden.add(identity)
        return _encode(message | {"id": identity})

    def _answer_question(self, line: bytes, message: Members) -> bytes | None:
        """Return the client's answer to a question of the present server, or None."""
        identity = read_id(message)
        if identity is None or identity not in self._questions:
            return None
        asked = self._questions.pop(identity)
        return line if asked == identity else _encode(message | {"id": asked})

    def _rename(self, identity: RequestId) -> RequestId:
        """Return an id for a question that no question of another server has."""
        return f"{identity}-{NAME}-{self._servers}" if self._servers else identity


def _read(line: bytes) -> Members | None:
    """Return the members of a message, or None for a text that a server refuses."""
    try:
        message: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("Members", message) if isinstance(message, dict) else None


def _find(message: Members, name: str) -> Any:
    """Return a parameter that identifies something, or None."""
    params = message.get("params")
    found = cast("Members", params).get(name) if isinstance(params, dict) else None
    return found if isinstance(found, int | str) else None


def _encode(message: Members) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


if TYPE_CHECKING:
    from textrawl.server.early_reader import Endpoint

_SILENCE = 2.0  # seconds without an answer after which a server is asked whether it lives
_SIGN = 6.0  # seconds that it then has; a server that loads a library says nothing meanwhile
_MOST_UNREAD = 1 << 20  # bytes for a slow client or server. Further ones stay in the pipe.
_INVALID = -32600  # a number of JSON-RPC


class SessionEnd(Enum):
    """The end of a session: the client ended it, the server was lost, or the server is silent."""

    ENDED = "ended"
    LOST = "lost"
    SILENT = "silent"


def hand_over(endpoint: "Endpoint") -> bool:
    """Let a server that another process runs serve the client of `endpoint` until its end.

    Return False if this process has to serve the client itself. Then `endpoint` has the
    lines that are still to be answered.
    """
    entrance = None if os.isatty(endpoint.input) else find_entrance()
    joined = join(entrance) if entrance else None
    if entrance is None or joined is None:
        return False
    code = _read_code()
    endpoint.take_over()
    relay = Relay(endpoint)
    while joined is not None:
        reads = joined.reads
        outcome = relay.run(joined)
        if outcome is SessionEnd.ENDED:
            return True
        joined = join(entrance) if outcome is SessionEnd.LOST else None
        if joined is None and not children and _read_code() != code:
            joined = _start_server(reads)
    return False


def _read_code() -> str:
    """Return a digest of the code in the files of textrawl. It is empty amid an update."""
    try:
        return describe_code()
    except OSError:
        return ""


children: list[Any] = []
"""The processes that this one has started. Python warns of a process that nobody refers to."""


def _start_server(reads: frozenset[str]) -> Joined:
    """Start a server in a process of its own, after an update of textrawl.

    This process has loaded modules of the former version, which do not fit those of the new one.
    """
    let_others_join()
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-P", "-m", "textrawl", *list_options(), "serve"]
    with theirs:
        end = theirs.fileno()
        children.append(subprocess.Popen(command, stdin=end, stdout=end))  # noqa: S603 - fixed
    ours.setblocking(False)
    return Joined(ours, reads)


class Relay:
    """Passes the lines of one client to a server, and its lines to the client."""

    def __init__(self, endpoint: "Endpoint") -> None:
        self._client = endpoint
        self._entrance: Entrance | None = None
        self._conversation = Conversation(endpoint.hides, endpoint.hidden)
        self._begin()

    def _begin(self) -> None:
        self._unsent = deque[bytes]()
        self._begun = 0  # bytes of the first unsent line that were sent
        self._received = bytearray()
        self._leaving = self._finished = False
        self._heard = time.monotonic()
        self._ping: socket.socket | None = None
        self._pinged = 0.0

    def run(self, joined: Joined) -> SessionEnd:
        """Copy until the client or the server ends."""
        self._begin()
        self._conversation.reads, self._entrance = joined.reads, joined.entrance
        if self._client.greeter is not None:
            self._client.greeter.end_lists()
        while self._client.waiting:
            self._pass(self._client.waiting.popleft())
        with joined.connection as connection:
            outcome = self._copy(connection)
        self._end_ping()
        if outcome is not SessionEnd.ENDED:
            self._begin_again()
        with suppress(OSError):
            self._write(wait=outcome is SessionEnd.ENDED)
        return outcome

    def _copy(self, connection: socket.socket) -> SessionEnd:
        while True:
            try:
                self._take_turn(connection)
            except EOFError:
                ended = self._client.ended and not self._conversation.owes
                return SessionEnd.ENDED if ended else SessionEnd.LOST
            except TimeoutError:
                return SessionEnd.SILENT
            except BrokenPipeError:  # the client reads no more
                return SessionEnd.ENDED

    def _take_turn(self, connection: socket.socket) -> None:
        """Wait until a line can move, and move it.

        Raises EOFError if the server has ended, TimeoutError if it is silent, BrokenPipeError if
        the client reads no more.
        """
        client = self._client
        ready = self._wait(connection)
        if client.output.descriptor in ready:
            try:
                self._write()
            except OSError as error:
                raise BrokenPipeError from error
        if client.input in ready:
            self._read()
        if self._ping is not None and self._ping.fileno() in ready:
            self._end_ping()
        if connection.fileno() in ready:
            self._receive(connection)
        self._send(connection)

    def _wait(self, connection: socket.socket) -> set[int]:
        """Return the descriptors that are ready. Raises TimeoutError if the server is silent."""
        client, poll = self._client, select.poll()
        writes = select.POLLOUT if self._unsent and not self._finished else 0
        reads = select.POLLIN if len(client.unwritten) < _MOST_UNREAD else 0
        poll.register(connection, reads | writes)
        if client.unwritten:
            poll.register(client.output.descriptor, select.POLLOUT)
        if self._reads_client():
            poll.register(client.input, select.POLLIN)
        limit = self._check_life()
        if self._ping is not None:
            poll.register(self._ping, select.POLLIN)
        return {descriptor for descriptor, _ in poll.poll(limit)}

    def _reads_client(self) -> bool:
        """Return whether to read more of the client's input."""
        stopped = self._client.ended or self._leaving or self._finished
        return not stopped and sum(map(len, self._unsent)) < _MOST_UNREAD

    def _check_life(self) -> float | None:
        """Ask a silent server whether it lives. Return the milliseconds until the next check.

        Raises TimeoutError if it gives no sign.
        """
        now = time.monotonic()
        entrance = self._entrance
        if entrance is None or self._conversation.asks or not self._conversation.owes:
            self._heard = now
            return None
        if not self._pinged and now - self._heard >= _SILENCE:
            self._pinged = now
            with suppress(OSError, Unreachable):
                self._ping = connect(entrance.address, now + _SILENCE)
                self._ping.sendall(entrance.ping)
        elif self._pinged and now - self._pinged >= _SIGN:
            raise TimeoutError
        due = self._pinged + _SIGN if self._pinged else self._heard + _SILENCE
        return max(due - now, 0) * 1000 + 1

    def _end_ping(self) -> None:
        """Note that the server lives."""
        if self._ping is not None:
            self._ping.close()
        self._ping, self._pinged, self._heard = None, 0.0, time.monotonic()

    def _read(self) -> None:
        """Read what the client sends, greet it, and queue the rest for the server."""
        for text in self._client.split(self._client.read()):
            if (passed := self._client.greet(text)) is not None:
                self._pass(passed)

    def _pass(self, text: Text) -> None:
        """Queue a message for the server, unless it is too long."""
        if not isinstance(text, bytes):
            error = {"code": _INVALID, "message": TOO_LONG}
            reply = {"jsonrpc": "2.0", "id": text.find_id(), "error": error}
            self._client.unwritten += json.dumps(reply).encode() + b"\n"
            return
        line = self._conversation.send(text)
        if line is not None:
            self._unsent.append(line + b"\n")

    def _send(self, connection: socket.socket) -> None:
        """Send what fits. If the server leaves, only finish the line that was begun."""
        try:
            while not self._finished:
                if self._begun or (self._unsent and not self._leaving):
                    self._send_line(connection)
                elif self._leaving or self._client.ended:
                    self._finished = True
                    connection.shutdown(socket.SHUT_WR)
                else:
                    return
        except BlockingIOError:
            return
        except OSError:  # it has ended, but may have answered before
            self._finished = True

    def _send_line(self, connection: socket.socket) -> None:
        line = self._unsent[0]
        self._begun += connection.send(line[self._begun :])
        if self._begun == len(line):
            self._unsent.popleft()
            self._begun = 0

    def _receive(self, connection: socket.socket) -> None:
        """Receive lines of the server, and queue them for the client. Raises EOFError."""
        try:
            chunk = connection.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:  # it was killed before it read everything
            chunk = b""
        if not chunk:
            raise EOFError
        self._end_ping()
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            whole = bytes(self._received) + line
            self._received.clear()
            if whole == LEAVING_LINE:
                self._leaving = True
            elif (shown := self._conversation.receive(whole)) is not None:
                self._client.unwritten += shown + b"\n"
        self._received += rest

    def _write(self, *, wait: bool = False) -> None:
        """Write what the client can read now, or wait until it has read everything.

        Raises OSError if it has closed its end.
        """
        client, limit = self._client, None if wait else 0
        while client.unwritten and select.select([], [client.output.descriptor], [], limit)[1]:
            del client.unwritten[: client.output.write(client.unwritten)]

    def _begin_again(self) -> None:
        """Queue the state for another server, and answer the requests that nobody can answer."""
        never = list(self._unsent)[1 if self._begun else 0 :]
        repetition = self._conversation.begin_again(never)
        for answer in repetition.answers:
            self._client.unwritten += answer + b"\n"
        self._client.waiting.extendleft(reversed(repetition.lines))
