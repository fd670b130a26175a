"""`textrawl resident`: a small process that keeps the memory open."""

import time
from typing import Annotated

import typer

from textrawl.cli.console import write_error, write_message
from textrawl.cli.residence import IDLE, TAKEN, stay_resident
from textrawl.errors import StartRefused
from textrawl.resident.address import find_address
from textrawl.resident.client import Refused, Unreachable, ask

_ENDING = 10.0  # seconds to wait for the end of a process and of its Postgres
_PAUSE = 0.02  # seconds between checks

_Idle = Annotated[
    float, typer.Option(metavar="MINUTES", min=0.01, help="End after MINUTES without a request.")
]
_Stop = Annotated[
    bool, typer.Option("--stop", help="End the running process, and wait until it has ended.")
]


def resident(idle: _Idle = IDLE, stop: _Stop = False) -> None:
    """Keep the memory open for hooks and quick commands.

    Hooks start this process if no server runs. It answers `textrawl recall`, `textrawl digest`,
    `textrawl remember` and hooks of the same OS user, through a Unix socket in the data folder.
    """
    if stop:
        _stop()
    elif not stay_resident(idle):
        write_error(TAKEN)


def _stop() -> None:
    """End the process. Raises StartRefused if a server listens, or if the process does not end."""
    try:
        answer = ask({"op": "end"}, timeout=_ENDING)
    except Refused:
        answer = {}  # a process of another version ends if it is asked anything
    except Unreachable:
        write_error("No process has this memory open for hooks and quick commands")
        return
    if "error" in answer:
        raise StartRefused("A server has this memory open: end it, for example with its editor")
    end, lock = time.monotonic() + _ENDING, find_address().lock
    while lock.exists():
        if time.monotonic() > end:
            raise StartRefused("The process has not ended yet: try again")
        time.sleep(_PAUSE)
    write_message("The process has ended.")
