"""The directory: spaces, actors, tokens, grants and models, which the workers copy.

The coordinator publishes its tables, and each worker subscribes to them by logical replication. So
a worker that is down delays nobody, and catches up when it is back.
"""

import re

import anyio
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo

from textrawl.distribution.layout import CONTENT, DIRECTORY, MEMORY
from textrawl.distribution.map import Node
from textrawl.distribution.nodes import Nodes, open_node
from textrawl.errors import StartRefused
from textrawl.postgres.passwords import make_password, write_verifier

_PUBLICATION = "textrawl_directory"
_REPLICATOR = "textrawl_replicator"
_LONGEST_COPY = 60.0  # seconds that the first copy of the directory may take
_PAUSE = 0.05


async def publish_directory(connection: AsyncConnection) -> None:
    """Publish the directory on the coordinator."""
    tables = [sql.Identifier(MEMORY, name) for name in DIRECTORY]
    tables.append(sql.Identifier(CONTENT, "directory_mark"))
    await connection.execute(
        sql.SQL("create publication {} for table {}").format(
            sql.Identifier(_PUBLICATION), sql.SQL(", ").join(tables)
        )
    )
    await _create_replicator(connection, tables)


async def follow_directory(connection: AsyncConnection, nodes: Nodes) -> None:
    """Let each worker copy the directory that does not do so yet.

    The slots of workers that have left the cluster are dropped, because the coordinator would keep
    its log for them.
    """
    dsn: str | None = None
    new: list[Node] = []
    for node, conninfo in nodes.workers.items():
        async with open_node(conninfo) as worker:
            dsn = await _find_subscription(worker) or dsn
            if not await is_following(worker):
                new.append(node)
    slots = {node: _name_slot(connection, node) for node in nodes.workers}
    kept = [slot for node, slot in slots.items() if node not in new]
    await connection.execute(
        """select pg_drop_replication_slot(slot_name) from pg_replication_slots
           where database = current_database() and not active and starts_with(slot_name, %s)
             and slot_name <> all(%s)""",
        (f"{_PUBLICATION}_", kept),
    )
    for node in new:
        dsn = dsn or await _compose_dsn(connection)
        async with open_node(nodes.workers[node]) as worker:
            await _subscribe(worker, slots[node], dsn)


async def is_following(worker: AsyncConnection) -> bool:
    """Return whether a worker copies the directory."""
    return await _find_subscription(worker) is not None


async def _find_subscription(worker: AsyncConnection) -> str | None:
    """Return the conninfo with which a worker copies the directory."""
    cursor = await worker.execute(
        """select s.subconninfo from pg_subscription s
           join pg_database d on d.oid = s.subdbid
           where s.subname = %s and d.datname = current_database()""",
        (_PUBLICATION,),
    )
    row = await cursor.fetchone()
    return str(row[0]) if row else None


def _name_slot(connection: AsyncConnection, node: Node) -> str:
    """Return a name for the slot of a worker. Postgres refuses capitals and punctuation in it."""
    # All databases of the coordinator share the names of slots.
    name = f"{_PUBLICATION}_{node.id}_{connection.info.dbname}".lower()
    return re.sub(r"[^a-z0-9_]", "_", name)[:63]


async def _compose_dsn(connection: AsyncConnection) -> str:
    """Return a conninfo of the coordinator for workers, with a new password."""
    password = make_password()
    await connection.execute(
        sql.SQL("alter role {} password {}").format(
            sql.Identifier(_REPLICATOR), sql.Literal(write_verifier(password))
        )
    )
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


async def _subscribe(worker: AsyncConnection, slot: str, dsn: str) -> None:
    # The migration of the worker has made a first space and a mark, which the copy brings too.
    for table in ((MEMORY, "space"), (CONTENT, "directory_mark")):
        await worker.execute(sql.SQL("delete from {}").format(sql.Identifier(*table)))
    # The owner of the subscription is a superuser, who may write to tables with row-level security.
    await worker.execute(
        sql.SQL(
            "create subscription {} connection {} publication {} "
            "with (slot_name = {}, run_as_owner)"
        ).format(
            sql.Identifier(_PUBLICATION),
            sql.Literal(dsn),
            sql.Identifier(_PUBLICATION),
            sql.Literal(slot),
        )
    )
    with anyio.fail_after(_LONGEST_COPY):
        while not await _is_copied(worker):  # noqa: ASYNC110 - another server changes it
            await anyio.sleep(_PAUSE)


async def _is_copied(worker: AsyncConnection) -> bool:
    cursor = await worker.execute(
        """select bool_and(r.srsubstate = 'r') from pg_subscription_rel r
           join pg_subscription s on s.oid = r.srsubid where s.subname = %s""",
        (_PUBLICATION,),
    )
    return await cursor.fetchone() == (True,)
