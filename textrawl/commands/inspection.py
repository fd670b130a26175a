"""What a Postgres server says about itself."""

from dataclasses import dataclass

from textrawl.migrations import connect

_PGVECTOR = """
    select (select extversion from pg_extension where extname = 'vector'),
           (select default_version from pg_available_extensions where name = 'vector')
"""


@dataclass(frozen=True)
class Server:
    """Versions. `pgvector` is the one in this database, `offered` the one it could have."""

    postgres: str
    pgvector: str | None
    offered: str | None


async def inspect_server(conninfo: str, *, timeout: float) -> Server:
    """Versions of the server at `conninfo`. Raises DatabaseUnavailable, StartRefused."""
    async with await connect(conninfo, timeout) as connection:
        row = await (await connection.execute(_PGVECTOR)).fetchone()
        version = connection.info.parameter_status("server_version") or "of unknown version"
        return Server(version.split(" ")[0], *(row or (None, None)))
