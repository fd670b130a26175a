"""The order of writes: the writes of one session are stored in the order in which they came."""

from collections import deque
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar

import anyio

_LONGEST_WAIT = 10.0  # seconds after which a call stops waiting for earlier calls


class _Place:
    """The place of a call in the queue of its session."""

    def __init__(self, queue: "deque[_Place]") -> None:
        self._queue = queue
        self._first = anyio.Event()
        queue.append(self)

    async def wait(self) -> None:
        """Wait until every earlier call has left the queue, or for ten seconds."""
        if self in self._queue and self._queue[0] is not self:
            with anyio.move_on_after(_LONGEST_WAIT):
                await self._first.wait()
            self._first.set()  # a call that has waited too long does not wait again

    def leave(self) -> None:
        """Leave the queue, and wake the next call."""
        if self in self._queue:
            self._queue.remove(self)
        if self._queue:
            self._queue[0]._first.set()


_place: ContextVar[_Place | None] = ContextVar("place", default=None)


class WriteOrder:
    """A queue of calls per session, in the order in which they came."""

    def __init__(self) -> None:
        self._queues: dict[Hashable, deque[_Place]] = {}

    @contextmanager
    def join(self, session: Hashable) -> Generator[None]:
        """Keep a place in the queue of `session`, for `wait_for_earlier_writes` in this task."""
        place = _Place(self._queues.setdefault(session, deque()))
        before = _place.set(place)
        try:
            yield
        finally:
            _place.reset(before)
            place.leave()
            if not self._queues.get(session, True):
                del self._queues[session]


async def wait_for_earlier_writes() -> None:
    """Wait for the earlier calls of the same session, if this task's call has joined a queue."""
    if (place := _place.get()) is not None:
        await place.wait()


def let_later_writes_pass() -> None:
    """Leave the queue early, because this task's call asks a person, which can take minutes."""
    if (place := _place.get()) is not None:
        place.leave()
