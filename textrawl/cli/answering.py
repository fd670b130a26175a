"""The answer to a request of `recall`, `digest` and `remember`.

A process that has the memory open answers it, or else this process opens the memory itself.
"""

import json
from typing import Any

from textrawl.cli.console import show_wait, write_error
from textrawl.cli.database_access import require_memory
from textrawl.cli.foreground import run_foreground
from textrawl.cli.quick import Request, ask_running, check
from textrawl.errors import MemoryNotEnabled
from textrawl.resident.client import NotListening, Refused, Unreachable, complete
from textrawl.settings import read_settings


def find_answer(request: Request, *, create: bool = False) -> dict[str, Any]:
    """Return the answer to `request`.

    With `create`, the embedded Postgres is created if it does not exist. Without it, this process
    changes nothing, and does not record the recall. Raises TextrawlError,
    StartRefused.
    """
    try:
        answer = ask_running(request)
    except Unreachable as error:
        if not isinstance(error, NotListening | Refused):
            write_error(f"{error}: this command opens the memory itself")
        answer = _open_and_answer(request, create=create)
    check(answer)
    return answer


def _open_and_answer(request: Request, *, create: bool) -> dict[str, Any]:
    # A running process answers most requests, and these modules take long to load.
    from textrawl.resident.answers import dispatch  # noqa: PLC0415 - see above
    from textrawl.resident.process import open_operations  # noqa: PLC0415 - see above

    settings = read_settings()
    if not settings.enable_memory:
        raise MemoryNotEnabled
    if not create:
        settings = settings.model_copy(update={"read_only": True})
        if settings.server_url is None:
            require_memory(settings)

    async def run() -> dict[str, Any]:
        async with open_operations(settings, serving=False) as operations:
            return await dispatch(operations, json.dumps(complete(request)).encode())

    with show_wait("Opening the memory"):
        return run_foreground(run)
