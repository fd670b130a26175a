"""Garbage collection of Python and free memory of the C library."""

import gc
from collections.abc import Generator
from contextlib import contextmanager, suppress

_M_MMAP_THRESHOLD = -3  # malloc.h of glibc
_LARGE = 1 << 20  # bytes


@contextmanager
def pause_collection() -> Generator[None]:
    """Pause garbage collection during imports.

    Imports leave no garbage, and collection would take a tenth of their time. Objects that exist at
    the end are never scanned again, so later collections pause calls less.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def return_freed_memory() -> None:
    """Make glibc return freed memory to the system at once; other C libraries are left alone.

    By default glibc keeps as much free memory as the first large block that was freed. Here that
    block belongs to a vocabulary, so 8 MB would stay allocated for ever.
    """
    import ctypes  # noqa: PLC0415 - only servers need it

    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE)
        library.malloc_trim(0)
