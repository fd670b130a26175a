"""Connections to Postgres that know whether a pooler stands in between.

A pooler such as PgBouncer lends one session of Postgres to many clients. Whatever belongs to a
session (`set`, `listen`, prepared statements, advisory locks) may be gone with the next statement,
or be left to somebody else; and most poolers refuse options at login. So nothing here needs any of
it: limits of time belong to the session only where the server is reached directly.
"""

from typing import Any, cast

from pgvector.psycopg.halfvec import register_halfvec_info
from pgvector.psycopg.vector import register_vector_info
from psycopg import AsyncConnection, Error, ProgrammingError, sql
from psycopg.types import TypeInfo

PostgresError = Error
"""Any error of Postgres or of the way there, for modules that do not know the driver."""


def is_broken(error: Exception) -> bool:
    """Return whether the connection ended, and not one statement alone."""
    state = error.sqlstate if isinstance(error, Error) else None
    return state is None or state.startswith(("08", "57P"))


class Connection(AsyncConnection[Any]):
    """A connection; `pooled` says that a pooler was found on the way to Postgres."""

    pooled = False


async def find_pooler(connection: AsyncConnection[Any], **settings: str) -> bool:
    """Whether `connection` goes through a pooler; if not, its session gets `settings`.

    It takes one round trip. Through a pooler nothing is prepared from now on: older ones lose
    what was.
    """
    parts = [
        sql.SQL("set_config({}, {}, false)").format(sql.Literal(name), sql.Literal(value))
        for name, value in settings.items()
    ]
    # Postgres tells the id of its process at login; a pooler makes one up. The condition keeps
    # a session from being changed that is somebody else's with the next statement.
    query = sql.SQL("select {} where pg_backend_pid() = {}").format(
        sql.SQL(", ").join(parts or [sql.SQL("true")]), sql.Literal(connection.info.backend_pid)
    )
    pooled = await (await connection.execute(query)).fetchone() is None
    cast("Connection", connection).pooled = pooled
    if pooled:
        connection.prepare_threshold = None
    return pooled


# In the extension's schema, which need not be on anybody's search_path.
_TYPES = """
    select t.typname, t.oid, t.typarray from pg_type t
    join pg_extension e on e.extnamespace = t.typnamespace and e.extname = 'vector'
    where t.typname in ('vector', 'halfvec')
"""
_REGISTER = {"vector": register_vector_info, "halfvec": register_halfvec_info}


async def register_vectors(connection: AsyncConnection[Any]) -> None:
    """Let `connection` take and give vectors. Raises ProgrammingError without pgvector."""
    found = await (await connection.execute(_TYPES)).fetchall()
    if len(found) < len(_REGISTER):
        raise ProgrammingError("this database has no pgvector")
    for name, oid, array_oid in found:
        _REGISTER[name](connection, TypeInfo(name, oid, array_oid))


async def lends_sessions(first: Connection, second: Connection) -> bool:
    """Whether statements of one client may run in different sessions of Postgres.

    Both are connections to the same place, in no transaction. A pooler that lends a session for a
    transaction gives the second one the session that the first one has just used.
    """
    if not first.pooled:
        return False
    for _ in range(_LOOKS):
        before = await _find_session(first)
        async with second.transaction():
            if before == await _find_session(second) or before != await _find_session(first):
                return True
    return False


_LOOKS = 3  # since others may take the session in between


async def _find_session(connection: Connection) -> int:
    row = await (await connection.execute("select pg_backend_pid()")).fetchone()
    return cast("tuple[int]", row)[0]
