"""Threads and processes for long computations, so that the event loop stays free."""

import os
import sys
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from anyio import to_process, to_thread

from textrawl.scheduling.turns import Turns, find_account

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

_own = Turns(1)
_interpreter = Turns(1)
_SLICE = 0.0005  # seconds for which a thread holds the GIL while others wait; Python's own is 0.005
_LOWER_PRIORITY = 5  # of 19: a third of the processor share of others, if all are busy


async def run_aside(function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Run a long computation in a thread, so that other calls are answered meanwhile.

    One runs at a time, because each thread slows the event loop. At most one per person waits for
    it; their others queue behind that one.
    """
    async with _own.take(find_account()), _interpreter.take("aside"):
        sys.setswitchinterval(_SLICE)
        return await to_thread.run_sync(function, *arguments)


async def run_apart(function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Run a computation of seconds in a process of its own, at a lower priority.

    A thread would share the interpreter with the event loop, and every other call would wait. One
    runs at a time, and at most one per person waits for it. The process ends with the server, or
    five minutes after its last computation.
    """
    async with _own.take(find_account()), _interpreter.take("apart"):
        return await to_process.run_sync(_run_quietly, function, arguments)


def _run_quietly(function: Callable[..., Result], arguments: tuple[object, ...]) -> Result:
    os.setpriority(os.PRIO_PROCESS, 0, _LOWER_PRIORITY)
    return function(*arguments)
