"""Ctrl-C (SIGINT) while a process loads modules. `foreground` handles it while a command works.

The process can be interrupted before it has loaded anything else. Therefore this module imports
only the standard library.
"""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

_CODE = 128 + signal.SIGINT


def end_at_interrupt() -> None:
    """Let Ctrl-C end the process at once, with one line. Nothing may be open meanwhile.

    A process that was started with SIGINT ignored, such as one in the background of a script, still
    ignores it.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


@contextmanager
def raise_at_interrupt() -> Generator[None]:
    """Let Ctrl-C raise KeyboardInterrupt in the block, so that the work of a command cleans up."""
    if signal.getsignal(signal.SIGINT) is not _end:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _end)


def _end(_: int, __: FrameType | None) -> None:
    # An exception could get lost, or could become another one with a traceback: imports run
    # callbacks that ignore errors, and native code that replaces them.
    os.write(2, b"textrawl: Interrupted\n")
    os._exit(_CODE)
