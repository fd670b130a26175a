"""How often a token may call."""

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from textrawl.transports.authentication import find_principal
from textrawl.transports.refusals import build_refusal
from textrawl.transports.requests import is_modern
from textrawl.transports.windows import Window

# Sessions a minute and token. A session that its client leaves open is kept for half an hour, so
# that one token can keep 1,800 of the 10,000 that there may be.
_MOST_SESSIONS = 60


class Limits:
    """Refuses the requests of a token beyond `most` a minute, and too many sessions of it.

    Requests without a principal pass: they are open to all, or nobody needs a token here.
    """

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self._app = app
        self._requests = Window(most)
        self._sessions = Window(_MOST_SESSIONS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, or answers 429."""
        request = Request(scope) if scope["type"] == "http" else None
        principal = find_principal(request) if request else None
        if request is None or principal is None:
            await self._app(scope, receive, send)
            return
        key = (principal.actor, principal.token)
        windows = [self._requests, *([self._sessions] if _opens_session(request) else [])]
        if wait := max(window.find_wait(key) for window in windows):
            refusal = build_refusal(429, "too_many_requests", f"Wait {wait} seconds", wait=wait)
            await refusal(scope, receive, send)
            return
        for window in windows:
            window.add(key)
        await self._app(scope, receive, send)


def _opens_session(request: Request) -> bool:
    """Whether the SDK will make a session for it: it does for a POST that is of none."""
    bare = request.method == "POST" and "mcp-session-id" not in request.headers
    return bare and not is_modern(request.headers)
