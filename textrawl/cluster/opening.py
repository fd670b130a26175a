"""The opening of a database, ordinary or distributed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from textrawl.postgres.connection import is_distributed
from textrawl.postgres.database import Database, translate

if TYPE_CHECKING:
    from textrawl.cluster.cluster import ClusterDatabase


@asynccontextmanager
async def open_connection(conninfo: str, *, timeout: float) -> AsyncGenerator[Database]:
    """Open a database with a single connection, which is enough for a command.

    If the memory is distributed, there is one connection to each node, and all nodes are needed.
    Raises DatabaseUnavailable.
    """
    database = Database(conninfo, timeout=timeout, max_size=1)
    await database.open()
    try:
        if await asks_cells(database):
            await database.close()
            database = load_cluster_database()(conninfo, timeout=timeout, max_size=1)
            database.complete = True
            await database.open()
        yield database
    finally:
        await database.close()


async def asks_cells(database: Database) -> bool:
    """Return whether the memory of an open database is distributed. Raises DatabaseUnavailable."""
    with translate("is_distributed"):
        async with database.lend() as connection:
            return await is_distributed(connection)


def load_cluster_database() -> "type[ClusterDatabase]":
    """Return the class of a distributed memory. Most processes never load it."""
    from textrawl.cluster.cluster import ClusterDatabase  # noqa: PLC0415 - 20 ms, rarely used

    return ClusterDatabase
