"""`textrawl serve` over stdio, or `textrawl` without a command: a client started this process."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from textrawl import __version__
from textrawl.cli.garbage_collection import pause_collection
from textrawl.environment import ParsingNeeded, find_unparsed
from textrawl.server.description import ServerDescription, describe_server
from textrawl.server.early_reader import Greeter, receive
from textrawl.tools.catalogue import EVERY, TOOLSETS

_ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_ON, _OFF = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def run_stdio() -> None:
    """Greet the client while the server is loaded, then serve it. Raises StartRefused."""
    with _end_on_signals(), receive() as early_reader:
        with suppress(ParsingNeeded):
            early_reader.begin_greeting(Greeter(__version__, guess_description()))
        with pause_collection():
            from textrawl.cli.hosting import serve_client  # noqa: PLC0415 - after the greeting

        serve_client(early_reader)


def guess_description() -> ServerDescription:
    """Return the description of the server that the environment configures.

    Raises ParsingNeeded if only the module `settings`, which is not loaded yet, can decide.
    """
    names = [name.strip() for name in (find_unparsed("toolsets") or TOOLSETS[0]).split(",")]
    if not {*names} <= {*TOOLSETS, EVERY}:
        raise ParsingNeeded
    offered = TOOLSETS if EVERY in names else names
    enabled, resources = _guess_switch("enable_memory"), _guess_switch("resources")
    return describe_server(offered, enabled=enabled, resources=resources)


def _guess_switch(setting: str) -> bool:
    """Return the value of a setting that is true by default. Raises ParsingNeeded."""
    value = (find_unparsed(setting) or _ON[0]).lower()
    if value not in (*_ON, *_OFF):
        raise ParsingNeeded
    return value in _ON


@contextmanager
def _end_on_signals() -> Generator[None]:
    """End the process with exit code 0 at a signal. After the block, the event loop does this."""
    handlers = {number: signal.signal(number, _end) for number in _ENDS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _end(_: int, __: FrameType | None) -> NoReturn:
    # Nothing is open yet. An exception could get lost, because imports run callbacks that ignore
    # errors.
    os._exit(0)
