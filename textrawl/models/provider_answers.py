"""Checks of what a provider answers. They need the clients of HTTP, which take long to load."""

from collections.abc import AsyncGenerator, AsyncIterator
from http import HTTPStatus

import httpx
import httpx2

from textrawl.models.llm import LlmEndpoint
from textrawl.models.provider import ProviderEndpoint, find_most_bytes

_EXPLAINED = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)


async def check_response(endpoint: LlmEndpoint, response: httpx.Response | httpx2.Response) -> None:
    """Raise LlmFailed unless the status means success and the body is not compressed.

    The body of a refusal is read, because only its text tells an unknown model from a wrong
    address, and an unknown option from a text that is too long.
    """
    if response.status_code in _EXPLAINED:
        bound_body(endpoint, response)
        await response.aread()
        explained = endpoint.explain_body(response.status_code, response.text)
        if explained is not None:
            raise explained
    check_answer(endpoint, response)


def check_answer(endpoint: ProviderEndpoint, response: httpx.Response | httpx2.Response) -> None:
    """Raise an error unless the status means success and the body is not compressed.

    Reading a body that is too long raises an error too. A redirect is an error, because it would
    send texts to an address that is not in the settings.
    """
    if not response.is_success:
        raise endpoint.refused(response.status_code, response.headers.get("retry-after"))
    bound_body(endpoint, response)


def bound_body(endpoint: ProviderEndpoint, response: httpx.Response | httpx2.Response) -> None:
    """Limit the size of a body. Raises an error if the body is compressed."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise endpoint.malformed()
    response.stream = _Bounded(response.stream, find_most_bytes(), endpoint)  # type: ignore[assignment]


class _Bounded(httpx.AsyncByteStream, httpx2.AsyncByteStream):
    def __init__(self, stream: object, max_bytes: int, endpoint: ProviderEndpoint) -> None:
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
