"""Turns limit the concurrent calls of each person, so that one person cannot block the others."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import anyio

_account: ContextVar[str | None] = ContextVar("account", default=None)


@contextmanager
def keep_account(name: str | None) -> Generator[None]:
    """Count the database calls of the `with` block for the person `name`, or for nobody if None."""
    before = _account.set(name)
    try:
        yield
    finally:
        _account.reset(before)


def find_account() -> str | None:
    """Return the person for whom the database calls of this task are counted."""
    return _account.get()


@dataclass
class _Queue:
    turn: anyio.Semaphore  # calls get it in the order in which they came
    members: int = 0  # calls that have a turn or wait for a turn


class Turns:
    """Lets `most` calls of each name run at the same time. Further calls of this name wait."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._queues: dict[str, _Queue] = {}

    def count(self, name: str) -> int:
        """Return the number of calls of `name` that have a turn or wait for a turn."""
        return self._queues[name].members if name in self._queues else 0

    @asynccontextmanager
    async def take(self, name: str | None) -> AsyncGenerator[None]:
        """Wait for a turn of `name`, and keep it during the block. For None, do nothing."""
        if name is None:
            yield
            return
        queue = self._queues.get(name)
        if queue is None:
            queue = self._queues[name] = _Queue(anyio.Semaphore(self._most, fast_acquire=True))
        queue.members += 1
        try:
            async with queue.turn:
                yield
        finally:
            queue.members -= 1
            if not queue.members:
                del self._queues[name]
