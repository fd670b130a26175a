"""One message, one answer: what is no message is told so, and no two requests share an id.

A request of an unknown session is answered 404, as the protocol demands; here it is also said why.
"""

import anyio
from mcp.server.streamable_http import GET_STREAM_KEY
from mcp.types import INVALID_REQUEST, JSONRPCMessage, JSONRPCRequest, RequestId
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textrawl.access.request import find_principal
from textrawl.transports.framing.lines import MOST_BYTES
from textrawl.transports.framing.messages import Fault, read_message, refuse_length
from textrawl.transports.framing.outlines import Outline

_MOST_READ = 4 * MOST_BYTES  # of a message that is too long, for the sake of its id
_MOMENT = 0.5  # seconds
_RESUMED_AFTER = b"last-event-id"

_NOT_FOUND = 404
_SESSION_GONE = (
    "Session not found: the server was restarted, or the session was idle for 30 minutes. "
    "Initialize a new session: reconnect or restart this client"
)

_Place = tuple[int | None, str, str]
"""A token, a session, an id: one request at a time."""


class Exchanges:
    """Reads messages before the SDK does, which tells no id of what it cannot read.

    A request with the id of one that is being answered would take its answer away, and both would
    wait for ever. Streams are never resumed, since no events are kept: they begin anew.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._answering: dict[_Place, anyio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, or answers 400 or 413."""
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
        place = _find_place(message, scope)
        if place is None:
            await self._app(scope, _replay(body, receive), send)
            return
        if place[-1] == GET_STREAM_KEY or not await self._is_free(place):
            reason = "A request with this id is being answered: take another id"
            fault = Fault(INVALID_REQUEST, reason, getattr(message, "id", None))
            await _build_reply(fault, 400)(scope, receive, send)
            return
        over = self._answering[place] = anyio.Event()
        try:
            await self._app(scope, _replay(body, receive), send)
        finally:
            del self._answering[place]
            over.set()

    async def _is_free(self, place: _Place) -> bool:
        """Whether no request has `place`; one that was answered just now may need a moment more."""
        with anyio.move_on_after(_MOMENT):
            while (over := self._answering.get(place)) is not None:
                await over.wait()
        return place not in self._answering


async def _read_body(scope: Scope, receive: Receive) -> bytes | Fault:
    """The body, or the fault of one that is too long, read no further than its id may be.

    Raises ClientDisconnect.
    """
    outline: Outline | None = None
    body = bytearray()
    declared = Headers(scope=scope).get("content-length", "")
    size = int(declared) if declared.isdecimal() and declared.isascii() else 0
    more = size <= _MOST_READ
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece = message.get("body", b"")
        size = max(size, len(body) + len(piece))
        if outline is None and len(body) + len(piece) > MOST_BYTES:
            outline = Outline()
            outline.feed(bytes(body))
        if outline is not None:
            outline.feed(piece)
        body += piece
        more = message.get("more_body", False) and len(body) <= _MOST_READ
    return bytes(body) if size <= MOST_BYTES else refuse_length(outline or Outline())


def _find_place(message: JSONRPCMessage, scope: Scope) -> _Place | None:
    """What no other request may have meanwhile; None for one that is of no session."""
    request = Request(scope)
    session = request.headers.get("mcp-session-id")
    if session is None or not isinstance(message, JSONRPCRequest):
        return None
    principal = find_principal(request)
    return principal.token if principal else None, session, str(message.id)


def _explain_missing(number: RequestId | None, scope: Scope, receive: Receive, send: Send) -> Send:
    """Send, and say in place of the SDK's two words what became of a session and what to do."""
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
    """Gives `body` once, then what else there is to hear."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def hear() -> Message:
        return left.pop() if left else await receive()

    return hear


def _build_reply(fault: Fault, status: int) -> Response:
    text = fault.reply.model_dump_json(by_alias=True, exclude_unset=True)
    return Response(text, status_code=status, media_type="application/json")
