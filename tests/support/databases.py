"""The database of a test's server, whether its memory is distributed or not."""

from textrawl.cluster.opening import open_connection
from textrawl.postgres.database import Database


async def choose_database(conninfo: str, *, timeout: float, max_size: int) -> Database:
    """Return the kind of database that a server has for this memory. It is not open yet."""
    async with open_connection(conninfo, timeout=timeout) as database:
        kind = type(database)
    return kind(conninfo, timeout=timeout, max_size=max_size)
