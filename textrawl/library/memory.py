"""What `Client` asks of a memory: the interface of `LocalMemory` and `RemoteMemory`."""

from typing import Protocol

from textrawl.library.results import Digest, Facts, Forgotten, Related, Remembered
from textrawl.toolsets.memory.operations import Edge, Fact, Question


class Memory(Protocol):
    """An open memory. All arguments are checked already."""

    async def recall(self, question: Question, max_tokens: int | None) -> Facts:
        """Return facts, the best first."""
        ...

    async def digest(self, project: str | None, max_tokens: int | None) -> Digest:
        """Return the facts that matter at the start of a conversation."""
        ...

    async def remember(self, fact: Fact) -> Remembered:
        """Store a fact."""
        ...

    async def relate(self, edge: Edge, *, replaces: bool) -> Related:
        """Connect two entities."""
        ...

    async def end(self, edge: Edge) -> Related:
        """End a relation."""
        ...

    async def forget(self, entity: str, fact: str | None, *, dry_run: bool) -> Forgotten:
        """Delete an entity or one fact of it."""
        ...
