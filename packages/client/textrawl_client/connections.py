"""The way to a memory: a server over HTTP. The calls are the same for every way."""

from collections.abc import Awaitable
from typing import Protocol

import httpx

from textrawl_client import __version__
from textrawl_client.errors import ServerUnreachable
from textrawl_client.wire import Answer, Call, encode, read_response, write_address


class Connection(Protocol):
    """A way to a memory. Several tasks or threads can use one."""

    async def send(self, call: Call) -> Answer:
        """Return the answer to a call. Raises TextrawlError."""
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


class HttpConnection:
    """The way to a server over HTTP. Each call is one request on a connection that is kept.

    If `blocking`, no method waits for an event loop: each returns only when it is done.
    `timeout` is the time limit of a request in seconds.
    """

    def __init__(
        self, url: str, token: str | None, client: str, *, timeout: float, blocking: bool
    ) -> None:
        self._url = url
        write_address(url, None)
        self._client = client
        headers = {"user-agent": f"{client} {__version__}"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        kind = httpx.Client if blocking else httpx.AsyncClient
        self._http = kind(headers=headers, timeout=timeout)

    async def send(self, call: Call) -> Answer:
        """Return the answer of the server. A call that only reads is repeated once."""
        request = self._http.build_request(
            "POST",
            write_address(self._url, call.space),
            content=encode(call.write({"client": self._client})),
            headers=call.write_headers(),
        )
        try:
            response = await self._send(request)
        except httpx.TransportError as error:
            if not call.reads or isinstance(error, httpx.TimeoutException):
                raise _name_fault(error) from error
            response = await self._repeat(request)
        return read_response(response.status_code, response.text)

    async def close(self) -> None:
        """Close the connections to the server."""
        if isinstance(self._http, httpx.Client):
            self._http.close()
        else:
            await self._http.aclose()

    async def _repeat(self, request: httpx.Request) -> httpx.Response:
        try:
            return await self._send(request)
        except httpx.TransportError as error:
            raise _name_fault(error) from error

    async def _send(self, request: httpx.Request) -> httpx.Response:
        response: httpx.Response | Awaitable[httpx.Response] = self._http.send(request)
        return response if isinstance(response, httpx.Response) else await response


def _name_fault(error: httpx.TransportError) -> ServerUnreachable:
    return ServerUnreachable(f"{type(error).__name__}: {error}; check the address, and retry")
