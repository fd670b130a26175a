"""The tools of a server over HTTP, which TEXTRAWL_SERVER_URL names, for requests of the socket.

A process that listens keeps its connections to the server, so a question takes one request.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from textrawl.errors import ArgumentInvalid, require_writable
from textrawl.settings import Settings
from textrawl.wire.program import Program
from textrawl_client.connections import HttpConnection
from textrawl_client.wire import PROGRAM, Answer, build_call

_TIMEOUT = 12.0  # seconds for a request to the server, whose calls of Postgres may take 10
_FORWARDED = ("query_memory", "digest", "remember_fact")


class RemoteSpaces:
    """The tools of a server, in each space that requests name, because its address names it.

    Every call raises the errors of its tool, and ServerUnreachable. Each token has a connection.
    """

    def __init__(self, url: str, settings: Settings) -> None:
        self._url = url
        self._settings = settings
        self._connections: dict[str | None, HttpConnection] = {}

    def _connect(self, token: str | None) -> HttpConnection:
        if token not in self._connections:
            self._connections[token] = HttpConnection(
                self._url, token, "textrawl-python", timeout=_TIMEOUT, blocking=False
            )
        return self._connections[token]

    async def close(self) -> None:
        """Close the connections to the server."""
        for connection in self._connections.values():
            await connection.close()

    def adapt(self, _: Program, /) -> "RemoteSpaces":
        """Return these tools: the server has its own settings."""
        return self

    async def call(self, name: str, arguments: Mapping[str, Any], program: Program) -> Answer:
        """Return the answer of the server. Raises ReadOnly, ArgumentInvalid."""
        if name not in _FORWARDED:
            raise ArgumentInvalid(f"Use one of: {', '.join(_FORWARDED)}", title="Unknown tool")
        reads = name != "remember_fact"
        if not reads:
            require_writable(self._settings.read_only, program.read_only)
        call = build_call(
            name, arguments, program.space or (program.settings or {}).get("space"), reads=reads
        )
        wishes = program.write_meta()[PROGRAM]
        return await self._connect(program.token).send(call._replace(wishes=wishes))

    async def operate(self, name: str, given: Mapping[str, Any], program: Program) -> Answer:
        """Raise ArgumentInvalid, because programs ask the server of the settings themselves."""
        raise ArgumentInvalid(f"Ask the server for {name}", title="Unknown method")


@asynccontextmanager
async def open_remote_spaces(url: str, settings: Settings) -> AsyncGenerator[RemoteSpaces]:
    """Yield the tools of the server at `url`. The first request connects to it."""
    spaces = RemoteSpaces(url, settings)
    try:
        yield spaces
    finally:
        await spaces.close()
