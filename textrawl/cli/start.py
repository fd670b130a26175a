"""The start of every command. It loads first what can do the command without typer."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from textrawl.cli.process_start import pause_collection, raise_at_interrupt
from textrawl.environment import take_env_file
from textrawl.errors import StartRefused, TextrawlError

_FUNCTIONS = {
    "serve": "host.pipe:run_pipe",
    "host": "cli.host:run_host",
    "hook": "hooks.command:run_hook",
}
"""Functions that do a command without typer, which a client or a hook would have to wait for.

Each gets the words of the command line, and returns an exit code, or None if the application has to
do the command because the command line has another form.
"""


def run(words: Sequence[str]) -> int:
    """Run the command of `words`. Write an expected error to stderr as one line.

    Return the exit code: 0 (done), 1 (refused or failed), 2 (wrong usage), or 130 (interrupted).
    """
    for stream in (sys.stdout, sys.stderr):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="backslashreplace")  # an encoding can lack characters of a fact
    try:
        words = take_env_file(words)
        return _run(words[1:] if words[:1] == ["--"] else words)
    except (StartRefused, TextrawlError) as error:
        _report(_describe(error))
        return 1
    except KeyboardInterrupt:
        _report("Interrupted")
        return 130


def _run(words: list[str]) -> int:
    function = _FUNCTIONS.get(words[0] if words else "serve")
    if function is not None and not {"-h", "--help"} & set(words):
        run_light = _load(function)
        with raise_at_interrupt():
            code = run_light(words)
        if code is not None:
            return code
    with pause_collection():
        run_command = _load("cli.application:run_command")
    return run_command(words)


def _load(function: str) -> Callable[[Sequence[str]], Any]:
    module, _, name = function.partition(":")
    return getattr(import_module(f"textrawl.{module}"), name)


def _describe(error: StartRefused | TextrawlError) -> str:
    if error.__cause__ is None:
        return str(error)
    from textrawl.postgres.connection import describe_error  # noqa: PLC0415 - seldom needed

    return describe_error(error)


def _report(message: str) -> None:
    from textrawl.cli.console import write_error  # noqa: PLC0415 - seldom needed

    write_error(message)
