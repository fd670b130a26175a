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

    Every call raises the errors of its tool, and ServerUnreachable.
    """

    def __init__(self, connection: HttpConnection, settings: Settings) -> None:
        self._connection = connection
        self._settings = settings

    async def call(self, name: str, arguments: Mapping[str, Any], program: Program) -> Answer:
        """Return the answer of the server. Raises ReadOnly, ArgumentInvalid."""
        if name not in _FORWARDED:
            raise ArgumentInvalid(f"Use one of: {', '.join(_FORWARDED)}", title="Unknown tool")
        reads = name != "remember_fact"
        if not reads:
            require_writable(self._settings.read_only, program.read_only)
        call = build_call(name, arguments, program.space or self._settings.space, reads=reads)
        return await self._connection.send(call._replace(wishes=program.write_meta()[PROGRAM]))

    async def operate(self, name: str, given: Mapping[str, Any], program: Program) -> Answer:
        """Raise ArgumentInvalid, because programs ask the server of the settings themselves."""
        raise ArgumentInvalid(f"Ask the server for {name}", title="Unknown method")


@asynccontextmanager
async def open_remote_spaces(url: str, settings: Settings) -> AsyncGenerator[RemoteSpaces]:
    """Yield the tools of the server at `url`. The first request connects to it."""
    known = settings.access_token
    token = known.get_secret_value() if known else None
    connection = HttpConnection(url, token, "textrawl-python", timeout=_TIMEOUT, blocking=False)
    try:
        yield RemoteSpaces(connection, settings)
    finally:
        await connection.close()
