"""`textrawl serve` over stdio, or `textrawl` without a command: a client started this process."""

import os
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from textrawl import __version__
from textrawl.cli.process_start import pause_collection
from textrawl.environment import ValueSource, find_value, read_sources
from textrawl.errors import StartRefused, TextrawlError
from textrawl.resident.client import choose_address
from textrawl.server.description import ServerDescription, describe_server
from textrawl.server.early_lists import EarlyLists, find_lists
from textrawl.server.early_reader import EarlyReader, Greeter, receive
from textrawl.tools.catalogue import EVERY, TOOLSETS

_ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_ON, _OFF = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def run_stdio(words: Sequence[str] = ()) -> int | None:
    """Greet the client while the server is loaded, then serve it. Raises StartRefused.

    If another process has the memory open, it serves the client. Return 0, or None for `words` with
    options.
    """
    if [*words] not in ([], ["serve"]):
        return None
    with _end_on_signals(), receive() as early_reader:
        lists = begin_greeting(early_reader)
        from textrawl.server.relay import hand_over  # noqa: PLC0415 - after the greeting

        if hand_over(early_reader):
            return 0
        with pause_collection():
            from textrawl.cli.hosting import serve_client  # noqa: PLC0415 - after the greeting

        try:
            serve_client(early_reader, lists)
        except (StartRefused, TextrawlError) as error:
            from textrawl.postgres.connection import describe_error  # noqa: PLC0415 - seldom needed

            early_reader.refuse(f"textrawl cannot start: {describe_error(error)}")
            raise
    return 0


def begin_greeting(early_reader: EarlyReader) -> EarlyLists | None:
    """Begin to greet the client, and return the lists for it.

    Return None if only the module `settings`, which is not loaded yet, can decide about them.
    """
    try:
        sources = read_sources()
        description = guess_description(sources)
        if description is None:
            return None
        address = choose_address(sources)
        lists = find_lists(address.folder, address.key, sources)
    except (StartRefused, OSError, RuntimeError):  # the settings say more about the reason
        return None
    early_reader.begin_greeting(Greeter(__version__, description, lists.answers))
    return lists


def guess_description(sources: Sequence[ValueSource]) -> ServerDescription | None:
    """Return the description of the server that `sources` configure.

    Return None if only the module `settings` can decide.
    """
    wanted = find_value("toolsets", sources)
    names = [name.strip() for name in (wanted.text if wanted else TOOLSETS[0]).split(",")]
    enabled, resources = (_guess_switch(name, sources) for name in ("enable_memory", "resources"))
    if not {*names} <= {*TOOLSETS, EVERY} or enabled is None or resources is None:
        return None
    offered = TOOLSETS if EVERY in names else names
    return describe_server(offered, enabled=enabled, resources=resources)


def _guess_switch(setting: str, sources: Sequence[ValueSource]) -> bool | None:
    """Return the value of a setting that is true by default, or None for an unusual value."""
    found = find_value(setting, sources)
    value = found.text.lower() if found else _ON[0]
    return value in _ON if value in (*_ON, *_OFF) else None


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
