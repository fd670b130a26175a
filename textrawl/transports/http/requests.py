"""What is known of each request before anything else: an id, a route, in the end a status."""

import logging
import re
from typing import TYPE_CHECKING
from uuid import uuid4

from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.server.logs import request_id

if TYPE_CHECKING:  # tools ask this module too, and without HTTP nothing is measured
    from textrawl.transports.http.metrics import Metrics

logger = logging.getLogger("textrawl")

LIVENESS = "/healthz"
METADATA = "/.well-known/oauth-protected-resource"

_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")


def is_open(path: str) -> bool:
    """Whether `path` is answered to anybody: that the process lives, and who issues tokens."""
    return path in (LIVENESS, METADATA) or path.startswith(f"{METADATA}/")


def is_modern(headers: Headers) -> bool:
    """Whether the SDK takes a request for one of the 2026-07-28 era: by the same rule."""
    version = headers.get("mcp-protocol-version")
    return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS


class Requests:
    """Names each request, as its sender did with X-Request-ID if that is sane, and counts it."""

    def __init__(self, app: ASGIApp, *, metrics: "Metrics") -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request with its id in its scope, the logs, and its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        identity = given if _SANE.fullmatch(given) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = identity
        if scope["path"].startswith("/mcp/"):
            scope["path"] = scope["path"].rstrip("/")  # a redirect would lose a proxy's scheme
        route = _find_route(scope["path"])

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.observe_response(route, message["status"])
                logger.info("%s %s: %d", scope["method"], route, message["status"])
                named = (b"x-request-id", identity.encode())
                message = {**message, "headers": [*message.get("headers", ()), named]}
            await send(message)

        token = request_id.set(identity)
        try:
            with self._metrics.track_request():
                await self._app(scope, receive, answer)
        except ClientDisconnect:
            logger.info("%s %s: the client hung up", scope["method"], route)
        finally:
            request_id.reset(token)


def _find_route(path: str) -> str:
    """One of few words: neither logs nor metrics repeat what a client made up."""
    first = path.split("/")[1] if path.startswith("/") else ""
    if is_open(path) and path != LIVENESS:
        return "metadata"
    return first if first in {"mcp", "healthz", "readyz", "metrics"} else "other"
