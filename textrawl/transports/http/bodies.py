"""The time limit for the arrival of a request."""

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.transports.http.refusals import build_refusal

_ARRIVAL = 10  # seconds, in which a slow phone can send a megabyte


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
        try:
            await self._app(scope, self._limit(receive), send)
        except _TooSlow:
            description = f"A request has {self._seconds:g} seconds to arrive"
            refusal = build_refusal(408, "request_timeout", description, close=True)
            await refusal(scope, receive, send)

    def _limit(self, receive: Receive) -> Receive:
        deadline: float | None = None
        complete = False

        async def receive_in_time() -> Message:
            nonlocal deadline, complete
            if complete:
                return await receive()
            deadline = deadline or anyio.current_time() + self._seconds
            try:
                with anyio.fail_after(deadline - anyio.current_time()):
                    message = await receive()
            except TimeoutError as error:
                raise _TooSlow from error
            complete = not message.get("more_body", False)
            return message

        return receive_in_time
