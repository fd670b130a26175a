"""The start of a process: Ctrl-C (SIGINT) while it loads modules, and garbage collection.

The process can be interrupted before it has loaded anything else. Therefore this module imports
only the standard library. `foreground` handles Ctrl-C while a command works.
"""

import gc
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


@contextmanager
def pause_collection() -> Generator[None]:
    """Pause garbage collection during imports.

    Imports leave no garbage, and collections would take a tenth of the time of imports. Objects
    that exist at the end are never scanned again, so that later collections are shorter.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()
