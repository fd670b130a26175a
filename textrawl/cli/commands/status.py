"""The commands `status` and `stop`."""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

from textrawl.cli.console import open_console, write_cell, write_error, write_json, write_message
from textrawl.cli.inputs import AsJson
from textrawl.environment import read_sources
from textrawl.errors import StartRefused
from textrawl.host.entrance import choose_host, write_request
from textrawl_client.unix_socket import Address, Unreachable, exchange

_ANSWERING, _ENDING = 5.0, 10.0  # seconds that a process has to answer, and to end
_PAUSE = 0.02  # seconds between checks


def status(as_json: AsJson = False) -> None:
    """Show which processes of yours have the memory open.

    Clients, commands and hooks share a process, which ends by itself some minutes after the last
    of them.
    """
    found = [described for _, described in _find_hosts()]
    if as_json:
        write_json(found)
        return
    if not found:
        write_error("Nothing runs: a client, a command or a hook starts the process that it needs")
        return
    console = open_console()
    for one in found:
        since = datetime.fromisoformat(one["since"]).astimezone()
        console.print(
            write_cell(
                f"{one['process']}  {one['version']}  since {since:%Y-%m-%d %H:%M}  "
                f"{one['megabytes']} MB  clients: {len(one['clients'])}  {one['memory']}"
            ),
            soft_wrap=True,
        )
        for line in (*one["clients"], one["log"]):
            console.print(write_cell(f"  {line}"), soft_wrap=True)


def stop() -> None:
    """End the processes of yours that have the memory open.

    They first finish the calls that they have read. The next client, command or hook starts one.
    """
    found = list(_find_hosts())
    if not found:
        write_error("Nothing runs")
        return
    for address, described in found:
        if not described["ends"]:
            raise StartRefused(
                f"The server over HTTP {described['process']} has this memory open: end it where "
                "it was started"
            )
        with suppress(OSError, Unreachable):
            _ask(address, "end")
        end = time.monotonic() + _ENDING
        while address.lock.exists():
            if time.monotonic() > end:
                raise StartRefused(f"The process {described['process']} has not ended: try again")
            time.sleep(_PAUSE)
    write_message(f"Ended: {len(found)}")


def _find_hosts() -> Iterator[tuple[Address, dict[str, Any]]]:
    """Yield the address of each host of the data folder, with what it says of itself."""
    folder = choose_host(read_sources()).folder
    for path in sorted(folder.glob("*.sock")):
        address = Address(folder, path.stem)
        try:
            answer = _ask(address, "status")
        except (OSError, Unreachable, ValueError):
            continue
        if "process" in answer.get("result", {}):
            yield address, answer["result"]


def _ask(address: Address, method: str) -> dict[str, Any]:
    deadline = time.monotonic() + _ANSWERING
    return json.loads(exchange(address, write_request(method), write_request("ping"), deadline))
