"""The questions of commands: each is one call, for the process that has the memory open.

If none has it open, one is started, because the next command comes soon. Only where no process can
listen, the command opens the memory itself. A question is asked before settings are loaded, because
that takes longer than most answers.
"""

import json
import signal
from typing import Any, TypeVar

from textrawl import __version__
from textrawl.cli.console import show_wait, write_error
from textrawl.cli.foreground import Interrupted, run_foreground
from textrawl.environment import find_data_dir, find_value, read_sources
from textrawl.errors import MemoryNotEnabled, TextrawlError
from textrawl.host.question import Request, build_question
from textrawl.host.question import ask as ask_process
from textrawl.host.repository import find_checkout, find_folder
from textrawl.host.requests import SocketAnswer, complete, read_answer
from textrawl.values.anchors import checkout
from textrawl.wire.result_reading import read_result, write_argument
from textrawl_client.unix_socket import FolderTaken, NotListening, ResidentRefused, Unreachable

Result = TypeVar("Result")

CLIENT = f"textrawl {__version__}"
"""The name of commands in the trail."""

_LONGEST = 660.0  # seconds: an undo can take 600
_STARTING = 20.0  # seconds; a busy machine needs ten


def ask(name: str, kind: type[Result], space: str | None = None, /, **given: object) -> Result:
    """Return the result of the operation `name` of `memory.commands`, which is of `kind`.

    `space` is the only space to use, or None for the setting. `given` has the arguments. Raises the
    errors of the operation, NotAuthenticated, SpaceNotFound, ReadOnly, and StartRefused,
    DatabaseUnavailable or ServerUnreachable if the memory cannot be opened.
    """
    checkout.set(find_checkout(find_folder()))  # to compare facts with files
    arguments = {one: write_argument(value) for one, value in given.items() if value is not None}
    if find_value("server_url", read_sources()) is not None:
        from textrawl.cli.server_session import ask_server  # noqa: PLC0415 - it takes a second

        with show_wait("Asking the server"):
            return read_result(kind, ask_server(name, space, arguments))
    question = build_question(name, arguments, client=CLIENT, space=space, person=True)
    return read_result(kind, find_answer(question).content)


def find_answer(request: Request, *, create: bool = False) -> SocketAnswer:
    """Return the answer to `request`.

    With `create`, a memory that does not exist is created. Without it, no process is started then.
    Raises TextrawlError, StartRefused.
    """
    try:
        with show_wait("Reading"):
            starting = _STARTING if has_memory() else None
            return ask_process(request, timeout=_LONGEST, starting=starting)
    except KeyboardInterrupt:  # the connection is closed, and the process takes the work back
        raise Interrupted(signal.SIGINT) from None
    except Unreachable as error:
        reached = error
    # A process answers most requests, and these modules take a second to load.
    from textrawl.cli.administration import require_memory  # noqa: PLC0415 - see above
    from textrawl.settings import read_settings  # noqa: PLC0415 - see above

    settings = read_settings()
    if not settings.enable_memory:
        raise MemoryNotEnabled
    if not create and settings.server_url is None:
        require_memory(settings)
    _tell(request, reached)
    with show_wait("Opening the memory"):
        return _answer_here(request, settings, create=create)


def has_memory() -> bool:
    """Return whether there is a memory on this machine, or a database, that a process can open."""
    sources = read_sources()
    if find_value("server_url", sources) is not None:
        return False
    clusters = find_data_dir(sources).glob("postgres-*/PG_VERSION")
    return bool(find_value("database_url", sources)) or any(clusters)


def _tell(request: Request, error: Unreachable) -> None:
    """Say why the command opens the memory itself. Raises TextrawlError if it must not."""
    if isinstance(error, FolderTaken):
        write_error(str(error))
    if isinstance(error, NotListening | ResidentRefused):
        return
    from textrawl.memory.commands import OPERATIONS  # noqa: PLC0415 - seldom needed

    operation = OPERATIONS.get(request["method"])
    if operation is not None and operation.writes:
        raise TextrawlError(
            "it may be done or not: look with `textrawl log` or `textrawl show` before you repeat",
            title=f"{error}",
        )
    write_error(f"{error}: this command opens the memory itself")


def _answer_here(request: Request, settings: Any, *, create: bool) -> SocketAnswer:
    from textrawl.host import answers, listener  # noqa: PLC0415 - see `find_answer`
    from textrawl.memory.commands import OPERATIONS  # noqa: PLC0415 - see `find_answer`

    operation = OPERATIONS.get(request["method"])
    if not (create or (operation is not None and operation.writes)):
        settings = settings.model_copy(update={"read_only": True})

    async def run() -> SocketAnswer:
        async with listener.open_tools(settings) as tools:
            answer = await answers.answer(tools, json.dumps(complete(request)).encode())
            return read_answer(answer)

    return run_foreground(run)
