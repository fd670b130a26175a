"""Servers that are started again each time they die, and calls to them."""

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.support.http_team import bear, call_modern

PATIENCE = 40.0  # seconds that a client waits for an answer
_LONGEST_LINE = 1 << 20


class Broken(Exception):
    """The error if no answer came, so nobody knows whether the call was done."""


@dataclass(frozen=True)
class Place:
    """The command and the environment of servers."""

    environment: Mapping[str, str]
    folder: Path
    token: str
    port: int

    async def start(self, *arguments: str, merged: bool = False, **streams: Any) -> Process:
        """Start `textrawl` in another process, which writes its messages to servers.log.

        With `merged`, it writes them to stdout.
        """
        with (self.folder / "servers.log").open("ab") as log:
            return await anyio.open_process(
                [sys.executable, "-m", "textrawl", *arguments],
                env=dict(self.environment),
                cwd=self.folder,
                stderr=subprocess.STDOUT if merged else log,
                **streams,
            )


class Server:
    """A server that can be killed."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.process: Process | None = None
        self.starts: int = 0
        self.ending = False

    def kill(self) -> None:
        """Kill the server with SIGKILL, as the kernel does if memory is short."""
        self.send_signal(signal.SIGKILL)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the server, if it runs."""
        if self.process is not None and self.process.returncode is None:
            os.kill(self.process.pid, number)


def _read_result(response: httpx2.Response) -> dict[str, Any]:
    """Return the result of a response: JSON or, if the answer was slow, a stream of events."""
    if response.headers["content-type"].startswith("application/json"):
        return _find_result(response.json())
    events = [line for line in response.text.splitlines() if line.startswith("data:")]
    if not events:
        raise Broken("stream ended")
    return _find_result(json.loads(events[-1].removeprefix("data:")))


def _find_result(message: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a message. Raises Broken for an error of the protocol."""
    if "error" in message:
        raise Broken(f"error {message['error']['message'][:60]}")
    return message["result"]


class HttpServer(Server):
    """`serve --http`, which is started again each time it dies."""

    async def start(self) -> Process:
        """Start the server."""
        self.process = await self.place.start(
            "serve", "--http", "--port", str(self.place.port), stdin=None, stdout=None
        )
        self.starts += 1
        return self.process

    async def supervise(self) -> None:
        """Start the server again each time it dies, until it is ended."""
        while not self.ending:
            await (await self.start()).wait()

    async def end(self) -> int | None:
        """Send SIGTERM, and return the exit code of the server."""
        self.ending = True
        if self.process is None:
            return None
        with suppress(ProcessLookupError):
            self.process.terminate()
        return await self.process.wait()

    async def call(
        self,
        http: httpx2.AsyncClient,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        path: str = "/mcp",
        token: str | None = None,
    ) -> dict[str, Any]:
        """Return the result of a call. Raises Broken."""
        headers, body = call_modern(tool)
        body["params"]["arguments"] = arguments
        url = f"http://127.0.0.1:{self.place.port}{path}"
        headers |= bear(token or self.place.token)
        try:
            response = await http.post(url, json=body, headers=headers)
        except httpx2.HTTPError as error:
            raise Broken(type(error).__name__) from error
        if response.status_code != 200:
            raise Broken(f"status {response.status_code}")
        return _read_result(response)


class PipeServer(Server):
    """`serve` over stdio. Its only client starts it."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._numbers = itertools.count(1)
        self._lines: BufferedByteReceiveStream | None = None

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a call. Start a new process if the last has ended. Raises Broken."""
        await self._ensure()
        assert self.process is not None
        assert self.process.stdin is not None
        assert self._lines is not None
        _, body = call_modern(tool)
        body |= {"id": next(self._numbers)}
        body["params"]["arguments"] = arguments
        try:
            with anyio.fail_after(PATIENCE):
                await self.process.stdin.send(json.dumps(body).encode() + b"\n")
                while True:
                    line = await self._lines.receive_until(b"\n", _LONGEST_LINE)
                    message = json.loads(line)
                    if message.get("id") == body["id"]:
                        return _find_result(message)
        except (anyio.BrokenResourceError, anyio.IncompleteRead, anyio.EndOfStream,
                anyio.ClosedResourceError, TimeoutError) as error:  # fmt: skip
            raise Broken(type(error).__name__) from error

    async def _ensure(self) -> None:
        if self.process is not None:
            with anyio.move_on_after(0.001):
                await self.process.wait()
            if self.process.returncode is None:
                return
            await self.process.aclose()
        self.process = await self.place.start()
        self.starts += 1
        assert self.process.stdout is not None
        self._lines = BufferedByteReceiveStream(self.process.stdout)

    async def end(self) -> int | None:
        """Close the input of the server, and return its exit code."""
        self.ending = True
        if self.process is None or self.process.stdin is None:
            return None
        await self.process.stdin.aclose()
        return await self.process.wait()
