"""The tables of vectors of a cluster, which are those of the directory's models."""

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import anyio
import psycopg

from textrawl import errors
from textrawl.cluster.cell_calls import CellCalls
from textrawl.cluster.planning import SpaceCells
from textrawl.postgres.connection import Connection
from textrawl.postgres.database import translate

Lend = Callable[[], AbstractAsyncContextManager[Connection]]
"""A function that lends a connection to the coordinator."""

_PAUSE = 0.5  # seconds until vectors are dropped again that somebody read


class VectorTables:
    """The tables of vectors. `lend` leads to the coordinator, and `timeout` is that of a call."""

    def __init__(self, lend: Lend, cells: SpaceCells, visits: CellCalls, timeout: float) -> None:
        self._lend, self._cells, self._visits = lend, cells, visits
        self._timeout = timeout
        self.known = False  # whether this process has distributed all models

    async def require_workers(self, mark: int = 0) -> None:
        """Raise DatabaseUnavailable unless all workers have the directory up to `mark`."""
        nodes = (await self._cells.find_map()).nodes
        late = await self._visits.wait_for_mark(nodes, mark, self._timeout)
        if late:
            names = ", ".join(sorted(node.address for node in late))
            raise errors.DatabaseUnavailable(
                f"All workers are needed to start or drop a model, but {names} cannot be reached, "
                "or does not copy the directory: see its log, then repeat the command"
            )

    async def distribute(self) -> None:
        """Give all cells the tables of new models."""
        with translate("distribute_models"):
            async with self._lend() as connection:
                await connection.execute("select textrawl_content.distribute_models()")
            await self._visits.match_models((await self._cells.find_map()).nodes)
        self.known = True

    async def drop(self) -> None:
        """Drop the vectors of all models that were dropped. Raises ServerBusy."""
        end = time.monotonic() + self._timeout
        with translate("drop_models"):
            while not await self._try_to_drop():
                if time.monotonic() > end:
                    raise errors.ServerBusy(
                        "The vectors of a dropped model are still in use: repeat the command in a "
                        "minute, it goes on where it stopped"
                    )
                await anyio.sleep(_PAUSE)

    async def _try_to_drop(self) -> bool:
        try:
            async with self._lend() as connection:
                await connection.execute("select textrawl_content.drop_models()")
        except psycopg.errors.LockNotAvailable:
            return False
        return True
