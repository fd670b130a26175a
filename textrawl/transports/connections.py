"""uvicorn's connections, less patient with clients whose headers are endless or never come."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_PATIENCE = 10  # seconds that headers, or what is left of a refused body, have to come
_MOST_HEADERS = 65_536  # bytes, give or take what one read brings


class Connection(HttpToolsProtocol):
    """A connection over which HTTP/1.1 is spoken."""

    seconds: float = _PATIENCE
    _waiting: asyncio.TimerHandle | None = None
    _heading = True
    _unread = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as in uvicorn
        """Waits for the headers of a first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits for nothing any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parses what came, and refuses more headers than anybody needs."""
        super().data_received(data)
        if self._heading and not self.transport.is_closing():
            self._unread += len(data)
            if self._unread > _MOST_HEADERS:
                self.send_400_response("Headers too large.")

    def on_message_begin(self) -> None:
        """Waits for the headers of another request."""
        super().on_message_begin()
        self._heading, self._unread = True, 0
        self._wait()

    def on_headers_complete(self) -> None:
        """Waits for them no longer."""
        self._heading = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Waits for the rest of a request that was answered before it was there.

        To hang up at once would reset the connection, and the client would not see its answer.
        """
        super().on_response_complete()
        if self.cycle.more_body and not self.transport.is_closing():
            self._wait()

    def on_message_complete(self) -> None:
        """Waits for it no longer."""
        self._stop_waiting()
        super().on_message_complete()
        self.cycle.more_body = False

    def _wait(self) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(self.seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        cycle: Any = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._wait()  # an answer to an earlier request is still on its way
        else:
            self.transport.close()
