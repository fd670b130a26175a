"""The login of servers, which is the same on all nodes of a cluster."""

from typing import cast

from psycopg import AsyncConnection, sql

from textrawl.distribution.nodes import Nodes, find_nodes, open_node
from textrawl.postgres.migrations import APP_ROLE, enable_login


async def enable_login_on_nodes(conninfo: str, *, connect_timeout: float = 10) -> str:
    """Give the login of servers its first password on all nodes, and return the servers' conninfo.

    Raises StartRefused if the role can log in to the coordinator already.
    """
    nodes = await find_nodes(conninfo)
    url = await enable_login(conninfo, connect_timeout=connect_timeout)
    await copy_login(nodes)
    return url


async def copy_login(nodes: Nodes) -> None:
    """Let servers log in to each worker as they log in to the coordinator.

    A worker to which they can log in already keeps its password.
    """
    async with open_node(nodes.coordinator) as connection:
        can_log_in, verifier = await _read_login(connection)
    if not can_log_in:
        return
    alter = sql.SQL("alter role {} login").format(sql.Identifier(APP_ROLE))
    if verifier is not None:
        # Postgres takes a verifier instead of a password, so all nodes accept the same password.
        alter += sql.SQL(" password {}").format(sql.Literal(verifier))
    for conninfo in nodes.workers.values():
        async with open_node(conninfo) as worker:
            if not (await _read_login(worker))[0]:
                await worker.execute(alter)


async def _read_login(connection: AsyncConnection) -> tuple[bool, str | None]:
    cursor = await connection.execute(
        "select rolcanlogin, rolpassword from pg_authid where rolname = %s", (APP_ROLE,)
    )
    row = cast("tuple[bool, str | None] | None", await cursor.fetchone())
    return row or (False, None)
