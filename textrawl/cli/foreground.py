"""The event loop of a command. It ends with the command or at a signal, and always cleans up."""

import logging
import signal
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

from textrawl.environment import protect_children

Result = TypeVar("Result")
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Interrupted(Exception):
    """A signal ended the command. `code` is the exit code that a shell expects."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(f"Interrupted by {number.name}")
        self.code = 128 + number


def run_foreground(
    work: Callable[[], Awaitable[Result]],
    *,
    use_uvloop: bool = False,
    signals: Sequence[signal.Signals] = _SIGNALS,
) -> Result:
    """Run `work` and return its result. The first signal cancels it, and later signals are ignored.

    uvloop makes each call cheaper. Raises the first error of `work`, even if it is inside an
    exception group. Raises Interrupted after a signal.
    """
    # Some supervisors start programs with SIGCHLD ignored. Then the kernel drops the exit codes of
    # children, and a failed program of Postgres would look like one that succeeded.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    protect_children()
    try:
        options = {"use_uvloop": use_uvloop}
        return anyio.run(_supervise, work, signals, backend_options=options)
    except BaseExceptionGroup as group:
        first = _find_cause(group)
        raise first from first.__cause__


async def _supervise(
    work: Callable[[], Awaitable[Result]], expected: Sequence[signal.Signals]
) -> Result:
    caught: list[signal.Signals] = []
    waiting = anyio.CancelScope()

    async def cancel_on_signal() -> None:
        with waiting:
            async for number in signals:
                caught.append(number)
                group.cancel_scope.cancel()
                return

    with anyio.open_signal_receiver(*expected) as signals:
        async with anyio.create_task_group() as group:
            group.start_soon(cancel_on_signal)
            result = await work()
            waiting.cancel()
            return result
    raise Interrupted(caught[0])


def _find_cause(error: BaseException) -> BaseException:
    """Return the first error inside nested groups. The other errors are its consequences."""
    nested: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return _find_cause(nested[0]) if nested else error


def silence_libraries() -> None:
    """Drop needless warnings of libraries, and warnings of problems that textrawl reports itself.

    psycopg warns of each connection that is closed on purpose. dotenv warns of a bad line each time
    that the file is read.
    """
    for library in ("psycopg", "dotenv"):
        logging.getLogger(library).setLevel(logging.ERROR)
