"""Limits for one actor: requests in a minute, and requests that are open at the same time."""

from collections import Counter

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from textrawl.access.principal import Principal
from textrawl.access.request import find_principal
from textrawl.transports.http.refusals import build_refusal
from textrawl.transports.http.requests import is_modern, is_page
from textrawl.transports.http.windows import Window

# New sessions per minute. Each one beyond 200 ends an idle session of the actor: see `sessions`.
_MOST_SESSIONS = 60
# Limit for the open requests of an actor, and also for its open streams. The server allows 700
# connections.
_MOST_OPEN = 50


class Limits:
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
