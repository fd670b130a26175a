"""How long an answer may take."""

import math

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.transports.http.refusals import build_refusal
from textrawl.transports.http.requests import is_modern

# Three times what Postgres may take for a call by default: who waits longer has given up.
_ANSWER = 30  # seconds


class Deadlines:
    """Ends requests that take longer than `seconds`.

    Calls of the 2026-07-28 era have to be answered by then: their client is never asked anything
    meanwhile, and ending the request cancels the call. All others have to begin their answer: it
    may be a stream, in which a legacy client is asked what its user has all the time to think
    about. What goes on in it is bounded by the time limits of Postgres and of the embedder.
    """

    def __init__(self, app: ASGIApp, *, seconds: float = _ANSWER) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, or answers 504."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        whole = is_modern(headers) and headers.get("mcp-method") == "tools/call"
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            begun = True
            if not whole:
                limit.deadline = math.inf
            await send(message)

        with anyio.move_on_after(self._seconds) as limit:
            await self._app(scope, receive, answer)
        if limit.cancelled_caught and not begun:
            refusal = build_refusal(504, "timeout", f"No answer within {self._seconds:g} seconds")
            await refusal(scope, receive, send)
        elif limit.cancelled_caught:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
