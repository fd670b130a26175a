"""The first graph of an embedded memory, so that a person can ingest files with one command."""

from dataclasses import dataclass

from textrawl.cli.database_access import open_login
from textrawl.cli.foreground import run_foreground
from textrawl.distribution.opening import open_connection
from textrawl.errors import MemoryNotEnabled, ReadOnly
from textrawl.settings import read_settings
from textrawl.store.graphs import list_graphs

FIRST_GRAPH, _TIER = "documents", "personal"


@dataclass(frozen=True)
class _MadeRow:
    name: str


def create_first_graph() -> bool:
    """Create the graph `documents` if the embedded memory has no graph. Return True if it did.

    The embedded memory is created too if it does not exist. A memory in DATABASE_URL is not
    changed, because its administrator decides about graphs. Raises MemoryNotEnabled, ReadOnly,
    StartRefused.
    """
    settings = read_settings()
    if not settings.enable_memory:
        raise MemoryNotEnabled
    if settings.read_only:
        raise ReadOnly("TEXTRAWL_READ_ONLY is on: unset it to change the memory")
    if settings.database_url is not None or settings.space is not None:
        return False

    async def run() -> bool:
        async with (
            open_login(settings, empty=True) as login,
            open_connection(login.conninfo, timeout=login.timeout) as database,
        ):
            if await list_graphs(database, None, sensitive=True):
                return False
            await database.call("create_space", _MadeRow, name=FIRST_GRAPH, tier=_TIER)
            return True

    return run_foreground(run)
