"""uvicorn's connections. At the connection limit, a new connection replaces an idle connection.

uvicorn refuses connections beyond its limit even if the open connections are idle. In a measurement
with 900 idle connections, 82 of 85 calls of a user got a 503, and /healthz got it too. Here a new
connection replaces an idle connection of the address that has the most connections, and /healthz is
always answered.

Slow headers do not need a time limit, because a connection counts as idle until the headers are
complete. Endless headers would fill the memory, because uvicorn's parser does not limit them. A
proxy has both limits, but the server also runs without a proxy.
"""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from textrawl.transports.http.requests import LIVENESS

_MOST_HEADERS = 65_536  # bytes. The check comes after each read, so the last read can exceed it.
_LIVENESS = LIVENESS.encode()


class Connection(HttpToolsProtocol):
    """An HTTP/1.1 connection."""

    _in_headers = True
    _unread = 0
    _used_at = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as in uvicorn
        """Make room for this connection and open it."""
        self._make_room()
        super().connection_made(transport)
        self._used_at = self.loop.time()

    def data_received(self, data: bytes) -> None:
        """Parse the data, and refuse headers over the limit."""
        super().data_received(data)
        if self._in_headers and not self.transport.is_closing():
            self._unread += len(data)
            if self._unread > _MOST_HEADERS:
                self.send_400_response("Headers too large.")

    def on_message_begin(self) -> None:
        """Begin to count the bytes of headers."""
        super().on_message_begin()
        self._used_at = self.loop.time()
        self._in_headers, self._unread = True, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Accept headers. Ignore trailers, because guards do not check lines after a body."""
        if self._in_headers:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request. /healthz is exempt from the connection limit."""
        self._in_headers = False
        alive = self.url.partition(b"?")[0] == _LIVENESS
        self.limit_concurrency = None if alive else self.config.limit_concurrency
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Record when the connection was last used."""
        super().on_response_complete()
        self._used_at = self.loop.time()

    def _make_room(self) -> None:
        """Close an idle connection if the limit is reached."""
        most = self.config.limit_concurrency
        if most is None or len(self.connections) + 1 < most:
            return
        others: list[Connection] = [one for one in self.connections if isinstance(one, Connection)]
        counts = Counter(other.address for other in others)
        idle = [other for other in others if other.is_idle]
        if not idle:
            return
        oldest = min(idle, key=lambda other: (-counts[other.address], other.used_at))
        self.connections.discard(oldest)  # otherwise it counts until the system has closed it
        oldest.transport.close()

    @property
    def address(self) -> str:
        """The address of the client, or of its proxy."""
        return self.client[0] if self.client else ""

    @property
    def used_at(self) -> float:
        """The time at which a request last began or ended, by the clock of the event loop."""
        return self._used_at

    @property
    def is_idle(self) -> bool:
        """True if no request waits for its response."""
        cycle: Any = self.cycle
        return not self.pipeline and (cycle is None or bool(cycle.response_complete))
