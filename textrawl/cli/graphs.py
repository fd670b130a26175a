"""The graph that a command writes documents to."""

from dataclasses import dataclass

from textrawl.access.principal import Caller
from textrawl.cli.administration import open_login
from textrawl.cli.foreground import run_foreground
from textrawl.cluster.opening import open_connection
from textrawl.errors import ArgumentInvalid, MemoryNotEnabled, ReadOnly
from textrawl.memory.store import Store, list_graphs
from textrawl.settings import read_settings
from textrawl.values.choice import join_choices


async def choose_graph(store: Store, caller: Caller, name: str | None) -> str:
    """Return the named graph, or else the home space if it is a graph, or the only writable graph.

    Raises ArgumentInvalid with the names of all writable graphs.
    """
    rows = await list_graphs(store.database, caller.principal.credential, sensitive=True)
    graphs = [row.name for row in rows if row.writable]
    if name in graphs:
        return name
    home = caller.principal.home_space
    if name is None and (len(graphs) == 1 or (home and home.name in graphs)):
        return home.name if home and home.name in graphs else graphs[0]
    command = "run `textrawl space create documents --tier personal` for a new one"
    if not graphs:
        raise ArgumentInvalid(command, title="There is no graph to write to")
    title = "The graph is not clear" if name is None else f"There is no graph {name} to write to"
    fix = f"choose {join_choices(graphs)} as --graph, or {command}"
    raise ArgumentInvalid(fix, title=title)


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
