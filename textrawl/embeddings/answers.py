"""Checks of a provider's response: limited size, no redirect, no compression.

The HTTP libraries below the clients call these hooks before they read the body.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import httpx
import httpx2

from textrawl.embeddings.faults import Endpoint
from textrawl.embeddings.models import MAX_DIMENSIONS

PLAIN: Final = {"accept-encoding": "identity"}
"""Headers of a request: a compressed body may be a thousand times larger than its length says."""

_NUMBER = 32  # bytes for a number and its separators
_FRAME = 65_536  # bytes for everything else
_most: ContextVar[int] = ContextVar("most", default=_FRAME)


@contextmanager
def expect_vectors(count: int) -> Generator[None]:
    """Let `check_answer` accept a body with `count` vectors in this task meanwhile."""
    before = _most.set(_FRAME + count * MAX_DIMENSIONS * _NUMBER)
    try:
        yield
    finally:
        _most.reset(before)


def check_answer(endpoint: Endpoint, response: httpx.Response | httpx2.Response) -> None:
    """Raise an error for a status other than success; ProviderFailed for a compressed body.

    A body that is too long raises it while it is read. A redirect is an error too, because it would
    send texts to an address that nobody chose.
    """
    if not response.is_success:
        raise endpoint.refused(response.status_code, response.headers.get("retry-after"))
    if response.headers.get("content-encoding", "identity") != "identity":
        raise endpoint.malformed()
    response.stream = _Bounded(response.stream, _most.get(), endpoint)  # type: ignore[assignment]


class _Bounded(httpx.AsyncByteStream, httpx2.AsyncByteStream):
    def __init__(self, stream: object, most: int, endpoint: Endpoint) -> None:
        assert isinstance(stream, httpx.AsyncByteStream | httpx2.AsyncByteStream)  # noqa: S101 - the clients set no other kind
        self._stream = stream
        self._left = most
        self._endpoint = endpoint

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._read()

    async def _read(self) -> AsyncGenerator[bytes]:
        async for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise self._endpoint.malformed()
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
