"""The conversation of a client and a server, as far as another server has to know it.

If the server ends, another one gets the handshake, the subscriptions, and each request that was not
answered and changes nothing. A request that may have changed something is not repeated. This module
uses only the standard library.
"""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from textrawl.server.description import NAME
from textrawl.server.framing import RequestId, read_id

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

        Requests of them that are `unanswered` are removed there.
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
