"""The start of a server over stdio or HTTP, and the session of a client over stdio."""

import ctypes
import logging
import os
import sys
from collections.abc import Generator
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from pydantic import BaseModel

from textrawl import __version__
from textrawl.cli.foreground import Interrupted, run_foreground, silence_libraries
from textrawl.cli.process_start import pause_collection
from textrawl.doctor.setting_mistakes import find_mistakes
from textrawl.environment import names_collector
from textrawl.installation import write_install_command
from textrawl.server.description import describe_server
from textrawl.server.early_lists import EarlyLists
from textrawl.server.early_reader import EarlyReader, Greeter
from textrawl.server.logs import configure_logs
from textrawl.settings import Settings, read_settings
from textrawl.tools.catalogue import choose_names
from textrawl.wire.token_counter import load_ahead

if TYPE_CHECKING:
    from textrawl.server.server import MemoryServer

logger = logging.getLogger("textrawl")

_M_MMAP_THRESHOLD = -3  # malloc.h of glibc
_LARGE = 1 << 20  # bytes


def serve_client(early_reader: EarlyReader, lists: EarlyLists | None) -> None:
    """Serve the client of `early_reader` until it disconnects or a signal comes.

    `lists` are written for the next start. Raises StartRefused.
    """
    settings = read_settings()
    if early_reader.greeter is None:
        offered = choose_names(settings.toolsets)
        description = describe_server(
            offered, enabled=settings.enable_memory, resources=settings.resources
        )
        early_reader.begin_greeting(Greeter(__version__, description))
    prepare_server(settings)
    try:
        with export_traces():
            run_foreground(partial(_serve, settings, early_reader, lists), use_uvloop=True)
    except Interrupted:
        return  # the regular way to end a server


def prepare_server(settings: Settings) -> None:
    """Configure logs and the process before a memory is opened. Raises StartRefused."""
    silence_libraries()
    choose_names(settings.toolsets)
    return_freed_memory()
    if settings.enable_memory:
        load_ahead()
    configure_logs(settings)
    for line in find_mistakes():
        logger.warning("%s", line)


def return_freed_memory() -> None:
    """Make glibc return freed memory to the system now. With other C libraries, do nothing.

    By default glibc keeps free memory up to the size of the first large block that was freed. In
    this process that block belonged to a vocabulary, and glibc would keep 8 MB until the end.
    """
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE)
        library.malloc_trim(0)


def export_traces() -> AbstractContextManager[None]:
    """Export the spans of the block to the collector of OTEL_EXPORTER_OTLP_ENDPOINT, if it is set.

    Without the extra a warning says so, because the variable may be meant for other programs.
    """
    if not names_collector():
        return nullcontext()
    try:
        from textrawl.server.span_export import export_spans  # noqa: PLC0415 - few export spans
    except ImportError:
        logger.warning(
            "No traces are exported: OTEL_EXPORTER_OTLP_ENDPOINT is set, but the extra otel is not "
            "installed: run `%s`, or set OTEL_TRACES_EXPORTER=none",
            write_install_command("otel"),
        )
        return nullcontext()
    return export_spans()


@contextmanager
def import_lightly() -> Generator[None]:
    """Load the MCP SDK as a server over stdio needs it, in two thirds of the time.

    The SDK and sse_starlette do without rich and uvicorn where these are not installed. pydantic
    makes the validator of a model at its first use: a session uses few of the 550 models.
    """
    absent = [name for name in ("rich", "uvicorn") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # pyright: ignore[reportCallIssue, reportArgumentType]
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
        for name in absent:
            del sys.modules[name]


def _build_lightly(settings: Settings) -> "MemoryServer":
    with import_lightly(), pause_collection():
        from textrawl.server.stdio_session import build_server  # noqa: PLC0415 - it takes half a second

        return build_server(settings)


async def _serve(settings: Settings, early_reader: EarlyReader, lists: EarlyLists | None) -> None:
    async with AsyncExitStack() as stack:
        if sys.stderr.isatty():
            server = await _open_visibly(settings, early_reader, stack)
        else:
            server = await _open(settings, stack)
        from textrawl.server.stdio_session import serve_stdio  # noqa: PLC0415 - it loads the MCP SDK

        await serve_stdio(server, early_reader, lists if settings.enable_memory else None)


async def _open(settings: Settings, stack: AsyncExitStack) -> "MemoryServer":
    """Create the server and open its memory at the same time.

    A thread loads the MCP SDK, which keeps one core busy for most of a start. Opening the memory
    mostly waits for Postgres.
    """
    servers: list[MemoryServer] = []
    loaded = anyio.Event()

    async def load() -> None:
        servers.append(await anyio.to_thread.run_sync(_build_lightly, settings))
        loaded.set()

    tasks = await stack.enter_async_context(anyio.create_task_group())
    tasks.start_soon(load)
    memory = None
    if settings.enable_memory:
        # This import ends before the thread starts, because a thread could see modules that
        # another thread has only half loaded.
        with pause_collection():
            from textrawl.memory.opening import open_memory  # noqa: PLC0415 - see above

        memory = await stack.enter_async_context(open_memory(settings, serving=True))
    await loaded.wait()
    [server] = servers
    await stack.enter_async_context(server.open(memory))
    return server


async def _open_visibly(
    settings: Settings, early_reader: EarlyReader, stack: AsyncExitStack
) -> "MemoryServer":
    """Open the memory and show the progress to a user who started the server in a terminal."""
    from textrawl.cli.console import open_progress, show_left, show_wait  # noqa: PLC0415 - rarely needed

    with show_wait("Opening the memory"):
        server = await _open(settings, stack)
    if os.isatty(early_reader.input):
        open_progress().print("Waiting for an MCP client on stdin. Ctrl-C ends this.")
    beside = await stack.enter_async_context(anyio.create_task_group())
    stack.callback(beside.cancel_scope.cancel)
    beside.start_soon(show_left, "Vectors", server.count_pending)
    return server
