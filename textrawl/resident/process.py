"""The process of `textrawl resident`: it keeps a memory open, and answers through the socket only.

It has no upkeep and no tools, so it starts faster than a server and needs less memory.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import anyio
from pydantic import SecretStr

from textrawl.access.principal import Directory
from textrawl.errors import MemoryNotEnabled
from textrawl.memory.opening import open_memory
from textrawl.resident.answers import OpenMemory, Operations, answer, dispatch, list_operations
from textrawl.resident.client import Address, MemoryKey, build_address
from textrawl.resident.listener import Listener, open_lock
from textrawl.resident.requests import Answer, Request, build_empty
from textrawl.settings import Settings
from textrawl.wire.replies import build_recall_log, build_renderer

if TYPE_CHECKING:
    from textrawl.tools.call import App


def locate(settings: Settings) -> Address:
    """Return the address of the memory of `settings`."""
    memory = MemoryKey(
        database_url=_reveal(settings.database_url),
        access_token=_reveal(settings.access_token),
        space=settings.space,
        server_url=settings.server_url,
    )
    return build_address(settings.data_dir, memory)


def build_listener(settings: Settings, memory: OpenMemory) -> Listener:
    """Return the listener for the memory of `settings`."""
    return Listener(locate(settings), partial(answer, memory))


async def listen(settings: Settings, app: "App") -> None:
    """Answer requests through the socket with the memory of a server, until cancelled."""
    memory = OpenMemory(
        app.store,
        app.identity.directory,
        app.renderer,
        app.recalls,
        app.identity.space,
        read_only=settings.read_only,
        digest_tokens=settings.digest_tokens,
        digest_authors=settings.digest_authors,
    )
    await build_listener(settings, memory).run()


def _reveal(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None


_FLUSHING = 5.0  # seconds between writes of the recall log
_LAST_FLUSH = 1.0  # time limit in seconds for recording the last recalls
_CHECKING = 0.5  # seconds between checks whether the process is still needed
_OWN_LIFETIME = 60.0  # seconds for which the process caches its own principal


async def run_resident(settings: Settings, *, idle: float) -> bool:
    """Answer requests until there was none for `idle` seconds.

    Return False at once if another process listens. The process also ends if a request asks
    for its end, and if another version of textrawl asks, because that version can take its place.

    Raises StartRefused, MemoryNotEnabled, DatabaseUnavailable.
    """
    if not settings.enable_memory:
        raise MemoryNotEnabled
    address = locate(settings)
    with open_lock(address) as lock:
        if not lock.take_exclusive() or not lock.is_in_place():
            return False
        try:
            async with open_operations(settings, serving=True) as operations:
                await _serve(address, operations, idle)
        finally:
            address.lock.unlink(missing_ok=True)
    return True


async def _serve(address: Address, operations: Operations, idle: float) -> None:
    ended = anyio.Event()

    async def end(request: Request) -> Answer:
        del request
        ended.set()
        return build_empty()

    async def answer_line(line: bytes) -> Answer:
        answered = await dispatch({**operations, "end": (Request, end)}, line)
        if "version" in answered:
            ended.set()
        return answered

    listener = Listener(address, answer_line)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve)
        while listener.idle < idle and not ended.is_set():
            with anyio.move_on_after(_CHECKING):
                await ended.wait()
        await listener.finish()
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def open_operations(settings: Settings, *, serving: bool) -> AsyncGenerator[Operations]:
    """Open the memory of `settings`, and yield the operations that requests name.

    The memory is that of the server in SERVER_URL, if this setting has a value. `serving` has the
    same meaning as for `open_memory`. Raises StartRefused, DatabaseUnavailable.
    """
    if settings.server_url is not None:
        from textrawl.resident.remote import (  # noqa: PLC0415 - it loads the MCP SDK
            open_remote_operations,
        )

        async with open_remote_operations(settings.server_url, settings) as operations:
            yield operations
        return
    async with _open_memory(settings, serving=serving) as memory:
        yield list_operations(memory)


@asynccontextmanager
async def _open_memory(settings: Settings, *, serving: bool) -> AsyncGenerator[OpenMemory]:
    async with open_memory(settings, serving=serving) as store:
        recalls = build_recall_log(settings)
        memory = OpenMemory(
            store,
            Directory(store.database, lifetime=_OWN_LIFETIME),
            build_renderer(settings),
            recalls,
            settings.space,
            read_only=settings.read_only,
            digest_tokens=settings.digest_tokens,
            digest_authors=settings.digest_authors,
        )
        try:
            async with anyio.create_task_group() as beside:
                beside.start_soon(_record_recalls, memory)
                yield memory
                beside.cancel_scope.cancel()
        finally:
            if recalls is not None:
                with anyio.move_on_after(_LAST_FLUSH, shield=True):
                    await recalls.flush(store.database)


async def _record_recalls(memory: OpenMemory) -> None:
    while memory.recalls is not None:
        await anyio.sleep(_FLUSHING)
        await memory.recalls.flush(memory.store.database)
