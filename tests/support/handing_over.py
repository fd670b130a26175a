"""Processes of clients over stdio, of which one has the memory open for the others."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from textrawl.server.handover import Entrance, find_entrance

from tests.support.commands import HELLO, Process
from tests.support.sockets import find_listener

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def is_passing_on(process: int) -> bool:
    """Whether a process only passes messages on, and has not loaded what a server needs."""
    return "pydantic_core" not in Path(f"/proc/{process}/maps").read_text(encoding="utf-8")


def find_server(entrance: Entrance) -> int:
    """The id of the process that serves the others. Raises OSError if there is none."""
    return find_listener(entrance.address.socket)


def is_listening(entrance: Entrance) -> bool:
    """Whether a process serves the others."""
    with suppress(OSError):
        return find_server(entrance) > 0
    return False


def open_entrance() -> Entrance:
    """Where processes with the environment of this one ask for a session."""
    entrance = find_entrance()
    assert entrance is not None
    return entrance


def find_child() -> psutil.Process:
    """The newest process that this one started."""
    return max(psutil.Process().children(), key=lambda child: child.create_time())


def greet(process: Process) -> None:
    """Shake hands as a client of the legacy era."""
    process.say(HELLO)
    assert process.hear()["id"] == HELLO["id"]
    process.say(INITIALIZED)


def call_of(identity: int, tool: str, **arguments: object) -> dict[str, Any]:
    """The request for a tool."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params}


def call(process: Process, identity: int, tool: str, **arguments: object) -> dict[str, Any]:
    """The answer to a call, an error too."""
    process.say(call_of(identity, tool, **arguments))
    while (answer := process.hear()).get("id") != identity:
        pass
    return answer


def search(process: Process, identity: int, query: str) -> str:
    """The text of the answer to a search."""
    answer = call(process, identity, "query_memory", mode="search", query=query)
    return answer["result"]["content"][0]["text"]
