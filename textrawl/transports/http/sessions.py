"""The open sessions of a server. If there are too many, an idle session is ended for a new one."""

from collections import Counter, OrderedDict
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.access.request import find_principal

_HEADER = "mcp-session-id"
# More than the 700 connections of a server. So a session without an open request can always be
# found. An idle session takes about 45 kB of memory.
MOST = 1000
MOST_OF_ACTOR = 200
_BAD_REQUEST = 400


@dataclass
class _Session:
    owner: str  # an actor, or empty on a server without tokens
    scope: Scope  # of the request that opened the session
    requests: int = 0  # that are open now


class Sessions:
    """Ends idle sessions beyond 1,000, or beyond 200 of one actor.

    The session that was not used for the longest time ends first. On a full server, a session of
    the actor with the most sessions ends. Its client learns from a 404 that it has to begin a new
    session. The SDK ends a session after 30 minutes, and refuses new ones beyond 10,000. So
    abandoned sessions would take 460 MB, and then keep everybody out.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._sessions = OrderedDict[str, _Session]()  # the one that was used last is the last
        self._counts = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, and note the session that it opens or uses."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        number = Headers(scope=scope).get(_HEADER)
        if number is None:
            await self._open(scope, receive, send)
            return
        session = self._sessions.get(number)
        if session is None or session.owner != _find_owner(scope):
            await self._app(scope, receive, send)
        else:
            await self._use(number, session, (scope, receive, send))

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request without a session. If it opens one, make room for it."""
        opening = dict(scope)  # the routes change the scope

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < _BAD_REQUEST:
                number = Headers(raw=message.get("headers", [])).get(_HEADER)
                if number is not None:
                    await self._add(number, opening)
            await send(message)

        await self._app(scope, receive, watch)

    async def _add(self, number: str, scope: Scope) -> None:
        owner = _find_owner(scope)
        self._sessions[number] = _Session(owner, scope)
        self._counts[owner] += 1
        if owner and self._counts[owner] > MOST_OF_ACTOR:
            await self._end_idle(owner, number)
        elif len(self._sessions) > MOST:
            [(largest, _)] = self._counts.most_common(1)
            await self._end_idle(largest, number)

    async def _use(
        self, number: str, session: _Session, request: tuple[Scope, Receive, Send]
    ) -> None:
        scope, receive, send = request
        self._sessions.move_to_end(number)
        session.requests += 1
        try:
            await self._app(scope, receive, send)
        finally:
            session.requests -= 1
            if scope["method"] == "DELETE":
                self._forget(number)

    async def _end_idle(self, owner: str, newest: str) -> None:
        """End the session of `owner` that was not used for the longest time, as its client can."""
        for number, session in self._sessions.items():
            if session.owner == owner and not session.requests and number != newest:
                break
        else:
            return
        self._forget(number)
        headers = [pair for pair in session.scope["headers"] if pair[0] != b"content-length"]
        headers.append((_HEADER.encode(), number.encode()))
        await self._app({**session.scope, "method": "DELETE", "headers": headers}, _end, _ignore)

    def _forget(self, number: str) -> None:
        session = self._sessions.pop(number, None)
        if session is not None:
            self._counts[session.owner] -= 1
            self._counts += Counter[str]()  # drop an owner without sessions


def _find_owner(scope: Scope) -> str:
    principal = find_principal(Request(scope))
    return principal.actor if principal is not None else ""


async def _end() -> Message:
    return {"type": "http.disconnect"}


async def _ignore(_: Message) -> None:
    pass
