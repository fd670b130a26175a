"""Turns at what all share: one caller never takes what all others need.

And lines: what one session writes is stored in the order in which it came.
"""

import os
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Hashable
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar, TypeVarTuple

import anyio
from anyio import to_process, to_thread

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

_account: ContextVar[str | None] = ContextVar("account", default=None)


@contextmanager
def keep_account(name: str | None) -> Generator[None]:
    """Count the database calls of this task for the person `name` meanwhile; None: for nobody."""
    before = _account.set(name)
    try:
        yield
    finally:
        _account.reset(before)


def find_account() -> str | None:
    """For whom the database calls of this task are counted."""
    return _account.get()


@dataclass
class _Queue:
    turn: anyio.Semaphore  # lets its members through in the order in which they came
    members: int = 0


class Turns:
    """Lets `most` of each name through at once; more wait for those, and for nobody else."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._queues: dict[str, _Queue] = {}

    def count(self, name: str) -> int:
        """How many of `name` have a turn or wait for one."""
        return self._queues[name].members if name in self._queues else 0

    @asynccontextmanager
    async def take(self, name: str | None) -> AsyncGenerator[None]:
        """Wait for a turn of `name`, and keep it meanwhile; None waits for nothing."""
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


_own = Turns(1)
_interpreter = Turns(1)
_SLICE = 0.0005  # seconds that a thread keeps the interpreter while others wait for it; else 0.005
_LOWER_PRIORITY = 10  # of 19: it gets what others leave, and a tenth where they leave nothing


async def run_aside(function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Run what takes long in a thread, so that other calls are answered meanwhile.

    One at a time: threads share the interpreter with the event loop, and each takes a share of it.
    Of each person one waits for that, however many they ask for.
    """
    async with _own.take(find_account()), _interpreter.take("aside"):
        sys.setswitchinterval(_SLICE)
        return await to_thread.run_sync(function, *arguments)


async def run_apart(function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Run what computes for seconds in a process of its own, at a lower priority.

    A thread would share the interpreter with the event loop, and every other call would wait for
    it. One at a time, and of each person one waits for that. The process ends with the server, or
    five minutes after its last work.
    """
    async with _own.take(find_account()), _interpreter.take("apart"):
        return await to_process.run_sync(_run_quietly, function, arguments)


def _run_quietly(function: Callable[..., Result], arguments: tuple[object, ...]) -> Result:
    os.setpriority(os.PRIO_PROCESS, 0, _LOWER_PRIORITY)
    return function(*arguments)
