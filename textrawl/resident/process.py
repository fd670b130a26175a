"""The process of `textrawl resident`: it keeps a memory open, and answers through the socket only.

It has no upkeep and no tools, so it starts faster than a server and needs less memory.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from pydantic import SecretStr

from textrawl.client.local import LocalTools, Tools
from textrawl.errors import MemoryNotEnabled
from textrawl.memory.opening import open_memory
from textrawl.memory.store import Store
from textrawl.resident.answers import answer, is_of_another_version
from textrawl.resident.client import Address, MemoryKey, build_address
from textrawl.resident.listener import Listener, open_lock
from textrawl.settings import Settings
from textrawl.wire.replies import RecallLog, build_recall_log

TRAIL_NAMES = {
    "query_memory": "textrawl recall",
    "digest": "textrawl digest",
    "remember_fact": "textrawl remember",
    "memory_create": "textrawl capture",
}
"""The names that calls of tools through the socket have in the trail."""


def locate(settings: Settings) -> Address:
    """Return the address of the memory of `settings`."""
    memory = MemoryKey(
        database_url=_reveal(settings.database_url),
        access_token=_reveal(settings.access_token),
        space=settings.space,
        server_url=settings.server_url,
    )
    return build_address(settings.data_dir, memory)


def _reveal(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None


_FLUSHING = 5.0  # seconds between writes of the recall log
_LAST_FLUSH = 1.0  # time limit in seconds for recording the last recalls
_CHECKING = 0.5  # seconds between checks whether the process is still needed


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
            async with open_tools(settings, serving=True) as tools:
                await _serve(address, tools, idle)
        finally:
            address.lock.unlink(missing_ok=True)
    return True


async def _serve(address: Address, tools: Tools, idle: float) -> None:
    ended = anyio.Event()

    async def answer_line(line: bytes) -> dict[str, Any]:
        answered = await answer(tools, line, end=ended.set)
        if is_of_another_version(answered):
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
async def open_tools(settings: Settings, *, serving: bool) -> AsyncGenerator[Tools]:
    """Open the memory of `settings`, and yield its tools.

    The memory is that of the server in SERVER_URL, if this setting has a value. `serving` has the
    same meaning as for `open_memory`. Raises StartRefused, DatabaseUnavailable.
    """
    if settings.server_url is not None:
        from textrawl.resident.remote import (  # noqa: PLC0415 - it loads the MCP SDK
            open_remote_spaces,
        )

        async with open_remote_spaces(settings.server_url, settings) as spaces:
            yield spaces
        return
    async with open_memory(settings, serving=serving) as store:
        recalls = build_recall_log(settings)
        try:
            async with anyio.create_task_group() as beside:
                beside.start_soon(_record_recalls, recalls, store)
                yield LocalTools(store, settings, recalls=recalls, names=TRAIL_NAMES)
                beside.cancel_scope.cancel()
        finally:
            if recalls is not None:
                with anyio.move_on_after(_LAST_FLUSH, shield=True):
                    await recalls.flush(store.database)


async def _record_recalls(recalls: RecallLog | None, store: Store) -> None:
    while recalls is not None:
        await anyio.sleep(_FLUSHING)
        await recalls.flush(store.database)
