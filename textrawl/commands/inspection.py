"""What can be known about a database before it is used."""

from dataclasses import dataclass

from textrawl.embedded.state import read_state
from textrawl.errors import StartRefused
from textrawl.migrations import check, connect
from textrawl.settings import Settings

_PGVECTOR = """
    select (select extversion from pg_extension where extname = 'vector'),
           (select default_version from pg_available_extensions where name = 'vector')
"""


_MODEL = """
    select m.name, i.valid is true
    from textrawl.embedding_models() m left join lateral textrawl.vector_index(m.model_id) i on true
    where m.status = 'active'
"""


_ACTS = "select pg_has_role(session_user, 'textrawl_analyst', 'set')"


@dataclass(frozen=True)
class Server:
    """Versions. `pgvector` is the one in this database, `offered` the one it could have."""

    postgres: str
    pgvector: str | None
    offered: str | None


@dataclass(frozen=True)
class ActiveModel:
    """What a memory is searched with; not `indexed`, searches compare with every vector."""

    name: str
    indexed: bool


async def inspect_server(conninfo: str, *, timeout: float) -> Server:
    """Versions of the server at `conninfo`. Raises DatabaseUnavailable, StartRefused."""
    async with await connect(conninfo, timeout) as connection:
        row = await (await connection.execute(_PGVECTOR)).fetchone()
        version = connection.info.parameter_status("server_version") or "of unknown version"
        return Server(version.split(" ")[0], *(row or (None, None)))


async def find_active_model(conninfo: str, *, timeout: float) -> ActiveModel | None:
    """The model that a memory whose schema fits is searched with; None before it has vectors.

    Raises DatabaseUnavailable, StartRefused.
    """
    async with await connect(conninfo, timeout) as connection:
        row = await (await connection.execute(_MODEL)).fetchone()
        return ActiveModel(*row) if row else None


async def require_analyst(conninfo: str, *, timeout: float) -> None:
    """Raises StartRefused unless the login of `conninfo` may act as an analyst."""
    async with await connect(conninfo, timeout) as connection:
        if await (await connection.execute(_ACTS)).fetchone() != (True,):
            raise StartRefused(
                f"The login {connection.info.user} is no analyst: make one with `textrawl analyst "
                "create NAME --space SPACE`, then run `textrawl psql --as NAME`"
            )


async def require_memory(settings: Settings) -> None:
    """Raises StartRefused, DatabaseUnavailable unless there is a memory that can be read.

    Whoever counts must not make what is counted, nor wait for what cannot be reached.
    """
    if settings.database_url is not None:
        conninfo = settings.database_url.get_secret_value()
        await check(conninfo, connect_timeout=settings.database_timeout, serving=False)
    elif read_state(settings.data_dir).phase == "not initialised":
        raise StartRefused(
            f"There is no memory in {settings.data_dir} yet: the first `textrawl serve` makes it, "
            "or set DATA_DIR or DATABASE_URL to where it is"
        )
