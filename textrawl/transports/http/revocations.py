"""Cancellation of long requests and streams after their access token is revoked or expires."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from textrawl.errors import TextrawlError
from textrawl.transports.http.authentication import Lookup, read_bearer
from textrawl.transports.http.refusals import SentResponse, build_refusal, end_response

_INTERVAL = 1.0  # seconds between checks of tokens. Calls also notice a revocation after 1 second.


@dataclass(eq=False)
class _OpenRequest:
    bearer: str
    since: float
    scope: anyio.CancelScope


class Revocations:
    """Cancels requests and streams if their token is revoked or expires after they began."""

    def __init__(self, app: ASGIApp, *, lookup: Lookup) -> None:
        self._app = app
        self._lookup = lookup
        self._open = set[_OpenRequest]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request until it ends or its token is no longer valid.

        During the lifespan of the application, a task checks the tokens.
        """
        if scope["type"] == "lifespan":
            async with anyio.create_task_group() as beside:
                beside.start_soon(self._watch)
                await self._app(scope, receive, send)
                beside.cancel_scope.cancel()
            return
        bearer = read_bearer(Headers(scope=scope)) if scope["type"] == "http" else None
        if bearer is None or "user" not in scope:
            await self._app(scope, receive, send)
            return
        response = SentResponse(send)
        with self._track(bearer) as request:
            await self._app(scope, receive, response)
        if request.scope.cancelled_caught:
            refusal = build_refusal(401, "invalid_token", "The token has ended")
            await end_response(refusal, scope, receive, response)

    @contextmanager
    def _track(self, bearer: str) -> Generator[_OpenRequest]:
        request = _OpenRequest(bearer, time.monotonic(), anyio.CancelScope())
        self._open.add(request)
        try:
            with request.scope:
                yield request
        finally:
            self._open.discard(request)

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(_INTERVAL)
            latest = time.monotonic() - _INTERVAL
            lasting = [request for request in self._open if request.since < latest]
            ended = [
                bearer
                for bearer in {request.bearer for request in lasting}
                if await self._has_ended(bearer)
            ]
            for request in lasting:
                if request.bearer in ended:
                    request.scope.cancel()

    async def _has_ended(self, bearer: str) -> bool:
        """Return whether the token is no longer valid. Return False while the database is down."""
        try:
            principal = await self._lookup(bearer)
        except TextrawlError:
            return False
        if principal is None:
            return True
        return principal.expires_at is not None and principal.expires_at.timestamp() < time.time()
