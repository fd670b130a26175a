"""`textrawl serve`: the MCP server, over stdio or Streamable HTTP."""

import logging
import sys
from contextlib import AsyncExitStack
from typing import Annotated

import typer

from textrawl.commands.console import open_progress, show_wait
from textrawl.commands.foreground import Interrupted, run_foreground
from textrawl.server import create_server
from textrawl.settings import Settings, read_settings
from textrawl.transports import serve_http, serve_stdio


def serve(
    http: Annotated[
        bool, typer.Option("--http", help="Serve Streamable HTTP instead of stdin and stdout.")
    ] = False,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on, this machine's. [HTTP_HOST]")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65_535, help="Port to listen on. [HTTP_PORT]")
    ] = None,
) -> None:
    """Serve the memory to an MCP client. This is what `textrawl` alone does.

    The client starts it and speaks through stdin and stdout. With --http any number of clients
    connect to http://127.0.0.1:8000/mcp.
    """
    if not http and (host is not None or port is not None):
        raise typer.BadParameter("--host and --port need --http")
    given = {"http_host": host, "http_port": port}
    settings = read_settings(**{key: value for key, value in given.items() if value is not None})
    _log_to_stderr(settings.log_level)
    try:
        run_foreground(lambda: _serve(settings, http=http))
    except Interrupted:
        return  # the regular way to end a server


async def _serve(settings: Settings, *, http: bool) -> None:
    server = create_server(settings)
    if http:
        await serve_http(server, settings.http_host, settings.http_port)
        return
    async with AsyncExitStack() as stack:
        with show_wait("Opening the memory"):
            await stack.enter_async_context(server.open())
        if sys.stdin.isatty():
            open_progress().print("Waiting for an MCP client on stdin. Ctrl-C ends this.")
        await serve_stdio(server)


def _log_to_stderr(level: str) -> None:
    logging.basicConfig(level=level, stream=sys.stderr, format="textrawl %(levelname)s %(message)s")
    if level != "DEBUG":
        # It warns of every connection that is closed on purpose; what matters we say ourselves.
        logging.getLogger("psycopg").setLevel(logging.ERROR)
