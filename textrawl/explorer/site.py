"""The memory that the pages show, with everything that pages need."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from textrawl.access.directory import Directory
from textrawl.explorer.examined import Examined
from textrawl.explorer.numbers import Numbers
from textrawl.explorer.remembered import Remembered
from textrawl.explorer.sessions import Links, Sessions
from textrawl.postgres.database import Database
from textrawl.settings import Settings
from textrawl.store.store import Store
from textrawl.toolsets.entities.rows import SamePair
from textrawl.toolsets.memory.operations import MemoryOperations
from textrawl.transports.http.authentication import Lookup
from textrawl.transports.http.requests import PAGES
from textrawl.wire.replies import Renderer

ROOT = PAGES

OpenOwner = Callable[[], AbstractAsyncContextManager[Database]]
"""Opens the memory as its owner. Raises StartRefused if the login does not own the memory."""


@dataclass(frozen=True)
class Site:
    """An open memory with its settings, and the ways to sign in.

    `lookup` finds the principal of an access token. It is None if only one-time links sign in.
    `open_owner` is None if nobody who signs in can be the owner. `tickets` belong to forms that can
    be sent only once.
    """

    store: Store
    renderer: Renderer
    directory: Directory
    settings: Settings
    lookup: Lookup | None = None
    sessions: Sessions = field(default_factory=Sessions)
    links: Links = field(default_factory=Links)
    examined: Examined = field(default_factory=Examined)
    numbers: Remembered[Numbers] = field(default_factory=Remembered[Numbers])
    pairs: Remembered[Sequence[SamePair]] = field(default_factory=Remembered[Sequence[SamePair]])
    tickets: Links = field(default_factory=Links)
    open_owner: OpenOwner | None = None

    @property
    def own_machine(self) -> bool:
        """Whether only the person at this machine can sign in."""
        return self.lookup is None

    @property
    def memory(self) -> MemoryOperations:
        """The operations that the tools call too."""
        return MemoryOperations(self.store)


MakeSite = Callable[[], Site]
