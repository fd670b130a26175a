"""The client of the socket: it asks the process that has the memory open.

A hook of an editor and `textrawl recall` run this module before anything else is imported.
Therefore it imports only the standard library, `environment`, and modules like itself.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from textrawl import __version__
from textrawl.environment import (
    ValueSource,
    find_access_token,
    find_data_dir,
    find_value,
    list_options,
    read_sources,
)
from textrawl.errors import StartRefused, TextrawlError
from textrawl.values.word_lists import PROGRAM
from textrawl_client.unix_socket import (
    MOST_BYTES,
    Address,
    MemoryKey,
    NotListening,
    ResidentRefused,
    Unreachable,
    build_address,
    exchange,
)


def find_address() -> Address:
    """Return the address that the environment and its files name. Raises StartRefused."""
    return choose_address(read_sources())


def choose_address(sources: Sequence[ValueSource]) -> Address:
    """Return the address that `sources` name. Raises StartRefused."""
    found = {name: find_value(name, sources) for name in MemoryKey._fields}
    values = {name: value.text for name, value in found.items() if value}
    key = MemoryKey(**{**values, "access_token": find_access_token(sources)})
    return build_address(find_data_dir(sources), key)


_PAUSE = 0.01  # seconds between attempts to reach a process that is starting
_OFF = ("false", "0", "no", "off")
_ON = ("true", "1", "yes", "on")

PING: dict[str, Any] = {"method": "ping"}
END: dict[str, Any] = {"method": "end"}
SESSION = "session"  # the method of a request that turns its connection into a session of MCP

_started: list[Any] = []


class SocketAnswer(NamedTuple):
    """The answer of a tool: lines with their tokens, the ids of their facts, structured content."""

    text: str
    ids: list[str]
    tokens: int
    content: dict[str, Any]

    @property
    def short_ids(self) -> list[str]:
        """The short ids of the facts."""
        from textrawl.values.text import SHORT_ID  # noqa: PLC0415 - a greeting does without its 12 ms

        return [identity[:SHORT_ID] for identity in self.ids]


def build_call(tool: str, arguments: Mapping[str, Any], **program: Any) -> dict[str, Any]:
    """Return the request for a tool. Arguments that are None are left out.

    `program` says who asks, in the keys of `textrawl.wire.program.Program`. `client` is the name
    for the recall log and the trail, such as "textrawl hook (claude-code)".
    """
    params = {
        "name": tool,
        "arguments": {name: value for name, value in arguments.items() if value is not None},
        "_meta": {PROGRAM: {name: value for name, value in program.items() if value is not None}},
    }
    return {"method": "tools/call", "params": params}


def read_answer(answer: Mapping[str, Any]) -> SocketAnswer:
    """Return the answer of a tool. Raises TextrawlError if it is an error."""
    if "error" in answer:
        failure = answer["error"]["data"]
        raise TextrawlError(failure["fix"], title=failure["error"])
    result = answer["result"]
    if "content" not in result:
        return SocketAnswer("", [], 0, {})
    details = result["_meta"][PROGRAM]
    text, content = result["content"][0]["text"], result["structuredContent"]
    return SocketAnswer(text, details["ids"], details["tokens"], content)


def ask(request: Mapping[str, Any], *, timeout: float) -> SocketAnswer:
    """Send a request to the process that has the memory open, and return its answer.

    `timeout` is in seconds, and applies to the whole call. Raises Unreachable, TextrawlError.
    """
    deadline = time.monotonic() + timeout
    try:
        address, line = _prepare(request)
        ping = json.dumps(complete(PING)).encode() + b"\n"
        answer = json.loads(exchange(address, line, ping, deadline))
    except (OSError, ValueError, RuntimeError) as error:
        raise Unreachable(str(error)) from error
    except StartRefused as error:
        raise ResidentRefused(str(error)) from error
    if not isinstance(answer, dict) or "version" in answer or "jsonrpc" not in answer:
        raise ResidentRefused(f"Another version than {__version__} answers")
    return read_answer(cast("dict[str, Any]", answer))


def ask_or_start(
    request: Mapping[str, Any], *, timeout: float, starting: float = 0.0
) -> SocketAnswer:
    """Do the same as `ask`. If no process listens, start a host and wait for it.

    Raises Unreachable after `timeout` seconds, or after `starting` seconds more if it started the
    process. The started process goes on.
    """
    deadline = time.monotonic() + timeout
    started = False
    while True:
        try:
            return ask(request, timeout=deadline - time.monotonic())
        except ResidentRefused:
            raise
        except NotListening:
            if not started:
                start_resident()
                deadline, started = deadline + starting, True
            if deadline - time.monotonic() < _PAUSE:
                raise
        except Unreachable:
            if deadline - time.monotonic() < _PAUSE:
                raise
        time.sleep(_PAUSE)


def start_resident() -> None:
    """Start a host in its own session, without waiting for it.

    The process ends at once if another process listens. Raises Unreachable if it cannot be started.
    """
    import subprocess  # noqa: PLC0415 - only a cold start needs it

    # With -P, Python does not load modules from the folder of a project, in which hooks run.
    remote = ["remote"] if find_value("server_url", read_sources()) else []
    command = [sys.executable, "-P", "-m", "textrawl", *list_options(), "host", *remote]
    try:
        process = subprocess.Popen(  # noqa: S603 - a fixed command
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise Unreachable(str(error)) from error
    _started.append(process)  # Python warns of a process that nobody refers to


def complete(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the whole request, with the version of textrawl and with what the settings forbid.

    Raises ResidentRefused if memory is off, and StartRefused.
    """
    return _complete(request, read_sources())


def _complete(request: Mapping[str, Any], sources: Sequence[ValueSource]) -> dict[str, Any]:
    names = ("enable_memory", "read_only", "record_recalls")
    found = {name: value.text.lower() for name in names if (value := find_value(name, sources))}
    if found.get("enable_memory", _ON[0]) not in _ON:
        raise ResidentRefused("TEXTRAWL_ENABLE_MEMORY is off")
    read_only = found.get("read_only", _OFF[0]) not in _OFF
    quiet = read_only or found.get("record_recalls") == "off"
    own = {"version": __version__, "readOnly": read_only, "record": not quiet}
    params = request.get("params", {})
    program = {**own, **params.get("_meta", {}).get(PROGRAM, {})}
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": request["method"],
        "params": {**params, "_meta": {PROGRAM: program}},
    }


def _prepare(request: Mapping[str, Any]) -> tuple[Address, bytes]:
    """Return the address, and the request as a line."""
    sources = read_sources()
    line = json.dumps(_complete(request, sources)).encode() + b"\n"
    if len(line) > MOST_BYTES:
        raise ResidentRefused("The request is too long")
    return choose_address(sources), line
