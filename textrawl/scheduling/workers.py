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
_SLICE = 0.0005  # seconds that a thread keeps the interpreter while others wait for it; else 0.005
_LOWER_PRIORITY = 5  # of 19: a third of the share of other processes where all want to run


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
