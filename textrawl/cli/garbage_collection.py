"""What is done with memory that nobody needs any more, by Python and by the C library."""

import gc
from collections.abc import Generator
from contextlib import contextmanager, suppress

_M_MMAP_THRESHOLD = -3  # malloc.h of glibc
_LARGE = 1 << 20  # bytes


@contextmanager
def pause_collection() -> Generator[None]:
    """No search for garbage: imports leave none, and a tenth of their time goes into it.

    What is there at the end is never searched again, which spares calls the long pauses.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def give_back_memory() -> None:
    """Has glibc give memory back to the system as soon as it is free; elsewhere nothing happens.

    Left to itself it takes the first large piece that is freed, of a vocabulary, for the measure of
    what to keep at hand from then on: 8 MB, for ever.
    """
    import ctypes  # noqa: PLC0415 - commands that end at once keep nothing

    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE)
        library.malloc_trim(0)
