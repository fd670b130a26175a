"""The answers to requests that come through the socket.

A request is one line of JSON-RPC, as over stdio: `tools/call` with the name and the arguments of a
tool. Its `_meta` says which program asks, and with which version:

    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "query_memory", "arguments": {"mode": "search", "query": "who likes tea?"},
        "_meta": {"textrawl/program": {"version": "0.1.0", "client": "textrawl recall"}}}}

`ping` asks whether the process lives, `end` ends a host, and `status` describes it. After
`session`, a host serves a session of MCP on the connection. Every other method is an operation of
`memory.commands`, and its parameters are those of the operation. A request of another version, or
of another form, is refused with the version of this process.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, cast

import anyio

from textrawl import __version__
from textrawl.client.local import Tools
from textrawl.errors import (
    ArgumentInvalid,
    DatabaseUnavailable,
    MemoryNotEnabled,
    TextrawlError,
)
from textrawl.host.requests import SESSION
from textrawl.postgres.connection import describe_failure
from textrawl.values.text import escape_hidden
from textrawl.values.word_lists import PROGRAM
from textrawl.wire.program import read_program
from textrawl.wire.replies import describe_error, write_sentences
from textrawl_client.wire import Answer

Members = dict[str, Any]

_INVALID = -32600  # a number of JSON-RPC
_ME = f"textrawl {__version__}"

Serve = Callable[[int, anyio.Event], Awaitable[None]]


class Admission(dict[str, Any]):
    """The result that begins a session of MCP on its connection.

    `serve` serves it at a descriptor until it ends, or until soon after this process leaves.
    """

    def __init__(self, serve: Serve, **members: Any) -> None:
        super().__init__(members)
        self.serve = serve


class Host(Protocol):
    """A process that has sessions for the clients of other processes."""

    async def admit(self, params: Members, /) -> Admission:
        """Begin a session. Raises ArgumentInvalid if a setting of the client is wrong."""
        ...

    def describe(self, *, ends: bool) -> Members:
        """Return what `textrawl status` shows. `ends` is true if a request can end the process."""
        ...


async def answer(
    tools: Tools | None,
    line: bytes,
    *,
    end: Callable[[], None] | None = None,
    host: Host | None = None,
) -> Members:
    """Return the answer to a request, or its error with what to do next.

    `end` ends the process. It is None if a request cannot end it. `host` is None if the process has
    no sessions.
    """
    request: Members = {}
    try:
        request = _read_line(line)
        params = _find_object(request, "params")
        meta = _find_object(params, "_meta")
        version = _find_object(meta, PROGRAM).get("version")
        if version != __version__:
            text = f"The process is {_ME}, but {str(version)[:40]} asks: restart the older one"
            refusal = {"code": _INVALID, "message": f"Another version of textrawl. {text}."}
            return _wrap(request, error=refusal, version=__version__)
        method = request.get("method")
        if method == SESSION and host is not None:
            return _wrap(request, result=await host.admit(params))
        if method == "status" and host is not None:
            return _wrap(request, result=host.describe(ends=end is not None))
        return _wrap(request, result=await _run(tools, method, params, end))
    except TextrawlError as error:
        told = _find_told(request, error)
        data = {**describe_error(told), "reason": describe_failure(told.__cause__)}
        text = write_sentences(told.title, told.fix)
        return _wrap(request, error={"code": _INVALID, "message": text, "data": data})


async def _run(
    tools: Tools | None, method: object, params: Members, end: Callable[[], None] | None
) -> Members:
    program = read_program(_find_object(params, "_meta"))
    if method == "end" and end is not None:
        end()
        return {}
    if method == "ping" or program is None:
        return {}
    if tools is None:
        raise MemoryNotEnabled
    tools = tools.adapt(program)
    if method == "tools/call":
        named = program.model_copy(update={"client": program.client or _ME})
        name = str(params.get("name"))
        return _write_result(await tools.call(name, _find_object(params, "arguments"), named))
    given = {name: value for name, value in params.items() if name != "_meta"}
    return _write_result(await tools.operate(str(method), given, program))


def _find_told(request: Members, error: TextrawlError) -> TextrawlError:
    """Return the error to tell: a person can see to a database that was never reached."""
    meta = _find_object(_find_object(request, "params"), "_meta")
    cause = error.__cause__
    own = isinstance(cause, DatabaseUnavailable) and _find_object(meta, PROGRAM).get("person")
    return cause if own and isinstance(cause, DatabaseUnavailable) else error


def _write_result(answered: Answer) -> Members:
    return {
        "content": [{"type": "text", "text": escape_hidden(answered.text)}],
        "structuredContent": answered.content,
        "_meta": {PROGRAM: {"ids": list(answered.ids), "tokens": answered.tokens}},
    }


def _wrap(request: Members, **members: Any) -> Members:
    return {"jsonrpc": "2.0", "id": request.get("id"), **members}


def _read_line(line: bytes) -> Members:
    """Return the members of a request. Raises ArgumentInvalid for a line that is no object."""
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        raise ArgumentInvalid("Send one line with a JSON object", title="Request not understood")
    return cast("Members", members)


def _find_object(members: Mapping[str, Any], name: str) -> Members:
    """Return the member that is an object, or an empty object."""
    found = members.get(name)
    return cast("Members", found) if isinstance(found, dict) else {}
