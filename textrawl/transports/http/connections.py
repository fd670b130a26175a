"""uvicorn's connections, less patient with clients whose headers are endless or never come.

Nobody is locked out by connections that do nothing: where there are as many as there may be, a new
one takes the place of one that is idle, of the address that has most of them.
"""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from textrawl.transports.http.requests import LIVENESS

_PATIENCE = 10  # seconds that headers, or what is left of a refused body, have to come
_MOST_HEADERS = 65_536  # bytes, give or take what one read brings
_LIVENESS = LIVENESS.encode()


class Connection(HttpToolsProtocol):
    """A connection over which HTTP/1.1 is spoken."""

    seconds: float = _PATIENCE
    _waiting: asyncio.TimerHandle | None = None
    _heading = True
    _unread = 0
    _used_at = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as in uvicorn
        """Waits for the headers of a first request."""
        self._make_room()
        super().connection_made(transport)
        self._used_at = self.loop.time()
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
        self._used_at = self.loop.time()
        self._heading, self._unread = True, 0
        self._wait()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Takes a header, and no trailer: what follows the body was seen by no guard before us."""
        if self._heading:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Waits for them no longer; that the process lives is told however many there are."""
        self._heading = False
        self._stop_waiting()
        alive = self.url.partition(b"?")[0] == _LIVENESS
        self.limit_concurrency = None if alive else self.config.limit_concurrency
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Waits for the rest of a request that was answered before it was there.

        To hang up at once would reset the connection, and the client would not see its answer.
        """
        super().on_response_complete()
        self._used_at = self.loop.time()
        if self.cycle.more_body and not self.transport.is_closing():
            self._wait()

    def on_message_complete(self) -> None:
        """Waits for it no longer."""
        self._stop_waiting()
        super().on_message_complete()
        self.cycle.more_body = False

    def _make_room(self) -> None:
        """Closes an idle connection where there are as many as there may be."""
        most = self.config.limit_concurrency
        if most is None or len(self.connections) + 1 < most:
            return
        known: list[Connection] = [one for one in self.connections if isinstance(one, Connection)]
        shares = Counter(other.address for other in known)
        idle = [other for other in known if other.is_idle]
        if not idle:
            return
        ended = min(idle, key=lambda other: (-shares[other.address], other.used_at))
        self.connections.discard(ended)  # at once: it counts until the system has closed it
        ended.transport.close()

    @property
    def address(self) -> str:
        """Where its client is; of a proxy's clients it is the proxy."""
        return self.client[0] if self.client else ""

    @property
    def used_at(self) -> float:
        """When a request last began or ended, by the clock of the event loop."""
        return self._used_at

    @property
    def is_idle(self) -> bool:
        """Whether no request waits for its answer."""
        cycle: Any = self.cycle
        return not self.pipeline and (cycle is None or bool(cycle.response_complete))

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
