"""What listens on the socket of a host. It answers requests, and lets sessions begin.

All processes of an address try to take its lock. The kernel drops the lock of a process that ends,
even by kill -9. The others, such as a server over HTTP, try again every second.
"""

import json
import logging
import os
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream

from textrawl.client.local import LocalTools, Tools
from textrawl.environment import read_sources
from textrawl.errors import StartRefused
from textrawl.host.answers import Admission, answer
from textrawl.host.entrance import claim, find_key
from textrawl.memory.opening import open_memory
from textrawl.settings import Settings
from textrawl.wire.replies import build_recall_log
from textrawl_client.unix_socket import (
    MOST_BYTES,
    Address,
    build_address,
    find_peer,
)

logger = logging.getLogger("textrawl")

AnswerLine = Callable[[bytes], Awaitable[dict[str, Any]]]

_RETRY = 1.0  # seconds between attempts to take the lock
_READING = 2.0  # time limit for reading a request, in seconds
_ANSWERING = 660.0  # time limit for answering, in seconds; an undo can take 600
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
    """Answers the requests at an address with `answer`, while no other process does so."""

    def __init__(self, address: Address, answer: AnswerLine) -> None:
        self._address = address
        self._answer = answer
        self._open = 0
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
                    logger.warning("No socket for quick commands and hooks: %s", logged)
            await anyio.sleep(_RETRY)

    async def try_to_serve(self) -> None:
        """Listen until cancelled. If another process listens, return at once.

        Raises OSError, StartRefused.
        """
        with claim(self._address) as claimed:
            if claimed:
                await self.serve()

    async def serve(self) -> None:
        """Answer requests until cancelled. The caller holds the lock. Raises OSError."""
        path = self._address.socket
        self.last_used = time.monotonic()
        async with (
            await anyio.create_unix_listener(path, mode=0o600, backlog=256) as listener,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._close_at_end, listener)
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
            with anyio.fail_after(_ANSWERING):
                answer = await self._answer_connected(line, stream)
            if answer is None:
                return None
            with anyio.fail_after(_READING):
                await stream.send(json.dumps(answer).encode() + b"\n")
            result = answer.get("result")
        except (TimeoutError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            logger.debug("A client of the socket was slow or is gone")
            return None
        return result if isinstance(result, Admission) else None

    async def _answer_connected(self, line: bytes, stream: SocketStream) -> dict[str, Any] | None:
        """Return the answer, or None if the client goes: then its call is cancelled."""
        connection = stream.extra(SocketAttribute.raw_socket)  # noqa: S610 - not Django's
        answer = None
        async with anyio.create_task_group() as tasks:

            async def wait_for_end() -> None:
                await anyio.wait_readable(connection)
                with suppress(BlockingIOError):
                    if not connection.recv(1, socket.MSG_PEEK):
                        tasks.cancel_scope.cancel()

            tasks.start_soon(wait_for_end)
            with _Containment():
                answer = await self._answer(line)
            answer = answer or _INTERNAL
            tasks.cancel_scope.cancel()
        return answer


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


async def wait_until_idle(
    listeners: Sequence[Listener], seconds: float, ended: anyio.Event
) -> None:
    """Wait until nobody has used any of `listeners` for so long, or until somebody ends it."""
    while not ended.is_set() and (left := seconds - min(one.idle for one in listeners)) > 0:
        with anyio.move_on_after(min(left, _CHECKING)):
            await ended.wait()


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


TRAIL_NAMES = {
    "query_memory": "textrawl recall",
    "digest": "textrawl digest",
    "remember_fact": "textrawl remember",
    "memory_create": "textrawl capture",
}
"""The names that calls of tools through the socket have in the trail."""


def locate(settings: Settings) -> Address:
    """Return the address of the memory of `settings`, which were read from the sources."""
    return build_address(settings.data_dir, find_key(read_sources()))


_LAST_FLUSH = 1.0  # time limit in seconds for recording the last recalls
_CHECKING = 0.5  # seconds between checks whether the process is still needed


async def run_remote(settings: Settings) -> None:
    """Answer requests with the server of SERVER_URL, until nobody has asked for some minutes.

    Return at once if another process listens. Raises StartRefused.
    """
    address, ended = locate(settings), anyio.Event()
    with claim(address) as claimed:
        if not claimed:
            return
        async with open_tools(settings) as tools, anyio.create_task_group() as tasks:
            listener = Listener(address, partial(answer, tools, end=ended.set))
            tasks.start_soon(listener.serve)
            await wait_until_idle([listener], 60 * settings.host_idle, ended)
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def open_tools(settings: Settings) -> AsyncGenerator[Tools]:
    """Open the memory of `settings` for some requests, and yield its tools.

    The memory is that of the server in SERVER_URL, if this setting has a value. Raises
    StartRefused, DatabaseUnavailable.
    """
    if settings.server_url is not None:
        from textrawl.host.remote import (  # noqa: PLC0415 - it loads the MCP SDK
            open_remote_spaces,
        )

        async with open_remote_spaces(settings.server_url, settings) as spaces:
            yield spaces
        return
    async with open_memory(settings) as store:
        recalls = build_recall_log(settings)
        try:
            yield LocalTools(store, settings, recalls=recalls, names=TRAIL_NAMES)
        finally:
            if recalls is not None:
                with anyio.move_on_after(_LAST_FLUSH, shield=True):
                    await recalls.flush(store.database)
