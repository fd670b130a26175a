"""Answers to a client's first requests, given before the MCP SDK is loaded.

Some clients wait one second for the answer to `server/discover`, and then send `initialize`. The
SDK would refuse that `initialize`, because for the SDK the first request decides the protocol. Here
the first request after `server/discover` decides the protocol.

The answers equal the answers of the SDK, and a test compares them. The SDK answers all unusual
requests.
"""

import json
import os
from typing import NamedTuple

from textrawl.server.description import NAME, TITLE, ServerDescription
from textrawl.transports.framing.outlines import RequestId, read_id
from textrawl.transports.stdio.shapes import (
    CAPABILITIES,
    VERSION,
    Members,
    is_envelope,
    is_handshake,
    is_object,
)

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
METHOD_NOT_FOUND, INVALID_PARAMS, UNSUPPORTED_VERSION = -32601, -32602, -32022

_SERVER = "io.modelcontextprotocol/serverInfo"
_LONGEST = 65_536  # bytes: longer messages are left to the SDK
_MOST_BRACKETS = 100  # messages with more brackets are left to the SDK, which refuses deep nesting
_KEYS = {"jsonrpc", "id", "method", "params"}


class Greeting(NamedTuple):
    """The answer to a message. `passed` is the message that the SDK reads instead, or None."""

    answer: bytes
    passed: bytes | None = None


class Greeter:
    """Answers the first requests. From the first other message on, the SDK answers everything."""

    def __init__(self, version: str, description: ServerDescription) -> None:
        self._server = {"name": NAME, "title": TITLE, "version": version}
        instructions = description.instructions
        self._instructions = {} if instructions is None else {"instructions": instructions}
        self._description = description
        self._done = False
        self._hidden: str | None = None

    def greet(self, line: bytes) -> Greeting | None:
        """Return the answer to `line`, or None if the SDK has to answer."""
        if self._done or (message := _read(line)) is None:
            return None
        method, params = message.get("method"), message.get("params")
        if method == "server/discover" and (reply := self._discover(params)) is not None:
            return Greeting(_write(message["id"], reply))
        self._done = True
        if method != "initialize" or not is_handshake(params):
            return None
        # The SDK also needs the handshake. It gets another id, so that its answer can be dropped.
        self._hidden = f"{NAME}-{os.urandom(8).hex()}"
        reply = {"result": self._initialize(params)}
        return Greeting(_write(message["id"], reply), _encode(message | {"id": self._hidden}))

    def hides(self, identity: RequestId | None) -> bool:
        """Return whether to drop the SDK's answer to this id. Only the first answer is dropped."""
        if self._hidden is None or identity != self._hidden:
            return False
        self._hidden = None
        return True

    def _initialize(self, params: Members) -> Members:
        wanted = params["protocolVersion"]
        return {
            "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": self._description.list_capabilities(modern=False),
            "serverInfo": self._server,
            **self._instructions,
        }

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
