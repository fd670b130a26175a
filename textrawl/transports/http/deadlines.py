"""Time limits of responses."""

import math

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.transports.http.refusals import SentResponse, build_refusal, end_response
from textrawl.transports.http.requests import is_modern

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

        with anyio.move_on_after(self._seconds) as limit:
            await self._app(scope, receive, answer)
        if limit.cancelled_caught:
            refusal = build_refusal(504, "timeout", f"No answer within {self._seconds:g} seconds")
            await end_response(refusal, scope, receive, response)
