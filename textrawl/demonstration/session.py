"""A real client of a real `textrawl serve`, with a separate data folder."""

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
    """The text and the structured content of a tool's result."""

    text: str
    structured: dict[str, Any]


class Session:
    """An open connection to the demonstration's server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, **arguments: Any) -> Answer:
        """Call `tool` and return its answer. Raises InternalError if the tool fails."""
        result = await self._client.call_tool(tool, arguments)
        text = "".join(block.text for block in result.content if isinstance(block, TextContent))
        if result.is_error:
            raise InternalError(f"{tool} of the demonstration's server answered {text}")
        return Answer(text, cast("dict[str, Any]", result.structured_content))


@asynccontextmanager
async def open_session(data_dir: Path) -> AsyncGenerator[Session]:
    """Start a server with its memory in `data_dir` and no other settings, and connect to it.

    Raises StartRefused when the folder cannot be used or the server fails.
    """
    # This process also uses Postgres, so the server does not stop Postgres when the server ends.
    # The client would not wait until Postgres has stopped.
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
                lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
                reason = lines[-1] if lines else "it ended without an error message"
                raise StartRefused(f"The demonstration's server failed: {reason}") from group


def _describe_server(data_dir: Path, empty: str) -> StdioServerParameters:
    """Return the command and environment of the server. The folder `empty` has no .env file."""
    environment = {
        write_name("data_dir"): str(data_dir.absolute()),
        write_name("embedding_provider"): "local",
        "XDG_CONFIG_HOME": empty,
    }
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "textrawl", "serve"],
        env=read_foreign_environment() | environment,
        cwd=empty,
    )
