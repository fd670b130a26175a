"""Authentication over HTTP, by one bearer token in the Authorization header."""

import re
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

import anyio
from cachetools import TTLCache
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import (
    AuthenticatedUser,
    BearerAuthBackend,
    RequireAuthMiddleware,
)
from mcp.server.auth.provider import TokenVerifier
from pydantic import AnyHttpUrl
from starlette.datastructures import Headers
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.access.principal import Principal
from textrawl.access.request import PrincipalToken
from textrawl.errors import TextrawlError
from textrawl.scheduling import Turns
from textrawl.server.http.guards import (
    SentResponse,
    Window,
    build_refusal,
    end_response,
    is_open,
    is_page,
)

Lookup = Callable[[str], Awaitable[Principal | None]]

_LONGEST = 8192  # characters of a bearer token: a JWT with many claims has 2,000
_MOST_FAILURES = 60  # per minute and address
_MOST_DOUBTED = 20  # look-ups that an address with too many failures can have running or waiting
_MOST_ACCEPTED, _ACCEPTED_FOR = (
    10_000,
    3600,
)  # accepted tokens to remember, and for how many seconds
_NOT_AUTHENTICATED = 401
_WRONG = (
    "The access token is not valid: it is unknown, expired or revoked, or not sent alone in the "
    "Authorization header"
)
_IN_QUERY = re.compile(
    rb"(?:^|&)(?:access_token|token|bearer|authorization|api_?key)=|=(?:trl_|eyJ)", re.IGNORECASE
)


class _LookupFailed(Exception):
    pass


class PrincipalVerifier(TokenVerifier):
    """Verifies bearer tokens with `lookup`, for the SDK."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def verify_token(self, token: str) -> PrincipalToken | None:
        """Return the SDK's description of a token, or None if it is not valid."""
        if not token or len(token) > _LONGEST or not token.isascii():
            return None
        try:
            principal = await self._lookup(token)
        except TextrawlError as error:
            raise _LookupFailed from error
        return None if principal is None else describe_principal(principal)


def describe_principal(principal: Principal) -> PrincipalToken:
    """Return the SDK's description of a principal, without its token."""
    # The subject is the token, because a session and a question to its user belong to one token.
    expiry = principal.expires_at
    return PrincipalToken(
        token="",
        client_id=principal.actor,
        subject=str(principal.token),
        scopes=sorted({scope for space in principal.spaces for scope in space.scopes}),
        expires_at=None if expiry is None else int(expiry.timestamp()),
        principal=principal,
    )


def read_bearer(headers: Headers) -> str | None:
    """Return the bearer token of a request with exactly one Authorization header, else None."""
    values = headers.getlist("authorization")
    scheme, _, token = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    return token.strip() or None if scheme.lower() == "bearer" else None


class _TokenRequired(RequireAuthMiddleware):
    """Lets requests with a valid token pass. To others it says whether a token is missing or wrong.

    Of a wrong token nobody learns whether it is unknown, expired or revoked. A request without a
    token gets no error code (RFC 6750, 3.1).
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 401."""
        if isinstance(scope.get("user"), AuthenticatedUser):
            await super().__call__(scope, receive, send)
            return
        code, reason = "unauthorized", "Send an access token as Authorization: Bearer TOKEN"
        parts = ['realm="textrawl"']
        if "authorization" in Headers(scope=scope) or _IN_QUERY.search(scope["query_string"]):
            code, reason = "invalid_token", _WRONG
            parts += f'error="{code}"', f'error_description="{reason}"'
        if self.resource_metadata_url:
            parts.append(f'resource_metadata="{self.resource_metadata_url}"')
        refusal = build_refusal(_NOT_AUTHENTICATED, code, reason)
        refusal.headers["www-authenticate"] = f"Bearer {', '.join(parts)}"
        await refusal(scope, receive, send)


class Authentication:
    """Answers 401 to every request without a valid token, except on open paths and on pages.

    If an address has too many failures in a minute, its invalid tokens get a 429, and its tokens
    are looked up one at a time. Valid tokens are still accepted, because several users can share
    the address.
    """

    def __init__(self, app: ASGIApp, *, lookup: Lookup, metadata_url: AnyHttpUrl | None) -> None:
        self._app = app
        self._closed = _TokenRequired(AuthContextMiddleware(app), [], metadata_url)
        self._verifier = PrincipalVerifier(lookup)
        backend = BearerAuthBackend(self._verifier)
        self._checked = AuthenticationMiddleware(self._closed, backend=backend)
        self._failures = Window(_MOST_FAILURES)
        self._accepted = TTLCache[bytes, None](_MOST_ACCEPTED, _ACCEPTED_FOR)
        self._doubted = Turns(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 401, 429 or 503."""
        if scope["type"] != "http" or is_open(scope["path"]) or is_page(scope["path"]):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        values = connection.headers.getlist("authorization")
        digest = sha256("\n".join(values).encode()).digest()
        address = connection.client.host if connection.client else ""
        # `_closed` refuses every request that has no user in its scope.
        malformed = len(values) > 1 or _IN_QUERY.search(scope["query_string"])
        app = self._closed if malformed else self._checked
        try:
            wait = 0 if digest in self._accepted else self._failures.find_wait(address)
            if wait and (malformed or not await self._is_valid(connection.headers, address)):
                refusal = build_refusal(429, "too_many_failures", f"Wait {wait} seconds", wait=wait)
                await refusal(scope, receive, send)
                return
            await app(scope, receive, self._record(digest, address, send))
        except _LookupFailed as error:
            refusal = build_refusal(503, "temporarily_unavailable", str(error.__cause__), wait=1)
            await refusal(scope, receive, send)

    async def _is_valid(self, headers: Headers, address: str) -> bool:
        """Return whether the token of an address with too many failures is valid."""
        bearer = read_bearer(headers)
        if bearer is None or self._doubted.count(address) >= _MOST_DOUBTED:
            return False
        async with self._doubted.take(address):
            token = await self._verifier.verify_token(bearer)
        return token is not None and (token.expires_at is None or token.expires_at >= time.time())

    def _record(self, digest: bytes, address: str, send: Send) -> Send:
        """Return a `send` that also records whether the token was accepted."""

        async def answer(message: Message) -> None:
            if message.get("status") == _NOT_AUTHENTICATED:
                self._accepted.pop(digest, None)
                self._failures.add(address)
            elif "status" in message:
                self._accepted[digest] = None
            await send(message)

        return answer


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
