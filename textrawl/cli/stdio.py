"""`textrawl serve` over stdio, and `textrawl` alone: one client, which started this process."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from textrawl import __version__
from textrawl.cli.garbage_collection import pause_collection
from textrawl.environment import Unclear, peek
from textrawl.server.introduction import Introduction, introduce
from textrawl.toolsets.catalogue import EVERY, TOOLSETS
from textrawl.transports.stdio.greeting import Greeter
from textrawl.transports.stdio.reception import receive

_ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_ON, _OFF = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def run_stdio() -> None:
    """Greet the client, load what serves it meanwhile, and serve it. Raises StartRefused."""
    with _end_on_signals(), receive() as reception:
        with suppress(Unclear):
            reception.introduce(Greeter(__version__, guess_introduction()))
        with pause_collection():
            from textrawl.cli.hosting import serve_client  # noqa: PLC0415 - as late as it can

        serve_client(reception)


def guess_introduction() -> Introduction:
    """Return the introduction of the server that the environment describes.

    Raises Unclear where it takes `settings` to tell, which is not loaded yet.
    """
    names = [name.strip() for name in (peek("toolsets") or TOOLSETS[0]).split(",")]
    enabled = (peek("enable_memory") or _ON[0]).lower()
    if enabled not in (*_ON, *_OFF) or not {*names} <= {*TOOLSETS, EVERY}:
        raise Unclear
    offered = TOOLSETS if EVERY in names else names
    return introduce(offered, enabled=enabled in _ON)


@contextmanager
def _end_on_signals() -> Generator[None]:
    """Until the event loop looks after signals, they end the process as they do later: with 0."""
    before = {number: signal.signal(number, _end) for number in _ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(_: int, __: FrameType | None) -> NoReturn:
    # Nothing is open yet. An exception could be lost: imports run callbacks that ignore them.
    os._exit(0)
