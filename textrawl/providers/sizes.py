"""The largest body of a response that the current task accepts."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_FRAME = 65_536  # bytes of a body beside the expected ones
_max_bytes: ContextVar[int] = ContextVar("max_bytes", default=_FRAME)


@contextmanager
def expect_bytes(count: int) -> Generator[None]:
    """Accept `count` more bytes of a body in this task and `with` block."""
    before = _max_bytes.set(_FRAME + count)
    try:
        yield
    finally:
        _max_bytes.reset(before)


def find_most_bytes() -> int:
    """Return the largest size of a body in bytes."""
    return _max_bytes.get()
