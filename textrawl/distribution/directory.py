"""The directory: spaces, actors, tokens, grants and models, which the workers copy.

The coordinator publishes its tables, and each worker subscribes to them by logical replication. So
a worker that is down delays nobody, and catches up when it is back.
"""

from typing import cast

from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo

from textrawl.distribution.copies import PUBLICATION, TABLES, copy_directory, find_slot
from textrawl.distribution.layout import CONTENT, MEMORY
from textrawl.distribution.map import Node
from textrawl.distribution.nodes import Nodes, open_node
from textrawl.errors import StartRefused
from textrawl.postgres.conninfo import read_conninfo
from textrawl.postgres.passwords import make_password, write_verifier

_REPLICATOR = "textrawl_replicator"


async def publish_directory(connection: AsyncConnection) -> None:
    """Publish the directory on the coordinator."""
    tables = [sql.Identifier(*table) for table in TABLES]
    await connection.execute(
        sql.SQL("create publication {} for table {}").format(
            sql.Identifier(PUBLICATION), sql.SQL(", ").join(tables)
        )
    )
    await _create_replicator(connection, tables)


async def follow_directory(connection: AsyncConnection, nodes: Nodes) -> None:
    """Let each worker copy the directory. A copy that exists is made anew.

    After a failover of the coordinator, the new one has no slots, and can have another address.
    After one of a worker, its standby can have missed a change. The slots of workers that have left
    the cluster are dropped, because the coordinator would keep its log for them.
    """
    former = [await _find_password(conninfo) for conninfo in nodes.workers.values()]
    password = next((known for known in former if known is not None), None)
    dsn = await _compose_dsn(connection, password or await _change_password(connection))
    slots = {node: await _name_slot(connection, node) for node in nodes.workers}
    await connection.execute(
        """select pg_drop_replication_slot(slot_name) from pg_replication_slots
           where database = current_database() and not active and starts_with(slot_name, %s)
             and slot_name <> all(%s)""",
        (f"{PUBLICATION}_", list(slots.values())),
    )
    for node, conninfo in nodes.workers.items():
        async with open_node(conninfo) as worker:
            await copy_directory(connection, worker, slot=slots[node], dsn=dsn)


async def is_following(worker: AsyncConnection) -> bool:
    """Return whether a worker copies the directory."""
    return await find_slot(worker) is not None


async def _find_password(conninfo: str) -> str | None:
    """Return the password with which a worker copies the directory of any memory of the cluster.

    All memories have the same login for it.
    """
    query = "select subconninfo from pg_subscription where subname = %s"
    async with open_node(conninfo) as worker:
        rows = await (await worker.execute(query, (PUBLICATION,))).fetchall()
    for (dsn,) in rows:
        parts = read_conninfo(str(dsn))
        if parts.get("user") == _REPLICATOR and "password" in parts:
            return parts["password"]
    return None


async def _name_slot(connection: AsyncConnection, node: Node) -> str:
    """Return a name for the slot of a worker. All databases of the coordinator share the names."""
    query = "select oid from pg_database where datname = current_database()"
    row = await (await connection.execute(query)).fetchone()
    return f"{PUBLICATION}_{node.id}_{cast('tuple[int]', row)[0]}"


async def _change_password(connection: AsyncConnection) -> str:
    """Return a new password of the login. Raises StartRefused if another memory needs the old one.

    Its workers are not those of this memory, so the old one is not known.
    """
    cursor = await connection.execute(
        """select database::text from pg_replication_slots
           where starts_with(slot_name, %s) and database <> current_database() limit 1""",
        (f"{PUBLICATION}_",),
    )
    if (row := await cursor.fetchone()) is not None:
        raise StartRefused(
            f"The workers of the memory {row[0]} log in to this coordinator as {_REPLICATOR}, and "
            "none of them is a worker of this memory: use another coordinator for this memory"
        )
    password = make_password()
    await connection.execute(
        sql.SQL("alter role {} password {}").format(
            sql.Identifier(_REPLICATOR), sql.Literal(write_verifier(password))
        )
    )
    return password


async def _compose_dsn(connection: AsyncConnection, password: str) -> str:
    """Return a conninfo of the coordinator for workers."""
    host, port = await _find_coordinator(connection)
    return make_conninfo(
        "", host=host, port=port, dbname=connection.info.dbname, user=_REPLICATOR, password=password
    )


async def _create_replicator(connection: AsyncConnection, tables: list[sql.Identifier]) -> None:
    """Create the login of the workers. It reads all rows of the directory, and nothing else."""
    role = sql.Identifier(_REPLICATOR)
    exists = await connection.execute("select from pg_roles where rolname = %s", (_REPLICATOR,))
    verb = "alter" if await exists.fetchone() is not None else "create"
    await connection.execute(
        sql.SQL("{} role {} login replication bypassrls").format(sql.SQL(verb), role)
    )
    for schema in (MEMORY, CONTENT):
        await connection.execute(
            sql.SQL("grant usage on schema {} to {}").format(sql.Identifier(schema), role)
        )
    await connection.execute(
        sql.SQL("grant select on {} to {}").format(sql.SQL(", ").join(tables), role)
    )


async def _find_coordinator(connection: AsyncConnection) -> tuple[str, int]:
    """Return the host and the port at which workers reach the coordinator."""
    cursor = await connection.execute(
        "select nodename, nodeport from pg_dist_node where groupid = 0 and noderole = 'primary'"
    )
    row = await cursor.fetchone()
    if row is None:
        raise StartRefused(
            "The workers do not know the address of the coordinator: run `select "
            "citus_set_coordinator_host('HOST')` on the coordinator, then repeat the migration"
        )
    return str(row[0]), int(row[1])
