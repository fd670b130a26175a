"""What a provider may answer: as much as vectors of the texts need, from the address asked, plain.

Hooks of the HTTP libraries below the clients, called before an answer's body is read.
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
"""Headers of a request: what is compressed may be a thousand times as large as it looks."""

_NUMBER = 32  # bytes that a number may take, with what stands around it
_FRAME = 65_536  # bytes for everything else
_most: ContextVar[int] = ContextVar("most", default=_FRAME)


@contextmanager
def expect_vectors(count: int) -> Generator[None]:
    """Meanwhile `check_answer` lets as much pass in this task as that many vectors need."""
    before = _most.set(_FRAME + count * MAX_DIMENSIONS * _NUMBER)
    try:
        yield
    finally:
        _most.reset(before)


def check_answer(endpoint: Endpoint, response: httpx.Response | httpx2.Response) -> None:
    """Raise ProviderFailed for a status that is no success or a body that may not be read.

    A body that turns out to be too long raises it while it is read. Redirects are no success: who
    is redirected sends texts to somebody whom nobody chose.
    """
    if not response.is_success:
        raise endpoint.refused(response.status_code, response.headers.get("retry-after"))
    if response.headers.get("content-encoding", "identity") != "identity":
        raise endpoint.malformed()
    response.stream = _Bounded(response.stream, _most.get(), endpoint)  # type: ignore[assignment]


class _Bounded(httpx.AsyncByteStream, httpx2.AsyncByteStream):
    def __init__(self, stream: object, most: int, endpoint: Endpoint) -> None:
        assert isinstance(stream, httpx.AsyncByteStream | httpx2.AsyncByteStream)  # noqa: S101
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
