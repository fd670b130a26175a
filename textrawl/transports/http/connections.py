"""uvicorn's connections, of which idle ones make room for new ones.

uvicorn refuses connections beyond its limit, however little the others do. 900 connections that
asked for /healthz once and stayed were answered 503 in 82 of 85 calls of a user, and of the prober
too. Here a new connection replaces an idle one, of the address that has most of them, and
/healthz is always answered.

Slow headers need no clock of their own: until they are there, their connection is idle. Endless
ones would fill the memory, since uvicorn's parser has no limit. A proxy has both limits, but a
server on this machine may run without one.
"""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from textrawl.transports.http.requests import LIVENESS

_MOST_HEADERS = 65_536  # bytes, give or take what one read brings
_LIVENESS = LIVENESS.encode()


class Connection(HttpToolsProtocol):
    """A connection over which HTTP/1.1 is spoken."""

    _heading = True
    _unread = 0
    _used_at = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as in uvicorn
        """Make room for this connection, then open it."""
        self._make_room()
        super().connection_made(transport)
        self._used_at = self.loop.time()

    def data_received(self, data: bytes) -> None:
        """Parse what came, and refuse more headers than anybody needs."""
        super().data_received(data)
        if self._heading and not self.transport.is_closing():
            self._unread += len(data)
            if self._unread > _MOST_HEADERS:
                self.send_400_response("Headers too large.")

    def on_message_begin(self) -> None:
        """Note that headers follow."""
        super().on_message_begin()
        self._used_at = self.loop.time()
        self._heading, self._unread = True, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, and no trailer: no guard sees the lines that follow a body."""
        if self._heading:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request; /healthz is answered however many connections there are."""
        self._heading = False
        alive = self.url.partition(b"?")[0] == _LIVENESS
        self.limit_concurrency = None if alive else self.config.limit_concurrency
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Note when the connection was last of use."""
        super().on_response_complete()
        self._used_at = self.loop.time()

    def _make_room(self) -> None:
        """Close an idle connection if there are as many as there may be."""
        most = self.config.limit_concurrency
        if most is None or len(self.connections) + 1 < most:
            return
        others: list[Connection] = [one for one in self.connections if isinstance(one, Connection)]
        shares = Counter(other.address for other in others)
        idle = [other for other in others if other.is_idle]
        if not idle:
            return
        ended = min(idle, key=lambda other: (-shares[other.address], other.used_at))
        self.connections.discard(ended)  # at once: it counts until the system has closed it
        ended.transport.close()

    @property
    def address(self) -> str:
        """The address of the client; for the clients of a proxy it is the proxy's."""
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
