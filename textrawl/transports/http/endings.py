"""When a request ends that lasts: with the token that it came with."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.errors import TextrawlError
from textrawl.transports.http.authentication import Lookup, read_bearer
from textrawl.transports.http.refusals import build_refusal

_EVERY = 1.0  # seconds between looks at tokens: a revocation is noticed by calls within one


@dataclass(eq=False)
class _Open:
    bearer: str
    since: float
    scope: anyio.CancelScope


class Endings:
    """Ends requests and streams whose token was revoked or expired since they began."""

    def __init__(self, app: ASGIApp, *, lookup: Lookup) -> None:
        self._app = app
        self._lookup = lookup
        self._open = set[_Open]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request until it is over or its token is, and looks while the server runs."""
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
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        with self._note(bearer) as request:
            await self._app(scope, receive, answer)
        if not request.scope.cancelled_caught:
            return
        if begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            refusal = build_refusal(401, "invalid_token", "The token has ended")
            await refusal(scope, receive, send)

    @contextmanager
    def _note(self, bearer: str) -> Generator[_Open]:
        request = _Open(bearer, time.monotonic(), anyio.CancelScope())
        self._open.add(request)
        try:
            with request.scope:
                yield request
        finally:
            self._open.discard(request)

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(_EVERY)
            latest = time.monotonic() - _EVERY
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
        """Whether nobody has this token any more; not while that cannot be found out."""
        try:
            principal = await self._lookup(bearer)
        except TextrawlError:
            return False
        if principal is None:
            return True
        return principal.expires_at is not None and principal.expires_at.timestamp() < time.time()
