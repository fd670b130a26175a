"""Reading stdin from the start of the process, and greeting the client while modules are loaded.

A thread reads and greets until `take_over`, and also answers lists from the file of `early_lists`.
The thread uses only the standard library. `EarlyReader` holds the state for the next reader:
the lines that are `waiting`, the half line in `splitter`, the answers that are `unwritten`, and in
`greeter` the id of the handshake whose second answer has to be dropped.
"""

import json
import os
import select
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from threading import Thread
from typing import Any, NamedTuple, TypeGuard, cast

from textrawl.server.description import NAME, TITLE, ServerDescription
from textrawl.server.early_lists import Answers
from textrawl.server.framing import (
    CHUNK,
    LineSplitter,
    Output,
    RequestId,
    Text,
    read_id,
    read_outline,
    redirect,
)
from textrawl.values.word_lists import PROGRAM

Members = dict[str, Any]

_ANY: Members = {}
_EACH = "*"  # stands for every member's name
_REQUIRED = "!"  # ends the name of a required member
_NULL = type(None)
_TOKEN = (str, int)  # types that are meant exactly: neither null nor a boolean is a token
_LEVELS = frozenset(
    {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
)
_CLIENT = {
    "name!": str, "version!": str, "title": str, "description": str, "websiteUrl": str,
    "icons": [{"src!": str, "mimeType": str, "sizes": [str], "theme": _NULL}],
}  # fmt: skip
_CAPABILITIES = {
    "elicitation": {"form": _ANY, "url": _ANY},
    "experimental": {_EACH: _ANY},
    "extensions": {_EACH: _ANY},
    "roots": {"listChanged": bool},
    "sampling": {"context": _ANY, "tools": _ANY},
    "tasks": {
        "list": _ANY, "cancel": _ANY,
        "requests": {"sampling": {"createMessage": _ANY}, "elicitation": {"create": _ANY}},
    },
}  # fmt: skip
_OURS = "io.modelcontextprotocol/"
VERSION, CAPABILITIES, CLIENT = (
    f"{_OURS}{name}" for name in ("protocolVersion", "clientCapabilities", "clientInfo")
)
"""The names of three members of `_meta`."""

_META = {"progressToken": _TOKEN, f"{_OURS}logLevel": _LEVELS}
_HANDSHAKE = {
    "protocolVersion!": str,
    "capabilities!": _CAPABILITIES,
    "clientInfo!": _CLIENT,
    "_meta": _META,
}
_ENVELOPE = _META | {f"{CAPABILITIES}!": _CAPABILITIES, CLIENT: _CLIENT}
_LEGACY = {"progressToken": _TOKEN, VERSION: _NULL}


def is_object(value: object) -> TypeGuard[Members]:
    """Return whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_handshake(params: object) -> TypeGuard[Members]:
    """Return whether `params` are usual parameters of `initialize`."""
    return _fits(params, _HANDSHAKE)


def is_envelope(meta: object) -> bool:
    """Return whether `meta` is a usual `_meta` of protocol 2026-07-28. VERSION is not checked."""
    return _fits(meta, _ENVELOPE)


def _fits(value: object, shape: Any) -> bool:
    """Return whether `value` has this shape. A member can be absent or null unless required."""
    if isinstance(shape, type):
        return isinstance(value, shape)
    if isinstance(shape, frozenset):
        return isinstance(value, str) and value in shape
    if isinstance(shape, list):
        [inner] = cast("list[Any]", shape)
        items = cast("list[object]", value) if isinstance(value, list) else [None]
        return all(_fits(item, inner) for item in items)
    if not is_object(value):
        return False
    if _EACH in shape:
        return all(_fits(member, shape[_EACH]) for member in value.values())
    return all(_has(value, name, inner) for name, inner in shape.items())


def _has(members: Members, name: str, shape: Any) -> bool:
    if shape is _TOKEN:
        return name not in members or type(members[name]) in _TOKEN
    member: object = members.get(name.removesuffix(_REQUIRED))
    return not name.endswith(_REQUIRED) if member is None else _fits(member, shape)


HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32601, -32602, -32603
UNSUPPORTED_VERSION = -32022

_SERVER = "io.modelcontextprotocol/serverInfo"
_LONGEST = 65_536  # bytes: longer messages are left to the SDK
_MOST_BRACKETS = 100  # messages with more brackets are left to the SDK, which refuses deep nesting
_KEYS = {"jsonrpc", "id", "method", "params"}


class Greeting(NamedTuple):
    """The answer to a message. `passed` is the message that the SDK reads instead, or None."""

    answer: bytes
    passed: bytes | None = None


class Greeter:
    """Answers the first requests. From the first other request on, the SDK answers everything.

    Lists are the exception: after a handshake, all lists that `answers` has are answered with it.
    """

    def __init__(
        self, version: str, description: ServerDescription, answers: Answers | None = None
    ) -> None:
        self._server = {"name": NAME, "title": TITLE, "version": version}
        instructions = description.instructions
        self._instructions = {} if instructions is None else {"instructions": instructions}
        self._description = description
        self._answers = answers or {}
        self._done = False
        self._hidden: str | None = None
        self.agreed: str | None = None
        """The version of the protocol that a handshake agreed on."""
        self.listed = dict[str, bytes]()
        """The last answer to each list that a client got after a handshake."""

    def greet(self, line: bytes) -> Greeting | None:
        """Return the answer to `line`, or None if the SDK has to answer."""
        if (self._done and not self._answers) or (message := _read(line)) is None:
            return None
        method, params = message.get("method"), message.get("params")
        if found := self._find_list(method, params):
            identity = _encode(message["id"])
            return Greeting(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (identity, found))
        if self._done:
            return None
        if (reply := self._reply(method, params)) is not None:
            return Greeting(_write(message["id"], reply))
        self._done = True
        if method != "initialize" or not is_handshake(params):
            return None
        # The SDK also needs the handshake. It gets another id, so that its answer can be dropped.
        self._hidden = f"{NAME}-{os.urandom(8).hex()}"
        reply = {"result": self._initialize(params)}
        self.agreed = reply["result"]["protocolVersion"]
        return Greeting(_write(message["id"], reply), _encode(message | {"id": self._hidden}))

    def hides(self, identity: RequestId | None) -> bool:
        """Return whether to drop the SDK's answer to this id. Only the first answer is dropped."""
        if self._hidden is None or identity != self._hidden:
            return False
        self._hidden = None
        return True

    def end_lists(self) -> None:
        """Leave all further lists to the server, which has just been opened."""
        self._answers = {}

    def _find_list(self, method: object, params: object) -> bytes | None:
        """Return the answer to a plain request for the first page of a list, or None."""
        if not isinstance(method, str) or method not in self._answers:
            return None
        members = params if is_object(params) else {}
        meta: object = members.get("_meta", _ANY)
        if members.keys() - {"_meta"} or not is_object(meta) or PROGRAM in meta:
            return None
        if self.agreed is not None:
            found = self._answers[method].get(self.agreed) if _fits(meta, _LEGACY) else None
            if found is not None:
                self.listed[method] = found
            return found
        wanted: object = meta.get(VERSION)
        if self._done or wanted not in MODERN_VERSIONS or not is_envelope(meta):
            return None
        return self._answers[method].get(str(wanted))

    def _initialize(self, params: Members) -> Members:
        wanted = params["protocolVersion"]
        return {
            "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": self._description.list_capabilities(modern=False),
            "serverInfo": self._server,
            **self._instructions,
        }

    def _reply(self, method: object, params: object) -> Members | None:
        """Return the reply to a request that needs no session, or None for another request."""
        if method == "ping" and not params:
            return {"result": {}}
        return self._discover(params) if method == "server/discover" else None

    def _discover(self, params: object) -> Members | None:
        """Return the reply, or None for a request that only the SDK can answer."""
        meta: object = params.get("_meta") if is_object(params) else None
        if not is_object(meta) or VERSION not in meta:
            return _refuse(METHOD_NOT_FOUND, "Method not found", "server/discover")
        if CAPABILITIES not in meta:
            reason = f"params._meta is missing the required envelope key(s): {CAPABILITIES}"
            return _refuse(INVALID_PARAMS, reason)
        wanted: object = meta[VERSION]
        if not isinstance(wanted, str):
            reason = "the protocol-version envelope value must be a string"
            return _refuse(INVALID_PARAMS, reason)
        if wanted not in MODERN_VERSIONS:
            data = {"supported": list(MODERN_VERSIONS), "requested": wanted}
            return _refuse(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        return {"result": self._describe()} if is_envelope(meta) else None

    def _describe(self) -> Members:
        return {
            "resultType": "complete",
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": self._description.list_capabilities(modern=True),
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {_SERVER: self._server},
            **self._instructions,
        }


def _read(line: bytes) -> Members | None:
    """Return the request in `line`, `{}` for an unusual request, or None for another message."""
    if len(line) > _LONGEST or line.count(b"{") + line.count(b"[") > _MOST_BRACKETS:
        return {}
    try:
        message: object = json.loads(line.decode(), parse_constant=_refuse_constant)
        _encode(message)  # fails for a lone surrogate
    except ValueError:
        return {}
    if not is_object(message) or not {"method", "id"} <= {*message}:
        return None
    plain = (
        {*message} <= _KEYS
        and message.get("jsonrpc") == "2.0"
        and isinstance(message["method"], str)
        and read_id(message) is not None
        and isinstance(message.get("params", {}), dict | None)
    )
    return message if plain else {}


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _refuse(code: int, reason: str, data: object = None) -> Members:
    error = {"code": code, "message": reason}
    return {"error": error if data is None else {**error, "data": data}}


def _write(identity: RequestId, reply: Members) -> bytes:
    return _encode({"jsonrpc": "2.0", "id": identity, **reply})


def _encode(message: object) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


_LAST_WORDS = 2.0  # seconds that a client has to read why a server did not start
_MOST_WAITING = 8 << 20  # bytes of lines that wait for the SDK. Further input stays in the pipe.


class Endpoint:
    """The lines that a client sends, and the output to it."""

    def __init__(self, input_descriptor: int, output_descriptor: int) -> None:
        self.input = input_descriptor
        self.output = Output(output_descriptor)
        self.greeter: Greeter | None = None
        self.splitter = LineSplitter()
        self.waiting: deque[Text] = deque()
        """Lines for the SDK, in their order."""
        self.unwritten: bytearray = bytearray()
        self.ended = False
        """True after the end of the client's input."""
        self.hidden = set[RequestId]()
        """The ids of repeated requests, whose answers the client has got before."""

    def hides(self, identity: RequestId | None) -> bool:
        """Return whether to drop the answer to this id. Only the first answer is dropped."""
        if identity in self.hidden:
            self.hidden.discard(identity)
            return True
        return self.greeter is not None and self.greeter.hides(identity)

    def take_over(self) -> None:
        """Let the caller handle the waiting lines and the unwritten answers."""

    def read(self) -> bytes:
        """Return what the client has sent, or nothing if its end is closed."""
        try:
            return os.read(self.input, CHUNK)
        except OSError:  # a socket or terminal whose other end is closed
            return b""

    def split(self, chunk: bytes) -> list[Text]:
        """Return the lines that end in what was read. If that is nothing, the input has ended."""
        self.ended = not chunk
        return self.splitter.feed(chunk) if chunk else self.splitter.end()

    def greet(self, text: Text) -> Text | None:
        """Answer `text` if it needs a greeting, and return the text that the SDK has to read."""
        greeting = self.greeter.greet(text) if self.greeter and isinstance(text, bytes) else None
        if greeting is None:
            return text
        self.unwritten += greeting.answer + b"\n"
        return greeting.passed


class EarlyReader(Endpoint):
    """The endpoint of the client that started this process.

    A thread handles it until `take_over`. The thread reads from the start, and answers only after
    `begin_greeting`.
    """

    def __init__(self, input_descriptor: int, output_descriptor: int) -> None:
        super().__init__(input_descriptor, output_descriptor)
        self._lines = deque[Text]()
        self._size = 0
        self._stopped = False
        self._wakeup_reader, self._wakeup_writer = os.pipe()
        self._thread = Thread(target=self._run, name="early reader", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def begin_greeting(self, greeter: Greeter) -> None:
        """Begin to answer with `greeter`."""
        self.greeter = greeter
        if not self._stopped:
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

    def refuse(self, reason: str) -> None:
        """Answer every waiting request with an error, because the server cannot start."""
        self.take_over()
        for text in self.waiting:
            identity = read_outline(text).find_id()
            if identity is not None and not self.hides(identity):
                self.unwritten += _write(identity, _refuse(INTERNAL_ERROR, reason)) + b"\n"
        self.waiting.clear()
        while self.unwritten and select.select([], [self.output.descriptor], [], _LAST_WORDS)[1]:
            self._write()

    def _run(self) -> None:
        while not self._stopped:
            reads = not self.ended and self._size < _MOST_WAITING
            readers = [self._wakeup_reader, self.input] if reads else [self._wakeup_reader]
            writers = [self.output.descriptor] if self.unwritten else []
            readable, writable, _ = select.select(readers, writers, [])
            if self._wakeup_reader in readable:
                os.read(self._wakeup_reader, CHUNK)
            if self.input in readable:
                chunk = self.read()
                self._size += len(chunk)
                self._lines += self.split(chunk)
            while self._lines and self.greeter is not None:
                if (passed := self.greet(self._lines.popleft())) is not None:
                    self.waiting.append(passed)
            if writable:
                self._write()

    def _write(self) -> None:
        try:
            del self.unwritten[: self.output.write(self.unwritten)]
        except OSError:  # the client has closed its end
            self.unwritten.clear()
            self.ended = True


@contextmanager
def receive() -> Generator[EarlyReader]:
    """Read the stdin and write to the stdout of this process, through duplicates of both.

    Inside the block, the original stdin is empty and the original stdout leads to stderr, so that
    stray prints and child processes cannot disturb the protocol.
    """
    with redirect(0, os.devnull) as source, redirect(1, None) as target:
        early_reader = EarlyReader(source, target)
        early_reader.start()
        try:
            yield early_reader
        finally:
            early_reader.take_over()
            early_reader.output.close()
