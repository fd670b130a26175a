"""The ways to a memory: a server over HTTP, and the socket of a server on this machine."""

import asyncio
import json
import os
import time
from collections.abc import AsyncGenerator, Awaitable
from functools import partial
from threading import Lock
from typing import Any, Protocol

import httpx

from textrawl_client import __version__
from textrawl_client.errors import ArgumentInvalid, ServerUnreachable
from textrawl_client.unix_socket import (
    KEY_SETTINGS,
    MOST_BYTES,
    Unreachable,
    build_address,
    exchange,
    find_data_dir,
)
from textrawl_client.wire import (
    PROGRAM,
    PROMPT,
    TOOL,
    Answer,
    Call,
    encode,
    read_message,
    read_response,
    write_address,
)


class Connection(Protocol):
    """A way to a memory. Several tasks or threads can use one."""

    async def send(self, call: Call) -> Answer:
        """Return the answer to a call. Raises TextrawlError."""
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


_MOST_LOOPS = 16  # event loops that keep their connections while they do not run


class _LoopClients:
    """A client of httpx for each event loop, because connections of one loop are useless in others.

    `asyncio.run` closes its client: before a loop ends, it ends its async generators.
    """

    def __init__(self, headers: dict[str, str], timeout: float) -> None:
        tls = httpx.create_ssl_context()  # once, because it takes 20 ms
        self._make = partial(httpx.AsyncClient, headers=headers, timeout=timeout, verify=tls)
        self._opened: dict[asyncio.AbstractEventLoop, AsyncGenerator[httpx.AsyncClient]] = {}
        self._clients: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}
        self._lock = Lock()  # loops can be in several threads

    async def find(self) -> httpx.AsyncClient:
        """Return the client of the running loop."""
        loop = asyncio.get_running_loop()
        found = self._clients.get(loop)
        if found is None:
            opened = self._open(loop)
            found = await anext(opened)
            with self._lock:
                self._drop_idle()
                self._opened[loop], self._clients[loop] = opened, found
        return found

    async def close(self) -> None:
        """Close the client of the running loop. The others are closed when their loops run."""
        with self._lock:
            own = self._opened.get(asyncio.get_running_loop())
            self._opened.clear()
            self._clients.clear()
        if own is not None:
            await own.aclose()

    async def _open(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[httpx.AsyncClient]:
        client = self._make()
        try:
            yield client
        finally:
            with self._lock:
                if self._clients.get(loop) is client:
                    del self._opened[loop], self._clients[loop]
            await client.aclose()

    def _drop_idle(self) -> None:
        """Forget the clients of closed loops, and of loops that do not run if they are many."""
        many = len(self._clients) >= _MOST_LOOPS
        for loop in [*self._clients]:
            if loop.is_closed() or (many and not loop.is_running()):
                del self._opened[loop], self._clients[loop]


class HttpConnection:
    """The way to a server over HTTP. Each call is one request on a connection that is kept.

    If `blocking`, no method waits for an event loop: each returns only when it is done. Otherwise
    calls can come from several event loops. `timeout` is the time limit of a request in seconds.
    """

    def __init__(
        self, url: str, token: str | None, client: str, *, timeout: float, blocking: bool
    ) -> None:
        self._url = url
        write_address(url, None)
        self._client = client
        headers = {"user-agent": f"{client} {__version__}"}
        if token:
            if not (token.isascii() and token.isprintable()):
                raise ArgumentInvalid("token: it has a character that no token has, as a line end")
            headers["authorization"] = f"Bearer {token}"
        self._http = (
            httpx.Client(headers=headers, timeout=timeout)
            if blocking
            else _LoopClients(headers, timeout)
        )

    async def send(self, call: Call) -> Answer:
        """Return the answer of the server. A call that only reads is repeated once."""
        http = self._http if isinstance(self._http, httpx.Client) else await self._http.find()
        request = http.build_request(
            "POST",
            write_address(self._url, call.space),
            content=encode(call.write({"client": self._client})),
            headers=call.write_headers(),
        )
        try:
            try:
                response = await _send(http, request)
            except httpx.TransportError as error:
                if not call.reads or isinstance(error, httpx.TimeoutException):
                    raise
                response = await _send(http, request)
        except httpx.TransportError as error:
            fix = f"{type(error).__name__}: {error}; check the address, and retry"
            raise ServerUnreachable(fix) from error
        return read_response(response.status_code, response.text)

    async def close(self) -> None:
        """Close the connections to the server."""
        if isinstance(self._http, httpx.Client):
            self._http.close()
        else:
            await self._http.close()


async def _send(http: httpx.Client | httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    response: httpx.Response | Awaitable[httpx.Response] = http.send(request)  # noqa: ASYNC212 - only if `blocking`
    return response if isinstance(response, httpx.Response) else await response


class SocketConnection:
    """The way to the process of this OS user on this machine that has the memory open.

    The variables of the environment name it: TEXTRAWL_DATA_DIR, TEXTRAWL_DATABASE_URL and the
    others in KEY_SETTINGS. Files with settings do not count. Calls reach what `token` can reach, or
    without one the OS user, and only TEXTRAWL_SPACE if it is set. If `blocking`, no method waits
    for an event loop. `timeout` is the time limit of a call in seconds.
    """

    def __init__(self, token: str | None, client: str, *, timeout: float, blocking: bool) -> None:
        values = {name.upper(): value for name, value in os.environ.items() if value}
        known = {
            name: value
            for name in ("space", *KEY_SETTINGS)
            if (value := values.get(f"TEXTRAWL_{name}".upper()) or values.get(name.upper()))
        }
        known.pop("server_url", None)
        self._address = build_address(find_data_dir(values), known)
        own = {"token": token, "space": known.get("space")}
        self._program = {
            "version": __version__,
            "client": f"{client} {__version__}",
            **{name: value for name, value in own.items() if value},
        }
        self._timeout = timeout
        self._blocking = blocking

    async def send(self, call: Call) -> Answer:
        """Return the answer of the process that listens. Raises ServerUnreachable if none does."""
        method = TOOL if call.method == PROMPT else call.method
        given = {"name": call.name, "arguments": call.arguments}
        line = self._write(method, given if method == TOOL else call.arguments, call)
        if len(line) > MOST_BYTES:
            raise ArgumentInvalid(f"send at most {MOST_BYTES:,} bytes", title="Too long")
        if self._blocking:
            return read_message(self._exchange(line))
        return read_message(await asyncio.to_thread(self._exchange, line))

    async def close(self) -> None:
        """Do nothing, because each call has its own connection."""

    def _write(self, method: str, params: dict[str, Any], call: Call) -> bytes:
        wishes = {"space": call.space} if call.space else {}
        program = {**self._program, **wishes, **(call.wishes or {})}
        message = {"jsonrpc": "2.0", "id": 1, "method": method}
        return encode({**message, "params": {**params, "_meta": {PROGRAM: program}}}) + b"\n"

    def _exchange(self, line: bytes) -> dict[str, Any]:
        ping = self._write("ping", {}, Call("ping", "", {}))
        try:
            answered = exchange(self._address, line, ping, time.monotonic() + self._timeout)
        except (OSError, Unreachable) as error:
            raise ServerUnreachable(
                f"{error}: start a client or command of textrawl here, or give the url of a server"
            ) from error
        return json.loads(answered)
