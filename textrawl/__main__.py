"""The command line: `textrawl`, or `python -m textrawl`.

For a server over stdio, this module imports little, because the client waits for a greeting. It
imports even less before `main` has decided what Ctrl-C does.
"""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from textrawl.cli.process_start import end_at_interrupt, raise_at_interrupt

TYPE_CHECKING = False  # see above
if TYPE_CHECKING:
    from textrawl.errors import StartRefused, TextrawlError

QUICK_COMMANDS = ("recall", "digest")  # a running process can answer them before typer is loaded
_BRIEF = (*QUICK_COMMANDS, "hook")  # commands whose processes usually live for some milliseconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command, write an expected error to stderr as one line, and exit.

    The exit codes are 0 (done), 1 (refused or failed), 2 (wrong usage), and 128 + signal.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    brief = arguments is None and words[:1] and words[0] in _BRIEF
    if brief:
        gc.disable()
    if arguments is None:
        end_at_interrupt()
    from textrawl.environment import take_env_file  # noqa: PLC0415 - see above
    from textrawl.errors import StartRefused, TextrawlError  # noqa: PLC0415 - see above

    _escape_unwritable()
    try:
        words = take_env_file(words)
        code = _run(words[1:] if words[:1] == ["--"] else words)
    except (StartRefused, TextrawlError) as error:
        code = _report(_describe(error), 1)
    except KeyboardInterrupt:
        code = _report("Interrupted", 130)
    if brief and "typer" not in sys.modules:
        _leave(code)
    sys.exit(code)


def _escape_unwritable() -> None:
    """Write characters that the encoding of stdout or stderr lacks as escapes, not as an error."""
    for stream in (sys.stdout, sys.stderr):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="backslashreplace")


def _run(words: list[str]) -> int:
    if words in ([], ["serve"]):
        from textrawl.cli.stdio import run_stdio  # noqa: PLC0415 - see above

        with raise_at_interrupt():
            run_stdio()
        return 0
    if words[0] == "hook" and not {"-h", "--help"} & set(words):
        from textrawl.hooks.command import run_hook  # noqa: PLC0415 - see above

        with raise_at_interrupt():
            return run_hook(words[1:])
    if words[0] in QUICK_COMMANDS:
        from textrawl.cli.quick import run_quick  # noqa: PLC0415 - not for servers

        with raise_at_interrupt():
            code = run_quick(words)
        if code is not None:
            return code
    if words == ["resident"]:
        from textrawl.cli.resident_start import TAKEN, stay_resident  # noqa: PLC0415 - a hook waits

        with raise_at_interrupt():
            return 0 if stay_resident() else _report(TAKEN, 0)
    from textrawl.cli.process_start import pause_collection  # noqa: PLC0415 - see above

    with pause_collection():
        from textrawl.cli.application import run_command  # noqa: PLC0415 - see above

    return run_command(words)


def _leave(code: int) -> None:
    """End the process at once. Python would take 6 ms of 42 to end it."""
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _describe(error: "StartRefused | TextrawlError") -> str:
    from textrawl.doctor.checks import describe_error  # noqa: PLC0415 - seldom needed

    return describe_error(error)


def _report(message: str, code: int) -> int:
    from textrawl.cli.console import write_error  # noqa: PLC0415 - seldom needed

    write_error(message)
    return code


if __name__ == "__main__":
    main()
