"""The start of a host, and what the start of a server over HTTP needs too."""

import ctypes
import logging
import sys
from collections.abc import Generator
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from pydantic import BaseModel

from textrawl.cli.foreground import Interrupted, run_foreground, silence_libraries
from textrawl.cli.process_start import pause_collection
from textrawl.doctor.setting_mistakes import find_mistakes
from textrawl.environment import names_collector
from textrawl.installation import write_install_command
from textrawl.server.logs import configure_logs
from textrawl.settings import Settings, read_settings
from textrawl.tools.catalogue import choose_names
from textrawl.wire.token_counter import load_ahead

if TYPE_CHECKING:
    from textrawl.server.server import MemoryServer
    from textrawl.server.sessions import Sessions

logger = logging.getLogger("textrawl")

_M_MMAP_THRESHOLD = -3  # malloc.h of glibc
_LARGE = 1 << 20  # bytes


def host_memory(*, walled: bool) -> None:
    """Serve the clients of a memory until nobody has used it for some minutes, or a signal comes.

    With `walled`, refuse a login of the database that row-level security does not restrict. Raises
    StartRefused.
    """
    settings = read_settings()
    prepare_server(settings)
    with export_traces(), suppress(Interrupted):
        run_foreground(partial(_host, settings, walled=walled), use_uvloop=True)


def host_remote() -> None:
    """Answer the requests of hooks and commands with the server of SERVER_URL.

    Raises StartRefused.
    """
    from textrawl.host.listener import run_remote  # noqa: PLC0415 - as in `_host`

    settings = read_settings()
    prepare_server(settings)
    with suppress(Interrupted):
        run_foreground(partial(run_remote, settings))


async def _host(settings: Settings, *, walled: bool) -> None:
    from textrawl.host.listener import wait_until_idle  # noqa: PLC0415 - after the claim

    async with AsyncExitStack() as stack:
        server, sessions = await _open(settings, stack, walled=walled)
        first, *others = sessions.listen(server.app)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first.serve)
            for listener in others:
                tasks.start_soon(listener.run)
            await wait_until_idle([first, *others], 60 * settings.host_idle, sessions.ended)
            tasks.cancel_scope.cancel()


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


def _build_lightly(settings: Settings, walled: bool) -> "tuple[MemoryServer, Sessions]":
    with import_lightly(), pause_collection():
        from textrawl.server.server import create_server  # noqa: PLC0415 - it takes half a second
        from textrawl.server.sessions import Sessions  # noqa: PLC0415 - the same

        return create_server(settings), Sessions(settings, walled=walled)


async def _open(
    settings: Settings, stack: AsyncExitStack, *, walled: bool
) -> "tuple[MemoryServer, Sessions]":
    """Create the server and open its memory at the same time.

    A thread loads the MCP SDK, which keeps one core busy for most of a start. Opening the memory
    mostly waits for Postgres.
    """
    built: list[tuple[MemoryServer, Sessions]] = []
    loaded = anyio.Event()

    async def load() -> None:
        built.append(await anyio.to_thread.run_sync(_build_lightly, settings, walled))
        loaded.set()

    tasks = await stack.enter_async_context(anyio.create_task_group())
    tasks.start_soon(load)
    memory = None
    if settings.enable_memory:
        # This import ends before the thread starts, because a thread could see modules that
        # another thread has only half loaded.
        with pause_collection():
            from textrawl.memory.opening import open_memory  # noqa: PLC0415 - see above

        memory = await stack.enter_async_context(open_memory(settings, serving=True, walled=walled))
    await loaded.wait()
    [(server, sessions)] = built
    await stack.enter_async_context(server.open(memory))
    return server, sessions
