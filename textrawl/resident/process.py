"""The process of `textrawl resident`: it keeps a memory open, and answers through the socket only.

It has no upkeep and no tools, so it starts faster than a server and needs less memory.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio

from textrawl.access.directory import Directory
from textrawl.errors import MemoryNotEnabled
from textrawl.resident.answers import Desk, answer, dispatch
from textrawl.resident.listener import AnswerLine, Listener, open_lock
from textrawl.resident.service import locate
from textrawl.settings import Settings
from textrawl.store.opening import open_memory
from textrawl.wire.rendering import build_recall_log, build_renderer

_FLUSHING = 5.0  # seconds between writes of the recall log
_LAST_FLUSH = 1.0  # time limit in seconds for recording the last recalls
_CHECKING = 0.5  # seconds between checks whether the process is still needed
_OWN_LIFETIME = 60.0  # seconds for which the process caches its own principal


async def run_resident(settings: Settings, *, idle: float) -> bool:
    """Answer requests until there was none for `idle` seconds.

    Return False at once if another process listens. The process also ends if another version of
    textrawl asks, so that a process of that version can take its place.

    Raises StartRefused, MemoryNotEnabled, DatabaseUnavailable.
    """
    if not settings.enable_memory:
        raise MemoryNotEnabled
    address = locate(settings)
    with open_lock(address) as lock:
        if not lock.take_exclusive() or not lock.is_in_place():
            return False
        try:
            opening = open_answering(settings, serving=True)
            async with opening as find_answer, anyio.create_task_group() as tasks:
                foreign = anyio.Event()

                async def answer_line(line: bytes) -> dict[str, Any]:
                    answered = await find_answer(line)
                    if "version" in answered:
                        foreign.set()
                    return answered

                listener = Listener(address, answer_line)
                tasks.start_soon(listener.serve)
                while listener.idle < idle and not foreign.is_set():
                    with anyio.move_on_after(_CHECKING):
                        await foreign.wait()
                await listener.finish()
                tasks.cancel_scope.cancel()
        finally:
            address.lock.unlink(missing_ok=True)
    return True


@asynccontextmanager
async def open_answering(settings: Settings, *, serving: bool) -> AsyncGenerator[AnswerLine]:
    """Open the memory of `settings`, and yield the function that answers requests.

    The memory is that of the server in SERVER_URL, if this setting has a value. `serving` has the
    same meaning as for `open_memory`. Raises StartRefused, DatabaseUnavailable.
    """
    if settings.server_url is not None:
        from textrawl.resident.remote import (  # noqa: PLC0415 - it loads the MCP SDK
            open_remote_operations,
        )

        async with open_remote_operations(settings.server_url, settings) as operations:
            yield partial(dispatch, operations)
        return
    async with _open_desk(settings, serving=serving) as desk:
        yield partial(answer, desk)


@asynccontextmanager
async def _open_desk(settings: Settings, *, serving: bool) -> AsyncGenerator[Desk]:
    async with open_memory(settings, serving=serving) as memory:
        recalls = build_recall_log(settings)
        desk = Desk(
            memory,
            Directory(memory.database, lifetime=_OWN_LIFETIME),
            build_renderer(settings),
            recalls,
            settings.space,
            read_only=settings.read_only,
        )
        try:
            async with anyio.create_task_group() as beside:
                beside.start_soon(_record_recalls, desk)
                yield desk
                beside.cancel_scope.cancel()
        finally:
            if recalls is not None:
                with anyio.move_on_after(_LAST_FLUSH, shield=True):
                    await recalls.flush(memory.database)


async def _record_recalls(desk: Desk) -> None:
    while desk.recalls is not None:
        await anyio.sleep(_FLUSHING)
        await desk.recalls.flush(desk.store.database)
