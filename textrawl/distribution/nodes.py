"""The nodes of a Citus cluster, and connections to them for a migration."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import LiteralString, cast

from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from textrawl.distribution.map import Node
from textrawl.errors import DatabaseUnavailable, StartRefused
from textrawl.postgres.connection import Connection, connect
from textrawl.postgres.conninfo import read_conninfo

# Citus repeats most DDL on all nodes. A migration does that itself, because Citus does not know the
# order of functions, views and policies.
_ALONE = "-c citus.enable_ddl_propagation=off -c client_min_messages=warning"
_OLDEST_CITUS = 12
_TIMEOUT = 10.0  # seconds to connect to a node


@dataclass(frozen=True)
class Nodes:
    """The conninfos of the coordinator and of the workers, for a superuser."""

    coordinator: str
    workers: dict[Node, str]

    @property
    def all(self) -> list[str]:
        """The conninfos of all nodes, the coordinator first."""
        return [self.coordinator, *self.workers.values()]


@asynccontextmanager
async def open_node(conninfo: str) -> AsyncGenerator[Connection]:
    """Connect to a node for its own DDL, which Citus does not repeat elsewhere.

    Raises StartRefused, which names the node, if it refuses the login. Raises DatabaseUnavailable.
    """
    try:
        connection = await connect(keep_alone(conninfo), _TIMEOUT)
    except StartRefused as error:
        parts = read_conninfo(conninfo)
        raise StartRefused(f"{parts.get('host')}:{parts.get('port', '5432')}: {error}") from error
    async with connection:
        yield connection


def keep_alone(conninfo: str) -> str:
    """Return the conninfo of sessions whose DDL Citus does not repeat on other nodes."""
    return make_conninfo(conninfo, options=_ALONE)


async def find_nodes(conninfo: str) -> Nodes:
    """Return the nodes of the cluster whose coordinator is at `conninfo`.

    Raises StartRefused if the server is not the coordinator of a cluster with workers, or if the
    login may not create a distributed memory there.
    """
    async with open_node(conninfo) as connection:
        await _check_server(connection)
        query = """
            select nodeid, nodename, nodeport from pg_dist_node
            where noderole = 'primary' and isactive and groupid <> 0
            order by nodeid"""
        rows = await (await connection.execute(query)).fetchall()
    if not rows:
        raise StartRefused(
            "The cluster has no workers yet: run "
            "`select citus_set_coordinator_host('HOST')` and, for each worker, "
            "`select citus_add_node('HOST', 5432)` on the coordinator"
        )
    nodes = [Node(*row) for row in rows]
    return Nodes(conninfo, {node: node.find(conninfo) for node in nodes})


async def require_workers(nodes: Nodes) -> None:
    """Raise StartRefused if a worker cannot be reached."""
    for node, conninfo in nodes.workers.items():
        try:
            async with open_node(conninfo):
                pass
        except DatabaseUnavailable as error:
            raise StartRefused(
                f"The worker {node.address} does not answer, but all workers are needed: start "
                "it, then repeat the command; nothing was changed"
            ) from error


async def _check_server(connection: AsyncConnection) -> None:
    query = """
        select (select extversion from pg_extension where extname = 'citus'),
            (select rolsuper from pg_roles where rolname = current_user),
            current_setting('wal_level')"""
    version, superuser, wal_level = await _fetch(connection, query)
    if version is None:
        raise StartRefused(
            "The extension Citus is missing in this database: install it on all nodes, and run "
            "`create extension citus` in a database of the same name on each of them"
        )
    if int(str(version).split(".")[0].split("-")[0]) < _OLDEST_CITUS:
        raise StartRefused(f"Citus {version} is too old: textrawl needs {_OLDEST_CITUS} or newer")
    if not superuser:
        raise StartRefused(
            "Only a superuser can manage a distributed memory: use a TEXTRAWL_DATABASE_URL of a "
            "superuser for `textrawl migrate --distributed` and `textrawl cluster`"
        )
    if wal_level != "logical":
        raise StartRefused(
            "The workers copy the directory by logical replication: set `wal_level = logical` on "
            "all nodes, and start them again"
        )
    if await _fetch(connection, "select groupid from pg_dist_local_group") != (0,):
        raise StartRefused("This node is a worker: set TEXTRAWL_DATABASE_URL to the coordinator")


async def _fetch(connection: AsyncConnection, query: LiteralString) -> tuple[object, ...]:
    row = cast("tuple[object, ...] | None", await (await connection.execute(query)).fetchone())
    return row or ()
