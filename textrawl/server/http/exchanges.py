"""Checks of each message before the SDK reads it. Broken messages and repeated ids are refused.

A request of an unknown session gets a 404, as the protocol demands. This module adds the reason to
the response.
"""

import anyio
from mcp.server.streamable_http import GET_STREAM_KEY
from mcp.types import INVALID_REQUEST, JSONRPCMessage, JSONRPCRequest, RequestId
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.access.request import find_principal
from textrawl.server.framing import MOST_BYTES, MessageBuffer, Outline
from textrawl.server.messages import MessageFault, read_message, refuse_length

_MOST_READ = 4 * MOST_BYTES  # bytes that are read to find the id of a message that is too long
_GRACE = 0.5  # seconds to wait for the end of an open request with the same id
_RESUMED_AFTER = b"last-event-id"

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
            await self._app(scope, _replay(body, receive), send)
            return
        if key[-1] == GET_STREAM_KEY or not await self._is_free(key):
            reason = "A request with this id is being answered: take another id"
            fault = MessageFault(INVALID_REQUEST, reason, getattr(message, "id", None))
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


async def _read_body(scope: Scope, receive: Receive) -> bytes | MessageFault:
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
            fault = MessageFault(INVALID_REQUEST, _SESSION_GONE, number)
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


def _build_reply(fault: MessageFault, status: int) -> Response:
    text = fault.reply.model_dump_json(by_alias=True, exclude_unset=True)
    return Response(text, status_code=status, media_type="application/json")
