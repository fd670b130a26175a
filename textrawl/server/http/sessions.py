"""Checks of each message before the SDK reads it, and sessions that outlive their server.

Broken messages and repeated ids are refused. A request of an unknown session gets a 404, as the
protocol demands, and this module adds the reason to the response.

A client should begin a new session after a 404, but the SDKs of TypeScript and Python do not: their
programs fail until they are restarted. So the id of a session also holds what the client said about
itself. A server that was restarted, or that ended the session because it was idle, opens the
session again under the same id.

An id proves nothing. Each request is authenticated by its own token, and the session of a made-up
id has only the rights of this token.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import anyio
from mcp.server.streamable_http import GET_STREAM_KEY
from mcp.types import (
    INVALID_REQUEST,
    InitializeRequestParams,
    JSONRPCMessage,
    JSONRPCRequest,
    RequestId,
)
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.access.request import find_principal
from textrawl.host.framing import MOST_BYTES, MessageBuffer, Outline
from textrawl.server.http.guards import is_modern
from textrawl.server.messages import MessageFault, read_message, refuse_length

_MOST_READ = 4 * MOST_BYTES  # bytes that are read to find the id of a message that is too long
_GRACE = 0.5  # seconds to wait for the end of an open request with the same id
_HEADER, _RESUMED_AFTER = "mcp-session-id", b"last-event-id"

_NOT_FOUND = 404
_SESSION_GONE = (
    "Session not found: the client ended it, another access token opened it, or the server does "
    "not know it any more. "
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
        elif isinstance(body := await _read_body(scope, receive), MessageFault):
            await _build_reply(body, 413)(scope, receive, send)
        else:
            await self._exchange(body, scope, receive, send)

    async def _exchange(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        message = read_message(body)
        if isinstance(message, MessageFault):
            await _build_reply(message, 400)(scope, receive, send)
            return
        send = _explain_missing(getattr(message, "id", None), scope, receive, send)
        key = _find_key(message, scope)
        if key is None:
            await self._app(scope, Body(receive, body).receive, send)
            return
        if key[-1] == GET_STREAM_KEY or not await self._is_free(key):
            reason = "A request with this id is being answered: take another id"
            fault = MessageFault(INVALID_REQUEST, reason, getattr(message, "id", None))
            await _build_reply(fault, 400)(scope, receive, send)
            return
        ended = self._answering[key] = anyio.Event()
        try:
            await self._app(scope, Body(receive, body).receive, send)
        finally:
            del self._answering[key]
            ended.set()

    async def _is_free(self, key: _RequestKey) -> bool:
        """Return whether no open request has `key`. Wait up to half a second for that."""
        with anyio.move_on_after(_GRACE):
            while (ended := self._answering.get(key)) is not None:
                await ended.wait()
        return key not in self._answering


async def _read_body(scope: Scope, receive: Receive) -> bytes | MessageFault:
    """Return the body, or a fault if the body is too long. Stop reading after _MOST_READ bytes.

    Raises ClientDisconnect.
    """
    buffer, received = MessageBuffer(), 0
    length = Headers(scope=scope).get("content-length", "")
    declared = int(length) if length.isdecimal() and length.isascii() else 0
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


def _find_key(message: JSONRPCMessage, scope: Scope) -> _RequestKey | None:
    """Return the key that no other open request can have, or None outside a session."""
    request = Request(scope)
    session = request.headers.get(_HEADER)
    if session is None or not isinstance(message, JSONRPCRequest):
        return None
    principal = find_principal(request)
    return principal.token if principal else None, session, str(message.id)


def _explain_missing(number: RequestId | None, scope: Scope, receive: Receive, send: Send) -> Send:
    """Return a `send` whose 404 says why the session is missing and what to do."""
    if _HEADER not in Headers(scope=scope):
        return send
    missing = False

    async def answer(message: Message) -> None:
        nonlocal missing
        if message["type"] == "http.response.start" and message["status"] == _NOT_FOUND:
            missing = True
            fault = MessageFault(INVALID_REQUEST, _SESSION_GONE, number)
            await _build_reply(fault, _NOT_FOUND)(scope, receive, send)
        elif not missing:
            await send(message)

    return answer


def _build_reply(fault: MessageFault, status: int) -> Response:
    text = fault.reply.model_dump_json(by_alias=True, exclude_unset=True)
    return Response(text, status_code=status, media_type="application/json")


# More than the 700 connections of a server. So a session without an open request can always be
# found. An idle session takes about 45 kB of memory.
MOST = 1000
MOST_OF_ACTOR = 200

_MOST_DESCRIBED = 2000  # characters in an id; servers and proxies accept headers of 8 kB
_BAD_REQUEST = 400
_DESCRIBED = ("protocolVersion", "capabilities", "clientInfo")
_OWN_HEADERS = (b"content-length", b"content-type", b"accept", _HEADER.encode())

_Owner = tuple[str, int | None]
"""Actor and token, or an empty actor on a server without tokens."""

_Key = tuple[_Owner, str]
"""The owner of a session, and its number in the id that the client got."""


@dataclass(frozen=True)
class _Exchange:
    """A request and the way to answer it."""

    scope: Scope
    receive: Receive
    send: Send

    @property
    def owner(self) -> _Owner:
        principal = find_principal(Request(self.scope))
        return (principal.actor, principal.token) if principal is not None else ("", None)


@dataclass
class _Session:
    number: str  # by which the SDK knows the session
    scope: Scope  # of the request that opened the session
    requests: int = 0  # that are open now


class Sessions:
    """Opens lost sessions again, and ends idle ones beyond 1,000, or beyond 200 of one actor.

    The session that was not used for the longest time ends first. On a full server, a session of
    the actor with the most sessions ends. The SDK ends a session after 30 minutes, and refuses new
    ones beyond 10,000. So abandoned sessions would take 460 MB, and then keep everybody out.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        # The session that was used last is the last.
        self._sessions = OrderedDict[_Key, _Session]()
        self._counts = Counter[str]()
        self._ended = OrderedDict[_Key, None]()  # sessions that their clients ended
        self._lock = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, and note the session that it opens or uses."""
        if scope["type"] != "http" or is_modern(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        given = Headers(scope=scope).get(_HEADER)
        if given is None:
            await self._open(exchange)
        else:
            await self._use(given, exchange)

    async def _open(self, exchange: _Exchange) -> None:
        """Serve a request without a session. If it opens one, name it, and make room for it."""
        opening, body = dict(exchange.scope), Body(exchange.receive)  # the routes change the scope

        async def name(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < _BAD_REQUEST:
                headers = MutableHeaders(scope=message)
                number = headers.get(_HEADER)
                if number is not None:
                    headers[_HEADER] = f"{number}{_describe(body.read)}"
                    await self._add(number, _Session(number, opening), exchange.owner)
            await exchange.send(message)

        await self._app(exchange.scope, body.receive, name)

    async def _use(self, given: str, exchange: _Exchange) -> None:
        """Serve a request of the session `given`. If the SDK has lost it, open it again."""
        number, body = given.partition(".")[0], Body(exchange.receive)
        key = exchange.owner, number
        session, known = self._sessions.get(key), number
        if session is not None:
            self._sessions.move_to_end(key)
            known = session.number
        exchange = replace(exchange, receive=body.receive)
        if exchange.scope["method"] == "DELETE":
            self._forget(key)
            self._end(key)
            await self._pass(known, given, exchange)
        elif not await self._pass(known, given, exchange, session, patient=True):
            restored = await self._restore(given, known, exchange)
            body.rewind()
            await self._pass(restored.number if restored else known, given, exchange, restored)

    async def _pass(
        self,
        number: str,
        given: str,
        exchange: _Exchange,
        session: _Session | None = None,
        *,
        patient: bool = False,
    ) -> bool:
        """Let the SDK answer a request. If `patient`, return False instead of a 404."""
        found = True

        async def answer(message: Message) -> None:
            nonlocal found
            if message["type"] == "http.response.start":
                found = not (patient and message["status"] == _NOT_FOUND)
                headers = MutableHeaders(scope=message)
                if _HEADER in headers:
                    headers[_HEADER] = given
            if found:
                await exchange.send(message)

        if session is not None:
            session.requests += 1
        try:
            scope = _change_headers(exchange.scope, {_HEADER: number})
            await self._app(scope, exchange.receive, answer)
        finally:
            if session is not None:
                session.requests -= 1
        return found

    async def _restore(self, given: str, lost: str, exchange: _Exchange) -> _Session | None:
        """Return a new session for the id `given`, or None if the id does not describe a client."""
        number, _, described = given.partition(".")
        key = exchange.owner, number
        async with self._lock:  # so that the requests of a client get one session together
            session = self._sessions.get(key)
            if session is not None and session.number != lost:
                return session
            self._forget(key)
            params = _read_description(described)
            is_of_other = any(one.number == number for one in self._sessions.values())
            if params is None or key in self._ended or is_of_other:
                return None
            opened = await self._begin(params, exchange.scope)
            if opened is None:
                return None
            session = _Session(opened, exchange.scope)
            await self._add(number, session, exchange.owner)
            return session

    async def _begin(self, params: Mapping[str, Any], scope: Scope) -> str | None:
        """Send what the client sent to open its session, and return the number of the new one."""
        call = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        number = (await self._post(call, scope)).get(_HEADER)
        if number is not None:
            note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await self._post(note, scope, {_HEADER: number})
        return number

    async def _post(
        self, message: object, scope: Scope, headers: Mapping[str, str] | None = None
    ) -> Headers:
        """Send a message in the name of a client. Return the headers of the answer."""
        answered = Headers()

        async def keep(answer: Message) -> None:
            nonlocal answered
            if answer["type"] == "http.response.start" and answer["status"] < _BAD_REQUEST:
                answered = Headers(raw=answer["headers"])

        own = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        changed = _change_headers(
            {**scope, "method": "POST"}, own | dict(headers or {}), without=_OWN_HEADERS
        )
        await self._app(changed, Body(_wait, json.dumps(message).encode()).receive, keep)
        return answered

    async def _add(self, number: str, session: _Session, owner: _Owner) -> None:
        self._sessions[owner, number] = session
        actor = owner[0]
        self._counts[actor] += 1
        if actor and self._counts[actor] > MOST_OF_ACTOR:
            await self._end_idle(actor, session)
        elif len(self._sessions) > MOST:
            [(largest, _)] = self._counts.most_common(1)
            await self._end_idle(largest, session)

    async def _end_idle(self, actor: str, newest: _Session) -> None:
        """End the session of `actor` that was not used for the longest time, as its client can."""
        for key, session in self._sessions.items():
            if key[0][0] == actor and not session.requests and session is not newest:
                break
        else:
            return
        self._forget(key)
        scope = _change_headers(
            {**session.scope, "method": "DELETE"},
            {_HEADER: session.number},
            without=(b"content-length",),
        )
        await self._app(scope, _disconnect, _ignore)

    def _forget(self, key: _Key) -> None:
        if self._sessions.pop(key, None) is not None:
            self._counts[key[0][0]] -= 1
            self._counts += Counter[str]()  # drop an actor without sessions

    def _end(self, key: _Key) -> None:
        """Remember that a client ended its session, so that nothing opens the session again."""
        self._ended[key] = None
        if len(self._ended) > MOST:
            self._ended.popitem(last=False)


class Body:
    """The body of a request, which the SDK can read a second time."""

    def __init__(self, receive: Receive, body: bytes | None = None) -> None:
        self._receive = receive
        self._next: Message | None = None
        self._first: Message | None = None
        if body is not None:
            self._next = {"type": "http.request", "body": body, "more_body": False}

    @property
    def read(self) -> bytes:
        """The body, as far as it was read. `Exchanges` passes it on in one message."""
        return self._first.get("body", b"") if self._first is not None else b""

    async def receive(self) -> Message:
        """Return the next message of the request."""
        message, self._next = self._next or await self._receive(), None
        if self._first is None and message["type"] == "http.request":
            self._first = message
        return message

    def rewind(self) -> None:
        """Begin again with the body."""
        self._next = self._first


def _describe(body: bytes) -> str:
    """Return the end of an id: what `initialize` says about the client. Return "" if too long."""
    params = json.loads(body).get("params", {})
    kept = {name: params[name] for name in _DESCRIBED if name in params}
    text = urlsafe_b64encode(json.dumps(kept, separators=(",", ":")).encode()).decode()
    return f".{text.rstrip('=')}" if len(text) <= _MOST_DESCRIBED else ""


def _read_description(text: str) -> dict[str, Any] | None:
    """Return the parameters of `initialize` in the end of an id, or None if there are none."""
    if len(text) > _MOST_DESCRIBED:
        return None
    try:
        params = InitializeRequestParams.model_validate_json(urlsafe_b64decode(f"{text}=="))
    except ValueError:  # of base64 or of pydantic
        return None
    return params.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _change_headers(
    scope: Scope, headers: Mapping[str, str], *, without: tuple[bytes, ...] = ()
) -> Scope:
    """Return a copy of `scope` with `headers` added, and the headers in `without` removed."""
    changed = {name.encode(): value.encode() for name, value in headers.items()}
    kept = [p for p in scope["headers"] if p[0] not in changed and p[0] not in without]
    return {**scope, "headers": [*kept, *changed.items()]}


async def _wait() -> Message:
    """Wait for the end of the answer."""
    await anyio.sleep_forever()
    raise AssertionError  # not reached


async def _disconnect() -> Message:
    return {"type": "http.disconnect"}


async def _ignore(_: Message) -> None:
    pass
