"""The command `serve`."""

import sys
from functools import partial
from typing import Annotated

import anyio
import typer

from textrawl.cli.console import show_left
from textrawl.cli.foreground import Interrupted, run_foreground
from textrawl.cli.hosting import export_traces, prepare_server
from textrawl.cli.inputs import option
from textrawl.errors import StartRefused
from textrawl.memory.commands import OPERATIONS
from textrawl.server.http.application import serve_http
from textrawl.server.http.metrics import Metrics
from textrawl.server.sessions import build_server
from textrawl.settings import Settings, read_settings
from textrawl.tools.catalogue import find_toolsets

_Http = Annotated[bool, option("--http", "Serve Streamable HTTP instead of stdin and stdout.")]
_Host = Annotated[
    str | None,
    option(
        "",
        "Address to listen on; if other machines can reach it, TEXTRAWL_PUBLIC_URL is needed. "
        "[TEXTRAWL_HTTP_HOST]",
    ),
]
_Port = Annotated[
    int | None, option("", "Port to listen on. [TEXTRAWL_HTTP_PORT]", min=0, max=65_535)
]
_Insecure = Annotated[
    bool, option("--insecure", "Accept calls without a token; only on a loopback address.")
]


def serve(
    http: _Http = False,
    host: _Host = None,
    port: _Port = None,
    insecure: _Insecure = False,
) -> None:
    """Serve the memory to an MCP client. `textrawl` without a command does the same.

    The client starts this command and uses its stdin and stdout. With --http any number of clients
    can connect to http://127.0.0.1:8000/mcp, each with a token.
    """
    if not http:  # there is an option, because `textrawl.cli.start` runs `serve` without options
        raise typer.BadParameter("--host, --port and --insecure need --http")
    options = {"http_host": host, "http_port": port}
    settings = read_settings(**{key: value for key, value in options.items() if value is not None})
    if insecure and settings.explorer:
        raise StartRefused(
            "--insecure: pages of the explorer need a sign-in: leave out --insecure, or use "
            "`textrawl explore`, or unset TEXTRAWL_EXPLORER"
        )
    prepare_server(settings)
    try:
        with export_traces():
            run_foreground(partial(_serve_http, settings, insecure=insecure), use_uvloop=True)
    except Interrupted:
        return  # the regular way to end a server


async def _serve_http(settings: Settings, *, insecure: bool) -> None:
    server = build_server(settings, tokens_needed=not insecure)
    tools = [name for toolset in find_toolsets().values() for name in toolset.every_tool]
    metrics = Metrics([*tools, *(f"command_{name}" for name in OPERATIONS)])
    metrics.watch(server.read_gauges)
    server.observe_call = metrics.observe_call
    lookup = None if insecure else server.find_principal
    pages = None
    if settings.explorer:
        from textrawl.explorer.application import build_pages  # noqa: PLC0415 - few servers have it

        pages = partial(build_pages, server, settings)
    async with anyio.create_task_group() as beside:
        if sys.stderr.isatty():
            beside.start_soon(show_left, "Vectors", server.count_pending)
        await serve_http(server, settings, lookup=lookup, metrics=metrics, build_pages=pages)
        beside.cancel_scope.cancel()
