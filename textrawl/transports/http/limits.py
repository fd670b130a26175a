"""How often a person may call, and how much they may keep open at a time."""

from collections import Counter

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from textrawl.access.principal import Principal
from textrawl.access.request import find_principal
from textrawl.transports.http.refusals import build_refusal
from textrawl.transports.http.requests import is_modern
from textrawl.transports.http.windows import Window

# Sessions a minute. A session that its client leaves open is kept for half an hour, so that one
# person can keep 1,800 of the 10,000 that there may be.
_MOST_SESSIONS = 60
_MOST_OPEN = 50  # requests at a time, and as many streams: of the 700 connections that there may be


class Limits:
    """Refuses a person's requests beyond `most` a minute (0: any number), or beyond fifty at once.

    A person has one share, however many tokens they have. Requests without a principal pass: they
    are open to all, or nobody needs a token here.
    """

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self._app = app
        self._requests = Window(most) if most else None
        self._sessions = Window(_MOST_SESSIONS)
        self._open = Counter[tuple[str, bool]]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, or answers 429."""
        request = Request(scope) if scope["type"] == "http" else None
        principal = find_principal(request) if request else None
        if request is None or principal is None:
            await self._app(scope, receive, send)
            return
        held = (principal.actor, request.method == "GET")
        wait = self._find_wait(request, principal)
        if wait or self._open[held] >= _MOST_OPEN:
            what = f"Wait {wait} seconds" if wait else f"At most {_MOST_OPEN} at a time: end others"
            refusal = build_refusal(429, "too_many_requests", what, wait=wait or 1)
            await refusal(scope, receive, send)
            return
        self._open[held] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[held] -= 1
            if not self._open[held]:
                del self._open[held]

    def _find_wait(self, request: Request, principal: Principal) -> int:
        """Seconds that a person has to wait; where it is none the request counts."""
        windows = [self._requests, self._sessions if _opens_session(request) else None]
        concerned = [window for window in windows if window is not None]
        wait = max((window.find_wait(principal.actor) for window in concerned), default=0)
        if not wait:
            for window in concerned:
                window.add(principal.actor)
        return wait


def _opens_session(request: Request) -> bool:
    """Whether the SDK will make a session for it: it does for a POST that is of none."""
    bare = request.method == "POST" and "mcp-session-id" not in request.headers
    return bare and not is_modern(request.headers)
