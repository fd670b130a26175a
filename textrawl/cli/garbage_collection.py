"""Garbage collection of Python and free memory of the C library."""

import gc
from collections.abc import Generator
from contextlib import contextmanager, suppress

_M_MMAP_THRESHOLD = -3  # malloc.h of glibc
_LARGE = 1 << 20  # bytes


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


def return_freed_memory() -> None:
    """Make glibc return freed memory to the system now. With other C libraries, do nothing.

    By default glibc keeps free memory up to the size of the first large block that was freed. In
    this process that block belonged to a vocabulary, and glibc would keep 8 MB until the end.
    """
    import ctypes  # noqa: PLC0415 - only servers need it

    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE)
        library.malloc_trim(0)
