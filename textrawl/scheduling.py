"""Order of calls, work in rounds, and work in threads and processes."""

import logging
import os
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Hashable
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, TypeVarTuple

import anyio
from anyio import to_process, to_thread

from textrawl.errors import TextrawlError

logger = logging.getLogger("textrawl")

account: ContextVar[str | None] = ContextVar("account", default=None)
"""The person for whom the database calls of this task are counted, or None for nobody."""

repository: ContextVar[str | None] = ContextVar("repository", default=None)
"""The keys of the repository of this task's session, with spaces between them, or None."""


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


Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

_own = Turns(1)
_interpreter = Turns(1)
_SLICE = 0.0005  # seconds after which a thread yields the GIL; the default of Python is 0.005
_LOWER_PRIORITY = 5  # of 19: on a busy machine, a third of the processor time of priority 0


_LONGEST_PAUSE = 0.1  # seconds after which background work goes on beside calls
_GLANCE = 0.002  # seconds after which it looks again whether calls are answered


class Traffic:
    """The number of calls that are answered in this process now, and whether this task is for none.

    The server counts them. A process can have several event loops, so background work looks for a
    pause between calls.
    """

    calls = 0
    background: ContextVar[bool] = ContextVar("background", default=False)


async def give_way() -> None:
    """In background work, wait for a pause between calls, or for a tenth of a second."""
    if not Traffic.background.get():
        return
    with anyio.move_on_after(_LONGEST_PAUSE):
        while Traffic.calls:  # noqa: ASYNC110 - an event belongs to one event loop
            await anyio.sleep(_GLANCE)


class Rounds(ABC):
    """Background work in rounds, with `pause` seconds between them. It gives way to calls.

    `delay` says in the log that the work waits.
    """

    pause: float
    delay: str

    async def run(self) -> None:
        """Do rounds until cancelled. If a round fails, the next round repeats its work."""
        Traffic.background.set(True)
        while True:
            try:
                await self.do_round()
            except TextrawlError as error:
                logger.info("%s: %s", self.delay, error)
            await anyio.sleep(self.pause)

    @abstractmethod
    async def do_round(self) -> None:
        """Do all work that is due now. Raises TextrawlError."""


@asynccontextmanager
async def run_beside(*works: Callable[[], Coroutine[Any, Any, object]]) -> AsyncGenerator[None]:
    """Run `works` during the block, and cancel them at its end.

    An error of the block is raised as it is, and not inside an exception group.
    """
    try:
        async with anyio.create_task_group() as tasks:
            for work in works:
                tasks.start_soon(work)
            yield
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        first, *others = group.exceptions
        if others:
            raise
        raise first from first.__cause__


async def run_aside(function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Run a long computation in a thread, so that other calls are answered meanwhile.

    One computation runs at a time, because each thread slows the event loop. Each person can have
    only one computation that runs or waits for the thread. Further computations of this person
    wait until the first has ended.
    """
    async with _own.take(account.get()), _interpreter.take("aside"):
        sys.setswitchinterval(_SLICE)
        return await to_thread.run_sync(function, *arguments)


async def run_apart(function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Run a computation that takes seconds in a separate process, at a lower priority.

    In a thread it would share the interpreter with the event loop, and other calls would wait. One
    computation runs at a time, and persons take turns as in `run_aside`. The process ends with the
    server, or five minutes after its last computation.
    """
    async with _own.take(account.get()), _interpreter.take("apart"):
        return await to_process.run_sync(_run_quietly, function, arguments)


def _run_quietly(function: Callable[..., Result], arguments: tuple[object, ...]) -> Result:
    os.setpriority(os.PRIO_PROCESS, 0, _LOWER_PRIORITY)
    return function(*arguments)


_LONGEST_WAIT = 10.0  # seconds after which a call stops waiting for earlier calls


@dataclass(eq=False)
class _Place:
    """The place of a call in the queue of its session. `first` is set when no other is before."""

    queue: "deque[_Place]"
    first: anyio.Event = field(default_factory=anyio.Event)

    def leave(self) -> None:
        """Leave the queue, and wake the next call."""
        if self in self.queue:
            self.queue.remove(self)
        if self.queue:
            self.queue[0].first.set()


_place: ContextVar[_Place | None] = ContextVar("place", default=None)


class WriteOrder:
    """A queue of calls per session, in the order in which they came."""

    def __init__(self) -> None:
        self._queues: dict[Hashable, deque[_Place]] = {}

    @contextmanager
    def join(self, session: Hashable) -> Generator[None]:
        """Keep a place in the queue of `session`, for `wait_for_earlier_writes` in this task."""
        place = _Place(self._queues.setdefault(session, deque()))
        place.queue.append(place)
        before = _place.set(place)
        try:
            yield
        finally:
            _place.reset(before)
            place.leave()
            if not self._queues.get(session, True):
                del self._queues[session]


async def wait_for_earlier_writes() -> None:
    """Wait for the earlier calls of the same session, if this task's call has joined a queue.

    A call waits for at most ten seconds, and not again.
    """
    place = _place.get()
    if place is not None and place in place.queue and place.queue[0] is not place:
        with anyio.move_on_after(_LONGEST_WAIT):
            await place.first.wait()
        place.first.set()


def let_later_writes_pass() -> None:
    """Leave the queue early, because this task's call asks a person, which can take minutes."""
    if (place := _place.get()) is not None:
        place.leave()
