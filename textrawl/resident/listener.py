"""The process that listens on the socket of a memory. If it ends, another process takes over.

All processes of a memory try to take the lock of the socket. The kernel drops the lock of a process
that ends, even by kill -9. The others try again every second.
"""

import json
import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream

from textrawl.embedded.cluster import FileLock
from textrawl.embedded.paths import Account
from textrawl.errors import StartRefused
from textrawl.resident.answers import Admission
from textrawl_client.unix_socket import MOST_BYTES, Address, find_peer, is_private

logger = logging.getLogger("textrawl")

AnswerLine = Callable[[bytes], Awaitable[dict[str, Any]]]

_RETRY = 1.0  # seconds between attempts to take the lock
_READING = 2.0  # time limit for reading a request, in seconds
_ANSWERING = 60.0  # time limit for answering, in seconds
_MOST_CONNECTIONS = 512
_MOST_AT_ONCE = 64  # requests; more wait until another one is answered
_LOOK = "See the log of the process that has the memory open"
_INTERNAL = {
    "jsonrpc": "2.0",
    "id": None,
    "error": {
        "code": -32603,
        "message": f"Internal error. {_LOOK}.",
        "data": {"error": "Internal error", "fix": _LOOK},
    },
}


def may_ask(connection: socket.socket) -> bool:
    """Return whether the other end runs as the current OS user or as root."""
    return find_peer(connection) in (os.geteuid(), 0)


class Listener:
    """Answers the requests at an address with `answer`, while no other process does so.

    It calls `begin` when it begins to listen.
    """

    def __init__(
        self, address: Address, answer: AnswerLine, begin: Callable[[], None] | None = None
    ) -> None:
        self._address = address
        self._answer = answer
        self._begin = begin
        self._open = 0
        self._quiet: anyio.Event | None = None
        self._turns = anyio.Semaphore(_MOST_AT_ONCE)
        self.last_used = time.monotonic()

    async def run(self) -> None:
        """Listen until cancelled, whenever no other process does. A fault is logged once."""
        logged = ""
        while True:
            try:
                await self.try_to_serve()
            except (OSError, StartRefused) as error:
                if str(error) != logged:
                    logged = str(error)
                    logger.info("No socket for quick commands and hooks: %s", logged)
            await anyio.sleep(_RETRY)

    async def try_to_serve(self) -> None:
        """Listen until cancelled. If another process listens, return at once.

        Raises OSError, StartRefused.
        """
        with open_lock(self._address) as lock:
            if not lock.take_exclusive() or not lock.is_in_place():
                return
            try:
                await self.serve()
            finally:
                self._address.lock.unlink(missing_ok=True)

    async def serve(self) -> None:
        """Answer requests until cancelled. The caller holds the lock. Raises OSError."""
        path = self._address.socket
        self.last_used = time.monotonic()
        async with (
            await anyio.create_unix_listener(path, mode=0o600, backlog=256) as listener,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._close_at_end, listener)
            if self._begin is not None:
                self._begin()
            await listener.serve(self._handle, tasks)

    async def _close_at_end(self, listener: SocketListener) -> None:
        """Close the socket when the task is cancelled, before sessions have ended."""
        try:
            await anyio.sleep_forever()
        finally:
            with suppress(OSError):
                self._address.socket.unlink()
            with anyio.CancelScope(shield=True):
                await listener.aclose()

    async def finish(self) -> None:
        """Wait until every open connection has its answer, or at most two seconds."""
        if self._open:
            self._quiet = anyio.Event()
            with anyio.move_on_after(_READING):
                await self._quiet.wait()

    @property
    def idle(self) -> float:
        """The seconds since the last request."""
        return 0 if self._open else time.monotonic() - self.last_used

    async def _handle(self, stream: SocketStream) -> None:
        connection = stream.extra(SocketAttribute.raw_socket)  # noqa: S610 - not Django's
        async with stream:
            if self._open >= _MOST_CONNECTIONS or not may_ask(connection):
                return
            self._open += 1
            try:
                admission = None
                async with self._turns:
                    with _Containment():
                        admission = await self._exchange(stream)
                if admission is not None:
                    with _Containment():
                        await _serve_session(admission, connection.fileno())
            finally:
                self._open -= 1
                if self._quiet is not None and not self._open:
                    self._quiet.set()
                self.last_used = time.monotonic()

    async def _exchange(self, stream: SocketStream) -> Admission | None:
        """Read a request and answer it. A client that is slow or gone gets no answer.

        Return the answer if it begins a session.
        """
        try:
            with anyio.fail_after(_READING):
                line = await _read_line(stream)
            if line is None:
                return None
            answer = _INTERNAL
            with anyio.fail_after(_ANSWERING), _Containment():
                answer = await self._answer(line)
            with anyio.fail_after(_READING):
                await stream.send(json.dumps(answer).encode() + b"\n")
            result = answer.get("result")
        except (TimeoutError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            logger.debug("A client of the socket was slow or is gone")
            return None
        return result if isinstance(result, Admission) else None


class _Containment:
    """A block whose errors are logged, because a request must not end the server."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if isinstance(error, TimeoutError) or not isinstance(error, Exception):
            return False
        logger.error("A request through the socket failed", exc_info=error)
        return True


async def _serve_session(admission: Admission, descriptor: int) -> None:
    """Serve a session until it ends. If the task is cancelled, the session ends soon."""
    leaving = anyio.Event()

    async def wait_for_end() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            leaving.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait_for_end)
        with anyio.CancelScope(shield=True):
            await admission.serve(descriptor, leaving)
        tasks.cancel_scope.cancel()


def open_lock(address: Address) -> FileLock:
    """Open the lock of an address, and create its folder if it does not exist.

    Raises OSError, StartRefused.
    """
    address.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    address.folder.mkdir(mode=0o700, exist_ok=True)
    if not is_private(address.folder):
        raise StartRefused(f"{address.folder} is not private to this OS user: remove it")
    own = Account("", os.geteuid(), os.getegid(), foreign=False)
    return FileLock(address.lock, own)


async def _read_line(stream: SocketStream) -> bytes | None:
    """Return the request without its line break, or None if it is too long or incomplete."""
    received = bytearray()
    while not received.endswith(b"\n"):
        try:
            received += await stream.receive()
        except anyio.EndOfStream:
            return None
        if len(received) > MOST_BYTES:
            return None
    return bytes(received)
