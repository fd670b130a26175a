"""The memory that the pages show, with everything that pages need."""

from collections.abc import Callable
from dataclasses import dataclass, field

from textrawl.access.directory import Directory
from textrawl.explorer.sessions import Links, Sessions
from textrawl.settings import Settings
from textrawl.store.store import Store
from textrawl.toolsets.memory.operations import MemoryOperations
from textrawl.transports.http.authentication import Lookup
from textrawl.transports.http.requests import PAGES
from textrawl.wire.replies import Renderer

ROOT = PAGES


@dataclass(frozen=True)
class Site:
    """An open memory with its settings, and the ways to sign in.

    `lookup` finds the principal of an access token. It is None if only one-time links sign in.
    """

    store: Store
    renderer: Renderer
    directory: Directory
    settings: Settings
    lookup: Lookup | None = None
    sessions: Sessions = field(default_factory=Sessions)
    links: Links = field(default_factory=Links)

    @property
    def memory(self) -> MemoryOperations:
        """The operations that the tools call too."""
        return MemoryOperations(self.store)


MakeSite = Callable[[], Site]
