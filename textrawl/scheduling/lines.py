"""Order of writes: the writes of one session are stored in the order in which they came."""

from collections import deque
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar

import anyio

_PATIENCE = 10.0  # seconds for which a call waits in its line: order is not worth more


class _Place:
    """A call's place in a line."""

    def __init__(self, line: "deque[_Place]") -> None:
        self._line = line
        self._first = anyio.Event()
        line.append(self)

    async def wait(self) -> None:
        """Wait until every call before this one has left the line, or for ten seconds."""
        if self in self._line and self._line[0] is not self:
            with anyio.move_on_after(_PATIENCE):
                await self._first.wait()
            self._first.set()  # a tool call that waited in vain does not wait again

    def leave(self) -> None:
        """Let the next call go on."""
        if self in self._line:
            self._line.remove(self)
        if self._line:
            self._line[0]._first.set()


_place: ContextVar[_Place | None] = ContextVar("place", default=None)


class Lines:
    """Calls of each name in the order in which they came."""

    def __init__(self) -> None:
        self._lines: dict[Hashable, deque[_Place]] = {}

    @contextmanager
    def join(self, name: Hashable) -> Generator[None]:
        """Keep a place in the line of `name`, which `wait_in_line` waits for in this task."""
        place = _Place(self._lines.setdefault(name, deque()))
        before = _place.set(place)
        try:
            yield
        finally:
            _place.reset(before)
            place.leave()
            if not self._lines.get(name, True):
                del self._lines[name]


async def wait_in_line() -> None:
    """Wait for the calls that are before this task's call in its line, if it has joined one."""
    if (place := _place.get()) is not None:
        await place.wait()


def leave_line() -> None:
    """Let the calls behind this task's call go on: a person is asked, which may take minutes."""
    if (place := _place.get()) is not None:
        place.leave()
