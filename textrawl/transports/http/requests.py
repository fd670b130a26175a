"""The first guard of every request. It records the request's id, route and status."""

import logging
import re
from typing import TYPE_CHECKING
from uuid import uuid4

from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.server.logs import request_id

if TYPE_CHECKING:  # tools import this module too, and stdio needs no metrics
    from textrawl.transports.http.metrics import Metrics

logger = logging.getLogger("textrawl")

LIVENESS = "/healthz"
METADATA = "/.well-known/oauth-protected-resource"
PAGES = "/explore"

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
