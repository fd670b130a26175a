"""Checks of a provider's response: limited size, no redirect, no compression.

The HTTP library of a provider's client calls `check_answer` before it reads the body.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

import httpx
import httpx2

from textrawl.providers.endpoint import Endpoint
from textrawl.providers.sizes import find_most_bytes

PLAIN: Final = {"accept-encoding": "identity"}
"""Request headers that ask for no compression: a compressed body can expand a thousandfold."""


def check_answer(endpoint: Endpoint, response: httpx.Response | httpx2.Response) -> None:
    """Raise an error unless the status means success and the body is not compressed.

    Reading a body that is too long raises an error too. A redirect is an error, because it would
    send texts to an address that is not in the settings.
    """
    if not response.is_success:
        raise endpoint.refused(response.status_code, response.headers.get("retry-after"))
    bound_body(endpoint, response)


def bound_body(endpoint: Endpoint, response: httpx.Response | httpx2.Response) -> None:
    """Limit the size of a body. Raises an error if the body is compressed."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise endpoint.malformed()
    response.stream = _Bounded(response.stream, find_most_bytes(), endpoint)  # type: ignore[assignment]


class _Bounded(httpx.AsyncByteStream, httpx2.AsyncByteStream):
    def __init__(self, stream: object, max_bytes: int, endpoint: Endpoint) -> None:
        assert isinstance(stream, httpx.AsyncByteStream | httpx2.AsyncByteStream)  # noqa: S101 - the clients set no other kind
        self._stream = stream
        self._left = max_bytes
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
