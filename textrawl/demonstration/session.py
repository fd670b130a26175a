"""A real client of a real `textrawl serve`, on a folder of its own."""

import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import Implementation, TextContent

from textrawl.embedded.cluster import run_embedded
from textrawl.errors import InternalError, StartRefused
from textrawl.settings import read_foreign_environment, write_name

_LONGEST_CALL = 60.0  # seconds


@dataclass(frozen=True)
class Answer:
    """Both channels of a tool's result."""

    text: str
    structured: dict[str, Any]


class Session:
    """Tools of the demonstration's server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> Answer:
        """What `tool` answers. Raises InternalError when that is an error."""
        result = await self._client.call_tool(tool, arguments)
        text = "".join(block.text for block in result.content if isinstance(block, TextContent))
        if result.is_error:
            raise InternalError(f"{tool} of the demonstration's server answered {text}")
        return Answer(text, cast("dict[str, Any]", result.structured_content))


@asynccontextmanager
async def open_session(data_dir: Path) -> AsyncGenerator[Session]:
    """A client and its server, which keeps its memory in `data_dir` and has no other settings.

    Raises StartRefused when the folder cannot be used or the server fails.
    """
    # Held here too, so that the server has only itself to end: a client does not wait for long.
    async with run_embedded(data_dir):
        with tempfile.TemporaryDirectory(prefix="textrawl-demo-") as empty:
            log = Path(empty) / "stderr"
            try:
                with log.open("w", encoding="utf-8") as errors:
                    transport = stdio_client(_describe_server(data_dir, empty), errlog=errors)
                    async with Client(
                        transport,
                        read_timeout_seconds=_LONGEST_CALL,
                        client_info=Implementation(
                            name="textrawl demo", version=version("textrawl")
                        ),
                    ) as client:
                        yield Session(client)
            except* MCPError as group:
                said = log.read_text(encoding="utf-8", errors="replace").splitlines()
                reason = said[-1] if said else "it ended without a word"
                raise StartRefused(f"The demonstration's server failed: {reason}") from group


def _describe_server(data_dir: Path, empty: str) -> StdioServerParameters:
    """Return how to start the server: `empty` is a folder without a .env of any kind."""
    own = {
        write_name("data_dir"): str(data_dir.absolute()),
        write_name("embedding_provider"): "local",
        "XDG_CONFIG_HOME": empty,
    }
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "textrawl", "serve"],
        env=read_foreign_environment() | own,
        cwd=empty,
    )
