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


async def publish_directory(connection: AsyncConnection, nodes: Nodes) -> None:
    """Publish the directory on the coordinator, and let each worker copy it."""
    tables = [sql.Identifier(MEMORY, name) for name in DIRECTORY]
    tables.append(sql.Identifier(CONTENT, "directory_mark"))
    await connection.execute(
        sql.SQL("create publication {} for table {}").format(
            sql.Identifier(_PUBLICATION), sql.SQL(", ").join(tables)
        )
    )
    password = make_password()
    await _create_replicator(connection, password, tables)
    host, port = await _find_coordinator(connection)
    dsn = make_conninfo(
        "", host=host, port=port, dbname=connection.info.dbname, user=_REPLICATOR, password=password
    )
    for node, conninfo in nodes.workers.items():
        async with open_node(conninfo) as worker:
            await _subscribe(worker, node, dsn)


async def _create_replicator(
    connection: AsyncConnection, password: str, tables: list[sql.Identifier]
) -> None:
    """Create the login of the workers. It reads all rows of the directory, and nothing else."""
    role = sql.Identifier(_REPLICATOR)
    exists = await connection.execute("select from pg_roles where rolname = %s", (_REPLICATOR,))
    verb = "alter" if await exists.fetchone() is not None else "create"
    await connection.execute(
        sql.SQL("{} role {} login replication bypassrls password {}").format(
            sql.SQL(verb), role, sql.Literal(write_verifier(password))
        )
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


async def _subscribe(worker: AsyncConnection, node: Node, dsn: str) -> None:
    # The migration of the worker has made a first space and a mark, which the copy brings too.
    for table in ((MEMORY, "space"), (CONTENT, "directory_mark")):
        await worker.execute(sql.SQL("delete from {}").format(sql.Identifier(*table)))
    # All databases of the coordinator share the names of slots. The owner of the subscription is a
    # superuser, who may write to tables with row-level security.
    await worker.execute(
        sql.SQL(
            "create subscription {} connection {} publication {} "
            "with (slot_name = {}, run_as_owner)"
        ).format(
            sql.Identifier(_PUBLICATION),
            sql.Literal(dsn),
            sql.Identifier(_PUBLICATION),
            sql.Literal(_name_slot(worker.info.dbname, node)),
        )
    )
    with anyio.fail_after(_LONGEST_COPY):
        while not await _is_copied(worker):  # noqa: ASYNC110 - another server changes it
            await anyio.sleep(_PAUSE)


def _name_slot(database: str, node: Node) -> str:
    """Return a name for the slot of a worker. Postgres refuses capitals and punctuation in it."""
    name = f"{_PUBLICATION}_{node.id}_{database}".lower()
    return re.sub(r"[^a-z0-9_]", "_", name)[:63]


async def _is_copied(worker: AsyncConnection) -> bool:
    cursor = await worker.execute(
        """select bool_and(r.srsubstate = 'r') from pg_subscription_rel r
           join pg_subscription s on s.oid = r.srsubid where s.subname = %s""",
        (_PUBLICATION,),
    )
    return await cursor.fetchone() == (True,)
