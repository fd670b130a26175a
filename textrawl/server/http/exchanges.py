"""Checks of each message before the SDK reads it. Broken messages and repeated ids are refused.

A request of an unknown session gets a 404, as the protocol demands. This module adds the reason to
the response.
"""

from collections import Counter, OrderedDict
from dataclasses import dataclass

import anyio
from mcp.server.streamable_http import GET_STREAM_KEY
from mcp.types import INVALID_REQUEST, JSONRPCMessage, JSONRPCRequest, RequestId
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.access.request import find_principal
from textrawl.server.framing import MOST_BYTES, MessageBuffer, Outline
from textrawl.server.messages import Fault, read_message, refuse_length

_MOST_READ = 4 * MOST_BYTES  # bytes that are read to find the id of a message that is too long
_GRACE = 0.5  # seconds to wait for the end of an open request with the same id
_RESUMED_AFTER = b"last-event-id"

_NOT_FOUND = 404
_SESSION_GONE = (
    "Session not found: the server was restarted, the session was idle for 30 minutes, or newer "
    "sessions took its place. "
    "Initialize a new session: reconnect or restart this client"
)

_RequestKey = tuple[int | None, str, str]
"""Token, session and id. Only one open request can have the same key."""


class Exchanges:
    """Reads messages before the SDK, because errors of the SDK about broken messages have no id.

    If two open requests had the same id, the SDK would mix up their answers, and both requests
    would wait forever. A client that resumes a stream gets a new stream, because events are not
    kept.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._answering: dict[_RequestKey, anyio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 400 or 413."""
        if scope["type"] != "http" or scope["path"].split("/")[1:2] != ["mcp"]:
            await self._app(scope, receive, send)
        elif scope["method"] != "POST":
            headers = [pair for pair in scope["headers"] if pair[0] != _RESUMED_AFTER]
            await self._app({**scope, "headers": headers}, receive, send)
        elif isinstance(body := await _read_body(scope, receive), Fault):
            await _build_reply(body, 413)(scope, receive, send)
        else:
            await self._exchange(body, scope, receive, send)

    async def _exchange(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        message = read_message(body)
        if isinstance(message, Fault):
            await _build_reply(message, 400)(scope, receive, send)
            return
        send = _explain_missing(getattr(message, "id", None), scope, receive, send)
        key = _find_key(message, scope)
        if key is None:
            await self._app(scope, _replay(body, receive), send)
            return
        if key[-1] == GET_STREAM_KEY or not await self._is_free(key):
            reason = "A request with this id is being answered: take another id"
            fault = Fault(INVALID_REQUEST, reason, getattr(message, "id", None))
            await _build_reply(fault, 400)(scope, receive, send)
            return
        ended = self._answering[key] = anyio.Event()
        try:
            await self._app(scope, _replay(body, receive), send)
        finally:
            del self._answering[key]
            ended.set()

    async def _is_free(self, key: _RequestKey) -> bool:
        """Return whether no open request has `key`. Wait up to half a second for that."""
        with anyio.move_on_after(_GRACE):
            while (ended := self._answering.get(key)) is not None:
                await ended.wait()
        return key not in self._answering


async def _read_body(scope: Scope, receive: Receive) -> bytes | Fault:
    """Return the body, or a fault if the body is too long. Stop reading after _MOST_READ bytes.

    Raises ClientDisconnect.
    """
    buffer, received = MessageBuffer(), 0
    declared = _read_length(Headers(scope=scope))
    more = declared <= _MOST_READ
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece = message.get("body", b"")
        buffer.add(piece)
        received += len(piece)
        more = message.get("more_body", False) and received <= _MOST_READ
    body = buffer.take()
    if isinstance(body, Outline):
        return refuse_length(body)
    return body if declared <= MOST_BYTES else refuse_length(Outline())


def _read_length(headers: Headers) -> int:
    """Return the declared length of a body, or 0 if no length is declared."""
    declared = headers.get("content-length", "")
    return int(declared) if declared.isdecimal() and declared.isascii() else 0


def _find_key(message: JSONRPCMessage, scope: Scope) -> _RequestKey | None:
    """Return the key that no other open request can have, or None outside a session."""
    request = Request(scope)
    session = request.headers.get("mcp-session-id")
    if session is None or not isinstance(message, JSONRPCRequest):
        return None
    principal = find_principal(request)
    return principal.token if principal else None, session, str(message.id)


def _explain_missing(number: RequestId | None, scope: Scope, receive: Receive, send: Send) -> Send:
    """Return a `send` whose 404 says why the session is missing and what to do."""
    if "mcp-session-id" not in Headers(scope=scope):
        return send
    missing = False

    async def answer(message: Message) -> None:
        nonlocal missing
        if message["type"] == "http.response.start" and message["status"] == _NOT_FOUND:
            missing = True
            fault = Fault(INVALID_REQUEST, _SESSION_GONE, number)
            await _build_reply(fault, _NOT_FOUND)(scope, receive, send)
        elif not missing:
            await send(message)

    return answer


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` whose first message is `body`."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return first.pop() if first else await receive()

    return receive_again


def _build_reply(fault: Fault, status: int) -> Response:
    text = fault.reply.model_dump_json(by_alias=True, exclude_unset=True)
    return Response(text, status_code=status, media_type="application/json")


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
