"""Pipes of clients over stdio, whose host has the memory open."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.support.commands import HELLO, Process
from tests.support.sockets import find_listener
from textrawl.environment import read_sources
from textrawl.host.entrance import Entrance, find_entrance

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def is_pipe(process: int) -> bool:
    """Whether a process has not loaded what a host needs."""
    return "pydantic_core" not in Path(f"/proc/{process}/maps").read_text(encoding="utf-8")


def find_host(entrance: Entrance) -> int:
    """The id of the process that serves the pipes. Raises OSError if there is none."""
    return find_listener(entrance.address.socket)


def is_listening(entrance: Entrance) -> bool:
    """Whether a host serves the pipes."""
    with suppress(OSError):
        return find_host(entrance) > 0
    return False


def open_entrance() -> Entrance:
    """Where pipes with the environment of this process ask for a session."""
    return find_entrance(read_sources())


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
