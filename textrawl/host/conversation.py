"""The conversation of one client, which can pass from host to host.

While no host serves the client, a `Conversation` greets it from the description file, and keeps
what it asks. Each host gets the handshake, the subscriptions, and every request that is not
answered. A request that may have changed something is sent once only. This module uses only the
standard library, and modules like itself.
"""

import json
import os
from dataclasses import dataclass, field
from typing import Any, cast

from textrawl.host.description_file import GREETINGS, LISTS, Answers
from textrawl.host.framing import RequestId, read_id, read_outline
from textrawl.values.word_lists import PROGRAM

Members = dict[str, Any]

CANCELLED = "notifications/cancelled"
MODERN_VERSIONS = ("2026-07-28",)
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
INTERNAL_ERROR = -32603  # a number of JSON-RPC
_INITIALIZED = "notifications/initialized"
_SUBSCRIBE, _UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"
_CALL, _LISTEN = "tools/call", "subscriptions/listen"
_UNKNOWN = (
    "Not known whether this was done: the process that had the memory open ended before it "
    "answered. Ask with query_memory, and call again only if it was not done."
)
_ENDS_HOSTS = (
    "The process that had the memory open ended three times before it answered: ask in another "
    "way, and look into the log that `textrawl status` names."
)
_MOST_LOSSES = 3
_OURS = "io.modelcontextprotocol/"
VERSION, CAPABILITIES = f"{_OURS}protocolVersion", f"{_OURS}clientCapabilities"
# Members of `_meta` that shape no answer.
_PLAIN = {"progressToken", VERSION, CAPABILITIES, f"{_OURS}clientInfo", f"{_OURS}logLevel"}
_KEYS = {"jsonrpc", "id", "method", "params"}


@dataclass
class Request:
    """A request that was not answered.

    `sent` is true if the present host may have read it, and `losses` counts the hosts that ended
    before they answered it.
    """

    line: bytes
    method: str
    tool: Any
    sent: bool = False
    losses: int = 0
    end: bytes = b"\n"


@dataclass
class Conversation:
    """What a client and its hosts have said, as far as another host has to know it.

    `described` has the answers of the description file. `reads` has the names of the tools that
    change nothing.
    """

    described: Answers
    reads: frozenset[str] = frozenset()
    open: dict[RequestId, Request] = field(default_factory=dict[RequestId, Request])
    _odd: list[Request] = field(default_factory=list[Request])
    _hosts: int = 0
    _asked: bool = False
    _questions: dict[RequestId, RequestId] = field(default_factory=dict[RequestId, RequestId])
    _handshake: Members | None = None
    _agreed: str | None = None
    _initialized: bytes | None = None
    _subscriptions: dict[str, Members] = field(default_factory=dict[str, Members])
    _hidden: dict[RequestId, tuple[str, bytes] | None] = field(
        default_factory=dict[RequestId, tuple[str, bytes] | None]
    )
    _listed: dict[str, tuple[Members, bytes]] = field(
        default_factory=dict[str, tuple[Members, bytes]]
    )

    @property
    def owes(self) -> bool:
        """Whether the host owes an answer. A subscription is answered at its end."""
        return bool(self._odd) or any(one.method != _LISTEN for one in self.open.values())

    @property
    def asks(self) -> bool:
        """Whether the host waits for an answer of the client, such as that of a user."""
        return bool(self._questions)

    @property
    def size(self) -> int:
        """The bytes of all requests that are not answered."""
        return sum(len(one.line) for one in (*self.open.values(), *self._odd))

    def greet(self, line: bytes) -> bytes | None:
        """Return the answer to a plain request of the first second, or None if a host answers."""
        message = read(line)
        if message is None or not {"id", "method"} <= message.keys() <= _KEYS:
            return None
        identity, method = read_id(message), message["method"]
        params: object = message.get("params")
        plain = identity is not None and message.get("jsonrpc") == "2.0"
        found = self._find_answer(method, params) if plain else None
        if found is None:
            return None
        if method == "initialize":
            self._handshake, self._agreed = message, read_version(found)
        if method in LISTS:
            self._listed[method] = message, found
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(identity), found)

    def _find_answer(self, method: object, params: object) -> bytes | None:
        """Return the described result of a plain request, or None."""
        if method == "initialize":
            return self._initialize(params) if self._handshake is None else None
        if method == "ping":
            return None if params else b"{}"
        if not isinstance(method, str) or method not in (*LISTS, *GREETINGS):
            return None
        meta = _find_meta(params)
        if meta is None or not meta.keys() <= _PLAIN:
            return None
        version = meta.get(VERSION, self._agreed)
        modern = VERSION in meta and isinstance(meta.get(CAPABILITIES), dict)
        if version in MODERN_VERSIONS and not modern:
            return None
        return self.described.get(method, {}).get(str(version))

    def _initialize(self, params: object) -> bytes | None:
        """Return the described answer to a handshake, or None if it is unusual."""
        match params:
            case {
                "protocolVersion": str(wanted),
                "capabilities": dict(),
                "clientInfo": {"name": str(), "version": str()},
            }:
                known = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
                return self.described.get("initialize", {}).get(known)
            case _:
                return None

    def begins_again(self, line: bytes) -> bool:
        """Return whether a client shakes hands that gave up discovering, in a session of its host.

        The SDK serves one era of the protocol in a session. The handshake needs another session.
        """
        message = read(line) if self._asked and self._handshake is None else None
        if message is None or message.get("method") != "initialize":
            return False
        self.open = {name: one for name, one in self.open.items() if one.method not in GREETINGS}
        return True

    def send(self, line: bytes) -> Request | None:
        """Note a line of the client. Return what to send to the host, or None for nothing."""
        message = read(line) or {}
        identity, method = read_id(message), message.get("method")
        if method is None and not {"result", "error"}.isdisjoint(message):
            return self._answer_question(line, message)
        if identity is not None and method is not None and identity not in self.open:
            return self._note_request(line, message, identity)
        if method is None or "id" in message:  # the host says what is wrong with it
            self._odd.append(Request(line, "", None))
            return self._odd[-1]
        if method == _INITIALIZED:
            self._initialized = line
        elif method == CANCELLED:
            self.open.pop(_find(message, "requestId"), None)
        return Request(line, str(method), None)

    def receive(self, line: bytes) -> bytes | None:
        """Note a line of the host. Return the line for the client, or None if it gets none."""
        message = read(line)
        if message is None:
            return line
        identity, method = read_id(message), message.get("method")
        if method == CANCELLED and (asked := _find(message, "requestId")) is not None:
            return encode(
                message | {"params": message["params"] | {"requestId": self._rename(asked)}}
            )
        if identity is None:
            if "error" in message and self._odd:
                self._odd.pop(0)
            return line
        if method is not None:
            name = self._rename(identity)
            self._questions[name] = identity
            return line if name == identity else encode(message | {"id": name})
        if identity in self._hidden:
            return self._compare(message, self._hidden.pop(identity))
        if self.open.pop(identity, None) is None and self._odd:
            self._odd.pop(0)
        return line

    def begin(self, reads: frozenset[str]) -> list[Request]:
        """Return what the next host has to know, in its order."""
        self.reads = reads
        self._hosts += 1
        self._asked = bool(self.open)
        self._questions.clear()
        self._hidden.clear()
        state = [self._handshake] if self._handshake else []
        lines = [self._repeat(message) for message in state]
        if self._initialized is not None:
            lines.append(Request(self._initialized, _INITIALIZED, None))
        lines += [self._repeat(message) for message in self._subscriptions.values()]
        for method, (message, given) in self._listed.items():
            lines.append(self._repeat(message, (method, given)))
        self._listed.clear()
        repeated = {id(line) for line in lines}
        lines += [one for one in self.open.values() if id(one) not in repeated]
        return lines + self._odd

    def lose(self) -> list[bytes]:
        """Return the answers to requests that nobody can answer, because their host has ended.

        A read is repeated, but not for ever: it may be what ends the hosts.
        """
        lost = list[bytes]()
        for identity, request in [*self.open.items()]:
            if not request.sent:
                continue
            request.sent, request.losses = False, request.losses + 1
            if request.method == _CALL and request.tool not in self.reads:
                lost.append(write_error(identity, _UNKNOWN))
            elif request.losses == _MOST_LOSSES:
                lost.append(write_error(identity, _ENDS_HOSTS))
            else:
                continue
            del self.open[identity]
        self._odd = [one for one in self._odd if not one.sent]
        return lost

    def refuse(self, reason: str) -> list[bytes]:
        """Return the answers to all open requests, because no host can be started."""
        names = [*self.open, *(read_outline(one.line).find_id() for one in self._odd)]
        self.open.clear()
        self._odd.clear()
        return [write_error(identity, reason) for identity in names if identity is not None]

    def _note_request(self, line: bytes, message: Members, identity: RequestId) -> Request:
        self._asked = True
        method = str(message["method"])
        request = self.open[identity] = Request(line, method, _find(message, "name"))
        if method == "initialize":
            self._handshake = message
        elif method == _SUBSCRIBE:
            self._subscriptions[str(_find(message, "uri"))] = message
        elif method == _UNSUBSCRIBE:
            self._subscriptions.pop(str(_find(message, "uri")), None)
        return request

    def _repeat(self, message: Members, given: tuple[str, bytes] | None = None) -> Request:
        """Return the request of a message. If the client has its answer, the next is dropped."""
        request = self.open.get(message["id"])
        if request is not None and request.method == message["method"]:
            return request
        identity = f"textrawl-{os.urandom(8).hex()}"
        self._hidden[identity] = given
        return Request(encode(message | {"id": identity}), message["method"], None)

    def _compare(self, message: Members, given: tuple[str, bytes] | None) -> bytes | None:
        """Return a notification if the list that the client got early was another one."""
        if given is None or message.get("result") == json.loads(given[1]):
            return None
        method = f"notifications/{given[0].split('/')[0]}/list_changed"
        return encode({"jsonrpc": "2.0", "method": method})

    def _answer_question(self, line: bytes, message: Members) -> Request | None:
        """Return the client's answer to a question of the present host, or None."""
        identity = read_id(message)
        if identity is None or identity not in self._questions:
            return None
        asked = self._questions.pop(identity)
        return Request(line if asked == identity else encode(message | {"id": asked}), "", None)

    def _rename(self, identity: RequestId) -> RequestId:
        """Return an id for a question that no question of another host has."""
        return f"{identity}-textrawl-{self._hosts}" if self._hosts > 1 else identity


def _find_meta(params: object) -> Members | None:
    """Return `_meta` of parameters that have nothing else, or None for other parameters."""
    if params is None:
        return {}
    members = cast("Members", params) if isinstance(params, dict) else {"": params}
    meta: object = members.get("_meta", {})
    if members.keys() - {"_meta"} or not isinstance(meta, dict) or PROGRAM in meta:
        return None
    found = cast("Members", meta)
    return found if type(found.get("progressToken", 0)) in (int, str) else None


def read(line: bytes) -> Members | None:
    """Return the members of a message, or None for a text that a host refuses."""
    try:
        message: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("Members", message) if isinstance(message, dict) else None


def read_version(result: bytes) -> str:
    """Return the version of the protocol that the answer to a handshake names."""
    return str(json.loads(result)["protocolVersion"])


def write_error(identity: RequestId, reason: str) -> bytes:
    """Return an error for a request."""
    error = {"code": INTERNAL_ERROR, "message": reason}
    return encode({"jsonrpc": "2.0", "id": identity, "error": error})


def encode(message: object) -> bytes:
    """Return a message as it is written."""
    return json.dumps(message, separators=(",", ":")).encode()


def _find(message: Members, name: str) -> Any:
    """Return a parameter that identifies something, or None."""
    params = message.get("params")
    found = cast("Members", params).get(name) if isinstance(params, dict) else None
    return found if isinstance(found, int | str) else None
