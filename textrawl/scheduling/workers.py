"""Threads and processes for long computations, which would block the event loop."""

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
_SLICE = 0.0005  # seconds after which a thread yields the GIL; the default of Python is 0.005
_LOWER_PRIORITY = 5  # of 19: on a busy machine, a third of the processor time of priority 0


async def run_aside(function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Run a long computation in a thread, so that other calls are answered meanwhile.

    One computation runs at a time, because each thread slows the event loop. Each person can have
    only one computation that runs or waits for the thread. Further computations of this person
    wait until the first has ended.
    """
    async with _own.take(find_account()), _interpreter.take("aside"):
        sys.setswitchinterval(_SLICE)
        return await to_thread.run_sync(function, *arguments)


async def run_apart(function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Run a computation that takes seconds in a separate process, at a lower priority.

    In a thread it would share the interpreter with the event loop, and other calls would wait. One
    computation runs at a time, and persons take turns as in `run_aside`. The process ends with the
    server, or five minutes after its last computation.
    """
    async with _own.take(find_account()), _interpreter.take("apart"):
        return await to_process.run_sync(_run_quietly, function, arguments)


def _run_quietly(function: Callable[..., Result], arguments: tuple[object, ...]) -> Result:
    os.setpriority(os.PRIO_PROCESS, 0, _LOWER_PRIORITY)
    return function(*arguments)
