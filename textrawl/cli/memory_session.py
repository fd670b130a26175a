"""The memory of one command: the database that the settings name, or the server of SERVER_URL.

`ask` runs an operation there. It calls the same operations as the tools, without loading the MCP
SDK. On a database it acts as the actor of ACCESS_TOKEN, or else as the actor of the login in
DATABASE_URL. On the embedded Postgres it acts as the user of this machine.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Any, ParamSpec, TypeVar

from textrawl import __version__
from textrawl.access.principal import Caller, Directory, Principal
from textrawl.cli.administration import require_memory
from textrawl.cli.console import show_wait
from textrawl.cli.foreground import run_foreground
from textrawl.cli.server_session import ask_server
from textrawl.errors import MemoryNotEnabled, ReadOnly
from textrawl.memory.commands import Operation, Session, require_home
from textrawl.memory.opening import open_database, open_memory, open_patiently
from textrawl.memory.store import Store
from textrawl.postgres.database import Database
from textrawl.postgres.inspection import name_lock_holders
from textrawl.settings import Settings, read_settings

Given = ParamSpec("Given")
Result = TypeVar("Result")

_CLIENT = f"textrawl {__version__}"


def ask(
    operation: Operation[Given, Result],
    space: str | None,
    *args: Given.args,
    **kwargs: Given.kwargs,
) -> Result:
    """Run an operation on the memory of the settings and return its result.

    `space` is the only space to use, or None for the setting. Raises the errors of the operation,
    NotAuthenticated, SpaceNotFound, ReadOnly, and StartRefused, DatabaseUnavailable or
    ServerUnreachable if the memory cannot be opened.
    """
    settings = _read_settings(space)
    if operation.writes:
        require_writable(settings)
    if settings.server_url is not None:
        place = settings.space if operation.placed else space
        given = operation.bind(*args, **kwargs)
        with show_wait("Asking the server"):
            return ask_server(settings.server_url, settings, operation, place, given)

    with show_wait("Opening the memory" if operation.writes else "Reading"):
        return watch(operation, space, lambda session: operation.run(session, *args, **kwargs))


def watch(
    operation: Operation[..., Any],
    space: str | None,
    work: Callable[[Session], Awaitable[Result]],
) -> Result:
    """Run `work` on a database, for a caller who can run `operation`, and return its result.

    Raises the errors of `ask`.
    """
    settings = _read_settings(space)
    place = settings.space if operation.placed else space

    async def run() -> Result:
        require_memory(settings)
        async with _open(operation, settings) as memory:
            session = await _begin(memory, settings, place, operation.command)
            operation.require(session.caller.principal)
            return await work(session)

    return run_foreground(run)


def read_memory(
    command: str, space: str | None, work: Callable[[Session], Awaitable[Result]]
) -> Result:
    """Run `work` on a read-only session and return its result. A missing memory is not created.

    Raises StartRefused, NotAuthenticated, SpaceNotFound, DatabaseUnavailable.
    """
    settings = _read_settings(space)

    async def run() -> Result:
        require_memory(settings)
        async with open_memory(settings.model_copy(update={"read_only": True})) as memory:
            return await work(await _begin(memory, settings, settings.space, command))

    with show_wait("Reading"):
        return run_foreground(run)


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
    require_writable(settings)

    async def run() -> Result:
        require_memory(settings)
        async with open_memory(settings) as memory:
            session = await _begin(memory, settings, settings.space, command)
            if not homeless:
                require_home(session.caller.principal)
            return await work(session)

    with nullcontext() if homeless else show_wait("Opening the memory"):
        return run_foreground(run)


async def find_reading(
    database: Database, credential: bytes | None, settings: Settings
) -> dict[str, object]:
    """Return the arguments of SQL functions that read the space of the settings, or all spaces.

    Raises NotAuthenticated, SpaceNotFound, DatabaseUnavailable.
    """
    if settings.space is None:
        return {"credential": credential}
    principal = await _find_principal(database, credential, settings.space)
    return Caller(principal, _CLIENT, "textrawl").reading


def read_space_settings(space: str | None) -> Settings:
    """Return the settings, with `space` as the only space unless it is None."""
    return read_settings(**({} if space is None else {"space": space}))


def require_writable(settings: Settings) -> None:
    """Raise ReadOnly if READ_ONLY is on."""
    if settings.read_only:
        raise ReadOnly("TEXTRAWL_READ_ONLY is on: unset it to change the memory")


def _read_settings(space: str | None) -> Settings:
    settings = read_space_settings(space)
    if not settings.enable_memory:
        raise MemoryNotEnabled
    return settings


@asynccontextmanager
async def _open(operation: Operation[..., Any], settings: Settings) -> AsyncGenerator[Store]:
    """Open the memory, without a model for an operation that can take long."""
    if not operation.least_timeout:
        update = {} if operation.writes else {"read_only": True}
        async with open_memory(settings.model_copy(update=update)) as memory:
            yield memory
        return
    timeout = max(settings.database_timeout, operation.least_timeout)
    async with (
        open_database(settings) as site,
        open_patiently(site, timeout) as memory,
        name_lock_holders(site.conninfo, settings.database_timeout),
    ):
        yield memory


async def _begin(memory: Store, settings: Settings, space: str | None, command: str) -> Session:
    principal = await _find_principal(memory.database, memory.credential, space)
    caller = Caller(principal, _CLIENT, command)
    return Session(memory, caller, settings)


async def _find_principal(
    database: Database, credential: bytes | None, space: str | None
) -> Principal:
    return await Directory(database, sensitive=True).find_own(credential, space)
