"""The hosts that run now: what each says of itself, and its end."""

import json
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from textrawl.errors import StartRefused
from textrawl.host.entrance import claim
from textrawl.host.requests import write_request
from textrawl_client.unix_socket import Address, Unreachable, exchange

_ANSWERING, _ENDING = 5.0, 10.0  # seconds that a process has to answer, and to end
_PAUSE = 0.02  # seconds between checks


def list_running(folder: Path) -> Iterator[tuple[Address, dict[str, Any]]]:
    """Yield the address of each host whose socket is in `folder`, with what it says of itself."""
    for path in sorted(folder.glob("*.sock")):
        address = Address(folder, path.stem)
        try:
            answer = _ask(address, "status")
        except (OSError, Unreachable, ValueError):
            continue
        if "process" in answer.get("result", {}):
            yield address, answer["result"]


def end_running(folder: Path, memory: str | None = None, *, beside_servers: bool = False) -> int:
    """End each host whose socket is in `folder`, wait for it, and return their number.

    With `memory`, end only those of this memory, which `name_memory` of `memory.opening`
    named. Raises StartRefused if one does not end. A server over HTTP does not, but may go on if
    `beside_servers` is true.
    """
    ended = 0
    for address, described in list(list_running(folder)):
        process, ends = described["process"], described["ends"]
        if memory not in (None, described["memory"]) or (beside_servers and not ends):
            continue
        if not ends:
            raise StartRefused(
                f"The server over HTTP {process} has this memory open: end it where it was started"
            )
        with suppress(OSError, Unreachable):
            _ask(address, "end")
        end = time.monotonic() + _ENDING
        while address.lock.exists():
            if time.monotonic() > end:
                raise StartRefused(f"The process {process} has not ended: try again")
            time.sleep(_PAUSE)
        ended += 1
    return ended


@contextmanager
def keep_out(address: Address, memory: str) -> Generator[None]:
    """End the hosts of a memory, and let none start at `address` during the block.

    Raises StartRefused if one does not end.
    """
    end = time.monotonic() + _ENDING
    while True:
        end_running(address.folder, memory)
        with claim(address) as claimed:
            if claimed:
                yield
                return
        if time.monotonic() > end:
            raise StartRefused("A client starts to use the memory again: end it, and try again")
        time.sleep(_PAUSE)


def _ask(address: Address, method: str) -> dict[str, Any]:
    deadline = time.monotonic() + _ANSWERING
    return json.loads(exchange(address, write_request(method), write_request("ping"), deadline))
