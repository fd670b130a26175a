"""`textrawl serve`: the MCP server, over stdio or Streamable HTTP."""

import logging
import sys
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated

import anyio
import anyio.to_thread
import typer

from textrawl.commands.foreground import Interrupted, run_foreground
from textrawl.garbage import give_back_memory, pause_collection
from textrawl.offering import choose_names
from textrawl.settings import Settings, find_near_names, read_settings
from textrawl.tokens import load_ahead

if TYPE_CHECKING:
    from textrawl.server import MemoryServer

logger = logging.getLogger("textrawl")


_Http = Annotated[
    bool, typer.Option("--http", help="Serve Streamable HTTP instead of stdin and stdout.")
]
_Host = Annotated[
    str | None,
    typer.Option(help="Address to listen on; any but this machine's needs PUBLIC_URL. [HTTP_HOST]"),
]
_Port = Annotated[
    int | None, typer.Option(min=0, max=65_535, help="Port to listen on. [HTTP_PORT]")
]
_Insecure = Annotated[
    bool,
    typer.Option("--insecure", help="Ask for no token; works only on this machine's own address."),
]


def serve(
    http: _Http = False,
    host: _Host = None,
    port: _Port = None,
    insecure: _Insecure = False,
) -> None:
    """Serve the memory to an MCP client. This is what `textrawl` alone does.

    The client starts it and speaks through stdin and stdout. With --http any number of clients
    connect to http://127.0.0.1:8000/mcp, each with a token.
    """
    if not http and (host is not None or port is not None or insecure):
        raise typer.BadParameter("--host, --port and --insecure need --http")
    given = {"http_host": host, "http_port": port}
    settings = read_settings(**{key: value for key, value in given.items() if value is not None})
    _prepare(settings)
    try:
        if http:
            run_foreground(partial(_serve_http, settings, insecure=insecure), use_uvloop=True)
        else:
            run_foreground(partial(_serve_stdio, settings), use_uvloop=True)
    except Interrupted:
        return  # the regular way to end a server


def _prepare(settings: Settings) -> None:
    """What comes before anything is opened. Raises StartRefused."""
    choose_names(settings.toolsets)
    give_back_memory()
    if settings.enable_memory:
        load_ahead(settings.tokenizer)
    with pause_collection():
        from textrawl.logs import configure_logs  # noqa: PLC0415 - no other command needs it
    configure_logs(settings)
    for line in find_near_names():
        logger.warning("%s", line)


def _create_server(settings: Settings, *, tokens_needed: bool = False) -> "MemoryServer":
    with pause_collection():
        from textrawl.server import create_server  # noqa: PLC0415 - it takes half a second

        return create_server(settings, tokens_needed=tokens_needed)


async def _serve_http(settings: Settings, *, insecure: bool) -> None:
    server = _create_server(settings, tokens_needed=not insecure)
    from textrawl.toolsets import find_toolsets  # noqa: PLC0415
    from textrawl.transports.http import serve_http  # noqa: PLC0415 - stdio does without
    from textrawl.transports.metrics import Metrics  # noqa: PLC0415

    metrics = Metrics(name for toolset in find_toolsets().values() for name in toolset.tools)
    metrics.watch(server.read_gauges)
    server.observe_call = metrics.observe_call
    lookup = None if insecure else server.find_principal
    await serve_http(server, settings, lookup=lookup, metrics=metrics)


async def _serve_stdio(settings: Settings) -> None:
    async with AsyncExitStack() as stack:
        if sys.stderr.isatty():
            server = await _open_visibly(settings, stack)
        else:
            server = await _open(settings, stack)
        from textrawl.transports.stdio import serve_stdio  # noqa: PLC0415 - HTTP does without

        await serve_stdio(server)


async def _open(settings: Settings, stack: AsyncExitStack) -> "MemoryServer":
    """The server with its memory open.

    A thread loads what speaks MCP, which keeps one core busy for most of a start; opening is
    mostly waiting for Postgres.
    """
    servers: list[MemoryServer] = []
    loaded = anyio.Event()

    async def load() -> None:
        servers.append(await anyio.to_thread.run_sync(_create_server, settings))
        loaded.set()

    beside = await stack.enter_async_context(anyio.create_task_group())
    beside.start_soon(load)
    memory = None
    if settings.enable_memory:
        # What two threads load at once can be seen half made: this is here before the other begins.
        with pause_collection():
            from textrawl.opening import open_memory  # noqa: PLC0415

        memory = await stack.enter_async_context(open_memory(settings, serving=True))
    await loaded.wait()
    [server] = servers
    await stack.enter_async_context(server.open(memory))
    return server


async def _open_visibly(settings: Settings, stack: AsyncExitStack) -> "MemoryServer":
    """Opens the memory for somebody who started this by hand, and says what it does."""
    from textrawl.commands.console import open_progress, show_wait  # noqa: PLC0415 - rarely by hand

    with show_wait("Opening the memory"):
        server = await _open(settings, stack)
    if sys.stdin.isatty():
        open_progress().print("Waiting for an MCP client on stdin. Ctrl-C ends this.")
    return server
