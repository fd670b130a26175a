"""The operations of the `stats` toolset: they call SQL functions that count."""

from textrawl.access.principal import Caller
from textrawl.errors import SpaceIsGraph
from textrawl.memory.store import StatisticsRow, Store


class StatsOperations:
    """The sizes of one memory."""

    def __init__(self, store: Store) -> None:
        self._database = store.database

    async def count_memory(self, caller: Caller) -> StatisticsRow:
        """Count the entities, facts and relations that the caller can read.

        Raises SpaceIsGraph for a caller who can only reach a graph.
        """
        [row] = await self._database.call("memory_statistics", StatisticsRow, **caller.reading)
        return row

    async def try_to_count_memory(self, caller: Caller) -> StatisticsRow | None:
        """Do what `count_memory` does, but return None for a caller who can only reach a graph."""
        try:
            return await self.count_memory(caller)
        except SpaceIsGraph:
            return None
