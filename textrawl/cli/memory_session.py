"""A session of one command on the memory that the settings name.

`search`, `show`, `remember` and `forget` call the same operations as the tools, without loading the
MCP SDK. The commands act as the actor of ACCESS_TOKEN, or else as the actor of the login in
DATABASE_URL. On the embedded Postgres they act as the user of this machine.
"""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from textrawl import __version__
from textrawl.access.principal import Caller, Directory, Principal
from textrawl.cli.administration import require_memory
from textrawl.cli.console import show_wait
from textrawl.cli.foreground import run_foreground
from textrawl.errors import (
    ArgumentInvalid,
    EntityNameMissing,
    MemoryNotEnabled,
    ReadOnly,
)
from textrawl.memory.facts import MemoryOperations, suggest_names
from textrawl.memory.opening import open_memory
from textrawl.memory.store import Store
from textrawl.postgres.database import Database
from textrawl.settings import Settings, read_settings
from textrawl.values.choice import join_choices

Result = TypeVar("Result")

_CLIENT = f"textrawl {__version__}"


@dataclass(frozen=True)
class MemorySession:
    """An open memory with its caller and its settings."""

    store: Store
    caller: Caller
    settings: Settings

    @cached_property
    def memory(self) -> MemoryOperations:
        """The operations on this memory, which the tools call too."""
        return MemoryOperations(self.store)

    @property
    def several_spaces(self) -> bool:
        """True if answers can come from more than one space."""
        return len(self.caller.principal.readable) > 1


def read_memory(
    command: str, space: str | None, work: Callable[[MemorySession], Awaitable[Result]]
) -> Result:
    """Run `work` on a read-only session and return its result. A missing memory is not created.

    Raises StartRefused, NotAuthenticated, SpaceNotFound, DatabaseUnavailable.
    """
    settings = _read_settings(space)

    async def run() -> Result:
        require_memory(settings)
        reading = settings.model_copy(update={"read_only": True})
        async with open_memory(reading) as memory:
            principal = await _find_principal(memory, settings)
            return await work(MemorySession(memory, Caller(principal, _CLIENT, command), settings))

    with show_wait("Reading"):
        return run_foreground(run)


def change_memory(
    command: str,
    space: str | None,
    work: Callable[[MemorySession], Awaitable[Result]],
    *,
    create: bool = False,
    homeless: bool = False,
    least_timeout: float = 0,
) -> Result:
    """Run `work` on a session that can write, and return its result.

    With `create`, the embedded Postgres is created if it does not exist. With `homeless`, the
    caller needs no home space, and `work` shows its own progress. A call to Postgres may take
    `least_timeout` seconds, or longer if the settings allow it. Raises ReadOnly and the errors of
    `read_memory`.
    """
    settings = _read_settings(space)
    timeout = max(settings.database_timeout, least_timeout)
    settings = settings.model_copy(update={"database_timeout": timeout})
    if settings.read_only:
        raise ReadOnly("TEXTRAWL_READ_ONLY is on: unset it to change the memory")

    async def run() -> Result:
        if not create:
            require_memory(settings)
        async with open_memory(settings) as memory:
            principal = await _find_principal(memory, settings)
            if principal.home is None and not homeless:
                raise ArgumentInvalid(
                    f"choose one with --space or TEXTRAWL_SPACE: {_list_spaces(principal)}",
                    title="The space to write to is not clear",
                )
            return await work(MemorySession(memory, Caller(principal, _CLIENT, command), settings))

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
    directory = Directory(database, sensitive=True)
    principal = await directory.find_own(credential, settings.space)
    return Caller(principal, _CLIENT, "textrawl").reading


async def describe_missing_entity(session: MemorySession, name: str) -> ArgumentInvalid:
    """Return the error for a name that no entity has. It suggests similar names."""
    if not name:
        return EntityNameMissing("give the name of an entity")
    similar = await suggest_names(session.memory, name, session.caller)
    fix = f"did you mean {join_choices(similar)}?" if similar else "try `textrawl search`"
    return ArgumentInvalid(fix, title=f"There is no entity {name}")


def read_space_settings(space: str | None) -> Settings:
    """Return the settings, with `space` as the only space unless it is None."""
    return read_settings(**({} if space is None else {"space": space}))


def _read_settings(space: str | None) -> Settings:
    settings = read_space_settings(space)
    if not settings.enable_memory:
        raise MemoryNotEnabled
    return settings


async def _find_principal(memory: Store, settings: Settings) -> Principal:
    directory = Directory(memory.database, sensitive=True)
    return await directory.find_own(memory.credential, settings.space)


def _list_spaces(principal: Principal) -> str:
    return ", ".join(sorted(space.name for space in principal.spaces)) or "none"
