"""The graphs of a memory, with their sizes."""

from collections.abc import Sequence
from dataclasses import dataclass

from textrawl.postgres.database import Database


@dataclass(frozen=True)
class GraphRow:
    """A graph that the caller can read. `writable` is true if the caller can also write to it."""

    name: str
    tier: str
    writable: bool
    sources: int
    chunks: int
    tokens: int


async def list_graphs(
    database: Database,
    credential: bytes | None,
    names: Sequence[str] | None = None,
    *,
    sensitive: bool = False,
) -> list[GraphRow]:
    """Return the graphs that a credential can read. If `names` is not None, only these graphs.

    With `sensitive`, sensitive graphs too: only for a command of a person, never for an MCP client.
    """
    return await database.call(
        "list_graphs",
        GraphRow,
        credential=credential,
        names=None if names is None else list(names),
        sensitive=sensitive,
    )
