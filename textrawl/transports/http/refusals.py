"""Error responses to requests that a guard refuses or cancels."""

from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

_PROTECTING = {
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
    headers = dict(_PROTECTING)
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
