"""The largest body of a provider's response with vectors."""

from contextlib import AbstractContextManager
from typing import Final

from textrawl.embeddings.models import MAX_DIMENSIONS
from textrawl.providers.sizes import expect_bytes

_NUMBER: Final = 32  # bytes for a number and its separators


def expect_vectors(count: int) -> AbstractContextManager[None]:
    """Let `check_answer` accept a body with `count` vectors in this task and `with` block."""
    return expect_bytes(count * MAX_DIMENSIONS * _NUMBER)
