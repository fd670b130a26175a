"""Checks that a request passes before it is read: host, size, time, rate; a page for browsers."""

import logging
import math
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import uuid4

import anyio
from cachetools import TTLCache
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.access.principal import Principal
from textrawl.access.request import find_principal
from textrawl.errors import StartRefused
from textrawl.server.logs import request_id
from textrawl.values.names import is_loopback

if TYPE_CHECKING:
    from textrawl.server.http.metrics import Metrics

_MINUTE = 60.0
_MOST_KEYS = 10_000  # kept at the same time: enough for all tokens, but not for all addresses


class Window:
    """A limit of `most` events of a key in any minute. `clock` returns seconds.

    Events are kept in memory, because one process serves all clients. The library `limits` is not
    used. It can count in two ways: one starts a thread, and one visits every key. Measured with
    1,000 keys, they take 0.16 ms and 17 ms of processor time for an event.
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._events = TTLCache[Hashable, deque[float]](_MOST_KEYS, _MINUTE, timer=clock)

    def __len__(self) -> int:
        """Return the number of keys that are kept."""
        return len(self._events)

    def find_wait(self, key: Hashable) -> int:
        """Return the whole seconds until another event is allowed, or 0 if it is allowed now."""
        events = self._events.get(key)
        if events is None:
            return 0
        now = self._clock()
        while events and events[0] <= now - _MINUTE:
            events.popleft()
        if len(events) < self._most:
            return 0
        return max(1, math.ceil(events[0] + _MINUTE - now))

    def add(self, key: Hashable) -> None:
        """Record an event now."""
        events = self._events.get(key) or deque[float](maxlen=self._most)
        events.append(self._clock())
        self._events[key] = events  # assigned again to keep the entry for another minute


PROTECTING = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""What browsers may do with a refusal: nothing, as with the pages of the explorer."""


def build_refusal(
    status: int, error: str, description: str, *, wait: int | None = None, close: bool = False
) -> JSONResponse:
    """Return an error response. `wait` is the number of seconds after which to try again.

    `close` closes the connection, which is needed if the rest of the request was not read.
    """
    headers = dict(PROTECTING)
    if wait is not None:
        headers["retry-after"] = str(wait)
    if close:
        headers["connection"] = "close"
    body = {"error": error, "error_description": description}
    return JSONResponse(body, status_code=status, headers=headers)


class SentResponse:
    """Sends the messages of a response, and knows whether it has begun and is complete."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = self.complete = False

    async def __call__(self, message: Message) -> None:
        """Send one message."""
        await self._send(message)
        self.begun = True
        if message["type"] == "http.response.body":
            self.complete = not message.get("more_body", False)


async def end_response(
    refusal: Response, scope: Scope, receive: Receive, response: SentResponse
) -> None:
    """Send `refusal`, or only the end of the body if the response has begun."""
    if not response.begun:
        await refusal(scope, receive, response)
    elif not response.complete:
        await response({"type": "http.response.body", "body": b"", "more_body": False})


_ARRIVAL = 10  # seconds, in which a slow phone can send a megabyte
PAGES = "/explore"
_UPLOAD = f"{PAGES}/upload"  # a form with files, only read for somebody who has signed in
_UPLOAD_ARRIVAL, _UPLOAD_ANSWER = 60, 300


class _TooSlow(Exception):
    pass


class Bodies:
    """Refuses requests that do not arrive within `seconds`.

    The SDK refuses bodies that are too long, or that are declared to be too long.
    """

    def __init__(self, app: ASGIApp, *, seconds: float = _ARRIVAL) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 408."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seconds = _UPLOAD_ARRIVAL if scope["path"] == _UPLOAD else self._seconds
        try:
            await self._app(scope, self._limit(receive, seconds), send)
        except _TooSlow:
            description = f"A request has {seconds:g} seconds to arrive"
            refusal = build_refusal(408, "request_timeout", description, close=True)
            await refusal(scope, receive, send)

    def _limit(self, receive: Receive, seconds: float) -> Receive:
        deadline: float | None = None
        complete = False

        async def receive_in_time() -> Message:
            nonlocal deadline, complete
            if complete:
                return await receive()
            deadline = deadline or anyio.current_time() + seconds
            try:
                with anyio.fail_after(deadline - anyio.current_time()):
                    message = await receive()
            except TimeoutError as error:
                raise _TooSlow from error
            complete = not message.get("more_body", False)
            return message

        return receive_in_time


logger = logging.getLogger("textrawl")

LIVENESS = "/healthz"
METADATA = "/.well-known/oauth-protected-resource"

_ROUTES = {"mcp", "healthz", "readyz", "metrics", PAGES[1:]}
_WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{1,64}")


def is_open(path: str) -> bool:
    """Return whether `path` needs no token: the liveness probe, or metadata about the issuer."""
    return path in (LIVENESS, METADATA) or path.startswith(f"{METADATA}/")


def is_page(path: str) -> bool:
    """Return whether `path` is a page of the explorer, which has its own sign-in."""
    return path == PAGES or path.startswith(f"{PAGES}/")


def is_modern(headers: Headers) -> bool:
    """Return whether a request has protocol 2026-07-28 or later, by the same rule as the SDK."""
    version = headers.get("mcp-protocol-version")
    return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS


class Requests:
    """Gives each request an id and counts it.

    The id is the client's X-Request-ID if that header is well-formed, else a random id.
    """

    def __init__(self, app: ASGIApp, *, metrics: "Metrics") -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, with its id in its scope, in log lines and in the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        header = Headers(scope=scope).get("x-request-id", "")
        identity = header if _WELL_FORMED.fullmatch(header) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = identity
        if scope["path"].startswith("/mcp/"):
            # Do not redirect, because a redirect would lose the scheme https of a proxy.
            scope["path"] = scope["path"].rstrip("/")
        route = _find_route(scope["path"])

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.observe_response(route, message["status"])
                logger.info("%s %s: %d", scope["method"], route, message["status"])
                header = (b"x-request-id", identity.encode())
                message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        token = request_id.set(identity)
        try:
            with self._metrics.track_request():
                await self._app(scope, receive, answer)
        except ClientDisconnect:
            logger.info("%s %s: the client disconnected", scope["method"], route)
        finally:
            request_id.reset(token)


def _find_route(path: str) -> str:
    """Return one of a few words for `path`, because logs and metrics must not repeat input."""
    first = path.split("/")[1] if path.startswith("/") else ""
    if is_open(path) and path != LIVENESS:
        return "metadata"
    return first if first in _ROUTES else "other"


_ADDRESS = re.compile(r"(?P<name>[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(?P<port>\d{1,5}))?", re.ASCII)
_LAST_PORT = 65_535
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
# Both services call a server from their own servers, and reportedly also from their pages
# (actionhero/keryx#499). The pages hold no cookie of ours, and need a token like everybody.
_CONNECTORS = ("https://chatgpt.com", "https://claude.ai", "https://claude.com")
_WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - used in a comparison, not to listen


def refuse_exposure(host: str, *, public_url: str | None, insecure: bool) -> None:
    """Raise StartRefused if others can reach `host` without tokens or without a PUBLIC_URL."""
    if is_loopback(host):
        return
    if insecure:
        raise StartRefused(
            f"--insecure: other machines can reach {host} and could read and change everything: "
            "leave out --insecure and create tokens, or listen on 127.0.0.1"
        )
    if public_url is None:
        raise StartRefused(
            f"TEXTRAWL_HTTP_HOST: other machines can reach {host}: set TEXTRAWL_PUBLIC_URL to the "
            "address that they use, such as https://memory.example.com, or listen on 127.0.0.1"
        )


def is_local(address: str) -> bool:
    """Return whether a Host header is a name of this machine that other machines cannot use."""
    found = _ADDRESS.fullmatch(address.lower())
    return found is not None and found["name"] in _LOCAL


def bracket(host: str) -> str:
    """Return `host` as it is written in a URL."""
    return f"[{host}]" if ":" in host else host


class Hosts:
    """Refuses requests to unknown host names and requests of foreign web pages.

    Names of this machine can have any port, because tunnels change the port. The host of PUBLIC_URL
    needs the port of PUBLIC_URL. With `connectors`, the pages of ChatGPT and claude.ai are allowed,
    except at the explorer. The SDK's check is switched off, because it accepts
    `127.0.0.1:evil.example` and checks only /mcp.
    """

    def __init__(
        self, app: ASGIApp, *, host: str, public_url: str | None, connectors: bool = False
    ) -> None:
        self._app = app
        self._connectors = _CONNECTORS if connectors else ()
        self._local = {*_LOCAL, *([] if host in _WILDCARDS else [bracket(host).lower()])}
        public = urlsplit((public_url or "").lower())
        self._public_host = public.netloc
        self._public_origin = f"{public.scheme}://{public.netloc}" if public_url else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 421 or 403."""
        if scope["type"] == "http" and not is_open(scope["path"]):
            headers = Headers(scope=scope)
            hosts = headers.getlist("host")
            if len(hosts) != 1 or not self._is_ours(hosts[0].lower()):
                refusal = build_refusal(
                    421, "wrong_host", "Unknown host name: set TEXTRAWL_PUBLIC_URL"
                )
                return await refusal(scope, receive, send)
            origins = headers.getlist("origin")
            connects = len(origins) == 1 and origins[0].lower() in self._connectors
            if not (connects and not is_page(scope["path"])) and not self._has_origin(origins):
                refusal = build_refusal(403, "wrong_origin", "This page may not use this server")
                return await refusal(scope, receive, send)
        return await self._app(scope, receive, send)

    def _is_ours(self, address: str) -> bool:
        found = _ADDRESS.fullmatch(address)
        if found is None or int(found["port"] or 0) > _LAST_PORT:
            return False
        return found["name"] in self._local or address == self._public_host

    def _has_origin(self, origins: list[str]) -> bool:
        """Return whether the page of a request is allowed.

        A request without a page is allowed. Pages of this machine and of PUBLIC_URL are allowed.
        """
        if not origins:
            return True
        scheme, separator, address = origins[0].lower().partition("://")
        if len(origins) > 1 or not separator or scheme not in {"http", "https"}:
            return False
        if origins[0].lower() == self._public_origin:
            return True
        return self._is_ours(address) and address != self._public_host


class CrossOrigin(CORSMiddleware):
    """Lets web pages read responses. `Hosts` has refused foreign pages before."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            app,
            allow_origin_regex=".*",
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["mcp-session-id", "retry-after", "www-authenticate", "x-request-id"],
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request with headers that let its page read the response."""
        if scope["type"] == "http" and (is_open(scope["path"]) or is_page(scope["path"])):
            # `Hosts` does not check open paths, and pages are only for people.
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


_ANSWER = 30  # seconds: three times the default time limit of a call to Postgres


class Deadlines:
    """Ends requests that take longer than `seconds`.

    A call of protocol 2026-07-28 has to end within this time. During such a call the client is not
    asked a question, and the end of the request cancels the call. Any other request only has to
    begin its response within this time, because the response can be a stream with a question to the
    user. Work during a stream has the time limits of Postgres and of the embedding provider.
    """

    def __init__(self, app: ASGIApp, *, seconds: float = _ANSWER) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 504."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        whole = is_modern(headers) and headers.get("mcp-method") == "tools/call"
        response = SentResponse(send)

        async def answer(message: Message) -> None:
            if not whole:
                limit.deadline = math.inf
            await response(message)

        seconds = _UPLOAD_ANSWER if scope["path"] == _UPLOAD else self._seconds
        with anyio.move_on_after(seconds) as limit:
            await self._app(scope, receive, answer)
        if limit.cancelled_caught:
            refusal = build_refusal(504, "timeout", f"No answer within {seconds:g} seconds")
            await end_response(refusal, scope, receive, response)


# New sessions per minute. Each one beyond 200 ends an idle session of the actor: see `sessions`.
_MOST_SESSIONS = 60
# Limit for the open requests of an actor, and also for its open streams. The server allows 700
# connections.
_MOST_OPEN = 50


class RequestLimits:
    """Refuses requests of an actor beyond `most` per minute (0: no limit) or 50 at the same time.

    The requests of all tokens of an actor are counted together. Requests without a principal are
    not limited: their path is open, or the server needs no tokens.
    """

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self._app = app
        self._requests = Window(most) if most else None
        self._sessions = Window(_MOST_SESSIONS)
        self._open = Counter[tuple[str, bool]]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 429."""
        request = Request(scope) if scope["type"] == "http" else None
        principal = find_principal(request) if request else None
        if request is None or principal is None:
            await self._app(scope, receive, send)
            return
        key = (principal.actor, request.method == "GET")
        wait = self._find_wait(request, principal)
        if wait or self._open[key] >= _MOST_OPEN:
            open_limit = f"At most {_MOST_OPEN} requests at the same time: end others first"
            fix = f"Wait {wait} seconds" if wait else open_limit
            refusal = build_refusal(429, "too_many_requests", fix, wait=wait or 1)
            await refusal(scope, receive, send)
            return
        self._open[key] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]

    def _find_wait(self, request: Request, principal: Principal) -> int:
        """Return the seconds that the actor has to wait. If the result is 0, count the request."""
        limits = [self._requests, self._sessions if _opens_session(request) else None]
        windows = [window for window in limits if window is not None]
        wait = max((window.find_wait(principal.actor) for window in windows), default=0)
        if not wait:
            for window in windows:
                window.add(principal.actor)
        return wait


def _opens_session(request: Request) -> bool:
    """Return whether the SDK opens a session for `request`.

    The SDK opens a session for a POST without a session id, except in protocol 2026-07-28. Forms of
    the explorer do not reach the SDK.
    """
    if is_page(request.url.path):
        return False
    bare = request.method == "POST" and "mcp-session-id" not in request.headers
    return bare and not is_modern(request.headers)


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>textrawl</title>
<h1>textrawl</h1>
<p>This is a memory for AI agents. It speaks MCP, which a browser does not.</p>
<p>To connect a client, run
<code>textrawl connect CLIENT --url {address}/mcp --token-file FILE</code>
with a token that the administrator made with <code>textrawl token create</code>.</p>
<p>In a terminal, the commands of every day use this memory with
<code>TEXTRAWL_SERVER_URL={address}/mcp</code> and <code>TEXTRAWL_ACCESS_TOKEN_FILE</code>.</p>
{explorer}
</html>
"""
_EXPLORER = f'<p>People look into the memory at <a href="{PAGES}">{PAGES}</a>.</p>'


class Welcome:
    """Answers a browser that has no token with a page in place of an error for programs."""

    def __init__(self, app: ASGIApp, *, public_url: str | None, explorer: bool) -> None:
        self._app = app
        self._public_url = public_url
        self._explorer = explorer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer with the page."""
        if not _is_from_browser(scope):
            await self._app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")
        page = _PAGE.format(
            address=escape(self._public_url or f"http://{host}"),
            explorer=_EXPLORER if self._explorer else "",
        )
        status = 200 if scope["path"] == "/" else 401
        await HTMLResponse(page, status, headers=dict(PROTECTING))(scope, receive, send)


def _is_from_browser(scope: Scope) -> bool:
    """Return whether a person's browser asks for a page that is not the explorer."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    if is_open(scope["path"]) or is_page(scope["path"]):
        return False
    headers = Headers(scope=scope)
    return "text/html" in headers.get("accept", "") and "authorization" not in headers
