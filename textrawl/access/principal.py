"""Who calls, and what they may do: the first of two walls, the database is the second.

A principal is what the database says of a credential (the SHA-256 of a token): whose it is, where
its writes go, and which scopes it has in which spaces. The scopes:

    read     query_memory, and what a dry run of forget_entity would show
    write    remember_fact, build_knowledge, relate_entities
    forget   forget_entity
    admin    grants, the trail and undo of a space
    metrics  /metrics of the server, and nothing in any space
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Literal, Self

from textrawl.errors import ScopeMissing, SpaceNotFound
from textrawl.scheduling.turns import keep_account

Scope = Literal["read", "write", "forget", "admin", "metrics"]


@dataclass(frozen=True)
class Space:
    """A space as one principal sees it."""

    id: int
    name: str
    scopes: frozenset[str]


@dataclass(frozen=True)
class Principal:
    """Somebody with a credential; `spaces` are those where they may do anything at all.

    `home` is the id of the space that their writes go to, None where an address has to name it;
    `pinned` says that an address or a setting did, for reads as well. `token` numbers the
    credential for logs and limits.
    """

    credential: bytes | None
    token: int
    actor: str
    home: int | None
    spaces: tuple[Space, ...]
    expires_at: datetime | None = None
    federated: bool = False
    pinned: bool = False

    def pin(self, name: str) -> Self:
        """The same principal in the space `name` alone.

        Raises SpaceNotFound, also for a space that exists and is not theirs.
        """
        for space in self._usable:
            if space.name == name:
                return replace(self, home=space.id, spaces=(space,), pinned=True)
        raise SpaceNotFound(f"Spaces that {self.actor} may use: {self._list_names()}")

    def require(self, scope: Scope) -> None:
        """Raises ScopeMissing unless `scope` is theirs: read anywhere, all others at home."""
        if not any(scope in space.scopes for space in self._find_concerned(scope)):
            raise ScopeMissing(scope, f"{self.actor} has {self._list_scopes(scope)}")

    @cached_property
    def home_space(self) -> Space | None:
        """The space that writes go to."""
        return next((space for space in self.spaces if space.id == self.home), None)

    @cached_property
    def readable(self) -> tuple[Space, ...]:
        """The spaces that are read."""
        return tuple(space for space in self.spaces if "read" in space.scopes)

    @cached_property
    def _usable(self) -> tuple[Space, ...]:
        """The spaces that they may do something in: what only reads metrics learns no names."""
        return tuple(space for space in self.spaces if space.scopes - {"metrics"})

    def _find_concerned(self, scope: Scope) -> tuple[Space, ...]:
        if scope == "read":
            return self.spaces
        return tuple(space for space in self.spaces if space.id == self.home)

    def _list_names(self) -> str:
        return ", ".join(sorted(space.name for space in self._usable)) or "none"

    def _list_scopes(self, scope: Scope) -> str:
        found = sorted({one for space in self._find_concerned(scope) for one in space.scopes})
        home = self.home_space
        place = f" in {home.name}" if home in self._usable and scope != "read" else ""
        return f"{', '.join(found) or 'no scope'}{place}"


@dataclass(frozen=True)
class Caller:
    """Who calls, by which client, through which tool, in which request: set by the server alone.

    `sharing` says that they came with a token to a server that others use as well.
    """

    principal: Principal
    client: str | None
    tool: str
    request: str | None = None
    sharing: bool = False
    begun: float = field(default_factory=time.perf_counter, compare=False)

    @property
    def reading(self) -> dict[str, object]:
        """What SQL functions that read ask for: whose reach, and the space if one is pinned."""
        pinned = [self.principal.home] if self.principal.pinned else None
        return {"credential": self.principal.credential, "spaces": pinned}

    @property
    def writing(self) -> dict[str, object]:
        """What SQL functions that write ask for; where no space is pinned it is their home."""
        return {
            "credential": self.principal.credential,
            "space": self.principal.home if self.principal.pinned else None,
            "client": self.client, "tool": self.tool, "request": self.request,
        }  # fmt: skip


_calling: ContextVar[Caller | None] = ContextVar("calling", default=None)


@contextmanager
def keep_caller(caller: Caller) -> Generator[None]:
    """Meanwhile `find_caller` tells `caller` in this task: who calls is found out once a call."""
    before = _calling.set(caller)
    try:
        with keep_account(caller.principal.actor if caller.sharing else None):
            yield
    finally:
        _calling.reset(before)


def find_caller() -> Caller | None:
    """Who makes the call that this task answers; None where that was not found out yet."""
    return _calling.get()
