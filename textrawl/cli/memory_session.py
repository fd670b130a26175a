"""The memory of a command that needs more than one call, so it opens the memory itself.

On a database it acts as the actor of ACCESS_TOKEN, or else as the actor of the login in
DATABASE_URL. On the embedded Postgres it acts as the user of this machine.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, TypeVar

from textrawl.access.principal import Caller, Directory
from textrawl.cli.administration import Administration, administer, require_memory
from textrawl.cli.console import hide_progress, show_wait
from textrawl.cli.foreground import run_foreground
from textrawl.cli.questions import CLIENT
from textrawl.errors import MemoryNotEnabled, require_writable
from textrawl.memory.commands import Operation, Session
from textrawl.memory.encrypted_documents import EncryptedGraph
from textrawl.memory.key_files import KeyFiles
from textrawl.memory.opening import open_memory
from textrawl.memory.store import Store
from textrawl.settings import Settings, read_settings

Result = TypeVar("Result")


def watch(
    operation: Operation[..., Any],
    space: str | None,
    work: Callable[[Session], Awaitable[Result]],
) -> Result:
    """Run `work` on a database, for a caller who can run `operation`, and return its result.

    Raises ScopeMissing, and the errors of `read_memory`.
    """
    settings = _read_settings(space)
    chosen = settings.space if operation.placed else space

    async def run(session: Session) -> Result:
        operation.require(session.caller.principal)
        return await work(session)

    timeout = max(settings.database_timeout, operation.least_timeout)
    update = {"read_only": True, "database_timeout": timeout}
    opening = open_memory(settings.model_copy(update=update))
    return _run(opening, settings, chosen, operation.command, run)


def read_memory(
    command: str, space: str | None, work: Callable[[Session], Awaitable[Result]]
) -> Result:
    """Run `work` on a read-only session and return its result. A missing memory is not created.

    Raises StartRefused, NotAuthenticated, SpaceNotFound, DatabaseUnavailable.
    """
    settings = _read_settings(space)
    opening = open_memory(settings.model_copy(update={"read_only": True}))
    with show_wait("Reading"):
        return _run(opening, settings, settings.space, command, work)


def change_memory(
    command: str,
    space: str | None,
    work: Callable[[Session], Awaitable[Result]],
    *,
    homeless: bool = False,
    least_timeout: float = 0,
) -> Result:
    """Run `work` on a session that can write, and return its result.

    With `homeless`, the caller needs no home space, and `work` shows its own progress. A call to
    Postgres may take `least_timeout` seconds, or longer if the settings allow it. Raises ReadOnly
    and the errors of `read_memory`.
    """
    settings = _read_settings(space)
    timeout = max(settings.database_timeout, least_timeout)
    settings = settings.model_copy(update={"database_timeout": timeout})
    require_writable(settings.read_only)

    async def run(session: Session) -> Result:
        if not homeless:
            session.caller.principal.require_home()
        return await work(session)

    with nullcontext() if homeless else show_wait("Opening the memory"):
        return _run(open_memory(settings), settings, settings.space, command, run)


def _run(
    opening: AbstractAsyncContextManager[Store],
    settings: Settings,
    space: str | None,
    command: str,
    work: Callable[[Session], Awaitable[Result]],
) -> Result:
    async def run() -> Result:
        require_memory(settings)
        async with opening as memory:
            directory = Directory(memory.database, sensitive=True)
            principal = await directory.find_own(memory.credential, space)
            return await work(Session(memory, Caller(principal, CLIENT, command), settings))

    return run_foreground(run)


def _read_settings(space: str | None) -> Settings:
    settings = read_settings(**({} if space is None else {"space": space}))
    if not settings.enable_memory:
        raise MemoryNotEnabled
    return settings


def open_graph(session: Session, graph: str) -> EncryptedGraph:
    """Return an encrypted graph with the keys of the settings."""
    return EncryptedGraph(session.store, session.caller.signing, graph, read_key_files())


def administer_graph(
    command: str,
    graph: str,
    work: Callable[[EncryptedGraph], Awaitable[Result]],
    *,
    changes_memory: bool = True,
) -> Result:
    """Run `work` on an encrypted graph as the owner of the memory, or with the scope admin.

    `changes_memory` is false if it changes nothing in the memory.
    """

    async def run(memory: Administration) -> Result:
        signing = {
            "credential": memory.credential,
            "client": CLIENT,
            "tool": command,
            "request": None,
        }
        return await work(EncryptedGraph(memory, signing, graph, read_key_files()))

    return administer(run, owned=False, wait=None, changes_memory=changes_memory)


def read_key_files() -> KeyFiles:
    """Return the keys that the settings name."""
    return KeyFiles(read_settings().encryption_key, hide_progress)
