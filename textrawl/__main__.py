"""The command line: `textrawl`, or `python -m textrawl`.

This module imports almost nothing before `main` has decided what Ctrl-C does.
"""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from textrawl.cli.process_start import end_at_interrupt

_BRIEF = ("recall", "digest", "hook")  # processes of these commands usually live for milliseconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command, and exit with the code that `textrawl.cli.start.run` returns.

    A signal ends the process with 128 + its number.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    brief = arguments is None and words[:1] and words[0] in _BRIEF
    if brief:
        gc.disable()
    if arguments is None:
        end_at_interrupt()
    from textrawl.cli.start import run  # noqa: PLC0415 - from here on Ctrl-C ends the process

    code = run(words)
    if brief and "typer" not in sys.modules:
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> None:
    """End the process at once. Python would take 6 ms of 42 to end it."""
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
