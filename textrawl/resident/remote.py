"""The tools of a server over HTTP, which TEXTRAWL_SERVER_URL names, for requests of the socket.

A process that listens keeps its connections to the server, so a question takes one request.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from textrawl.client.answers import ToolAnswer, Tools
from textrawl.client.remote import open_remote
from textrawl.errors import ArgumentInvalid, ReadOnly
from textrawl.settings import Settings
from textrawl.values.names import read_server_address, write_commands_address
from textrawl.wire.program import Program

_TIMEOUT = 12.0  # seconds for a request to the server, whose calls of Postgres may take 10
_FORWARDED = ("query_memory", "digest", "remember_fact")


class RemoteSpaces:
    """The tools of a server, in each space that requests name, because its address names it.

    Every call raises the errors of its tool, and ServerUnreachable.
    """

    def __init__(self, url: str, settings: Settings, stack: AsyncExitStack) -> None:
        self._url = url
        self._settings = settings
        self._stack = stack
        self._tools: dict[str | None, Tools] = {}

    async def call(self, name: str, arguments: Mapping[str, Any], program: Program) -> ToolAnswer:
        """Return the answer of the server. Raises ReadOnly, ArgumentInvalid."""
        if name not in _FORWARDED:
            raise ArgumentInvalid(f"Use one of: {', '.join(_FORWARDED)}", title="Unknown tool")
        if name == "remember_fact" and (self._settings.read_only or program.read_only):
            raise ReadOnly("TEXTRAWL_READ_ONLY is on: unset it to change the memory")
        space = program.space or self._settings.space
        if space not in self._tools:
            token = self._settings.access_token
            opening = open_remote(
                _name_space(self._url, space), token.get_secret_value() if token else None, _TIMEOUT
            )
            self._tools[space] = await self._stack.enter_async_context(opening)
        return await self._tools[space].call(name, arguments, program)


@asynccontextmanager
async def open_remote_spaces(url: str, settings: Settings) -> AsyncGenerator[RemoteSpaces]:
    """Yield the tools of the server at `url`. The first request connects to it."""
    async with AsyncExitStack() as stack:
        yield RemoteSpaces(read_server_address(url).geturl(), settings, stack)


def _name_space(url: str, space: str | None) -> str:
    """Return the address of a space. Raises ArgumentInvalid if the address names another space."""
    try:
        return write_commands_address(url, space)
    except ValueError as error:
        raise ArgumentInvalid(f"TEXTRAWL_SERVER_URL: {error}") from None
