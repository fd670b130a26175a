"""A question: one call of a tool or an operation, answered by the process that has the memory open.

Commands and hooks ask, and a hook runs at every prompt. Therefore the module imports only the
standard library, `environment`, and modules like itself.
"""

import json
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from textrawl import __version__
from textrawl.environment import ValueSource, find_value, read_sources
from textrawl.errors import StartRefused
from textrawl.host.entrance import Address, choose_address, start_host
from textrawl.host.requests import PING, SocketAnswer, complete, read_answer
from textrawl.values.word_lists import PROGRAM
from textrawl_client.unix_socket import (
    MOST_BYTES,
    NotListening,
    ResidentRefused,
    Unreachable,
    exchange,
)

Request = dict[str, Any]

_PAUSE = 0.01  # seconds between attempts to reach a process that is starting

_started: list[Any] = []  # Python warns of a process that nobody refers to


def build_question(method: str, params: Mapping[str, Any], **program: Any) -> Request:
    """Return the request for an operation of `memory.commands`. What is None is left out.

    `program` says who asks, in the keys of `textrawl.wire.program.Program`. `client` is the name
    for the recall log and the trail, such as "textrawl hook (claude-code)".
    """
    return {"method": method, "params": {**_drop(params), "_meta": {PROGRAM: _drop(program)}}}


def build_call(tool: str, arguments: Mapping[str, Any], **program: Any) -> Request:
    """Return the request for a tool, in the same way."""
    params = {"name": tool, "arguments": _drop(arguments)}
    return build_question("tools/call", params, **program)


def _drop(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def ask(request: Request, *, timeout: float, starting: float | None = None) -> SocketAnswer:
    """Return the answer of the process that has the memory open, within `timeout` seconds.

    Without `starting`, raise NotListening if there is none. Else start one, which goes on after the
    answer and has `starting` seconds to listen. Raises Unreachable, TextrawlError.
    """
    deadline = time.monotonic() + timeout
    listening, started = deadline, None
    with _explain_faults():
        sources = read_sources()
        address = choose_address(sources)
        asked = (complete(request, sources), complete(PING, sources))
        line, ping = (json.dumps(one).encode() + b"\n" for one in asked)
    if len(line) > MOST_BYTES:
        raise ResidentRefused("The request is too long")
    while True:
        try:
            with _explain_faults():
                answer: Any = json.loads(exchange(address, line, ping, deadline))
            break
        except NotListening:
            if starting is None or time.monotonic() > listening or (started and started.poll()):
                raise
            if started is None:
                started, listening = _start(sources, address), time.monotonic() + starting
                deadline = max(deadline, listening)
        time.sleep(_PAUSE)
    if not isinstance(answer, dict) or "version" in answer or "jsonrpc" not in answer:
        raise ResidentRefused(f"Another version than {__version__} answers")
    return read_answer(cast("dict[str, Any]", answer))


@contextmanager
def _explain_faults() -> Generator[None]:
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        raise Unreachable(str(error)) from error
    except StartRefused as error:
        raise ResidentRefused(str(error)) from error


def _start(sources: Sequence[ValueSource], address: Address) -> Any:
    """Start a host for questions. Raises Unreachable."""
    kind = "question" if find_value("server_url", sources) is None else "remote"
    try:
        _started.append(start_host(address, kind))
    except (OSError, StartRefused) as error:
        raise Unreachable(str(error)) from error
    return _started[-1]
