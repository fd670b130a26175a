"""The nodes of a Citus cluster: connections, logins, and copies of the directory."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, LiteralString

import anyio
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo

from textrawl.cluster.layout import CONTENT, DIRECTORY, MEMORY, WORKER_REFUSED, CitusNode
from textrawl.errors import DatabaseUnavailable, StartRefused
from textrawl.postgres.connection import (
    Connection,
    change,
    compose_names,
    connect,
    make_password,
    read_conninfo,
    write_verifier,
)
from textrawl.postgres.migrations import APP_ROLE, enable_login

# Citus repeats most DDL on all nodes. A migration does that itself, because Citus does not know the
# order of functions, views and policies.
_ALONE = "-c citus.enable_ddl_propagation=off -c client_min_messages=warning"
_OLDEST_CITUS = 12
_TIMEOUT = 10.0  # seconds to connect to a node


@dataclass(frozen=True)
class Nodes:
    """The conninfos of the coordinator and of the workers, for a superuser."""

    coordinator: str
    workers: dict[CitusNode, str]

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
    nodes = [CitusNode(*row) for row in rows]
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
        raise StartRefused(WORKER_REFUSED)


async def _fetch(
    connection: AsyncConnection, query: LiteralString, *values: object
) -> tuple[Any, ...]:
    """Return the first row, or an empty tuple."""
    return await (await connection.execute(query, values)).fetchone() or ()


PUBLICATION = "textrawl_directory"  # each worker has a subscription of this name, too
TABLES = (*((MEMORY, name) for name in DIRECTORY), (CONTENT, "directory_mark"))
_LONGEST_END = 30.0  # seconds that the connection of a former subscription may need to end
_PAUSE = 0.02
_COLUMNS = """
    select array_agg(attname::text order by attnum) from pg_attribute
    where attrelid = %s::regclass and attnum > 0 and not attisdropped and attgenerated = ''
"""


async def copy_directory(
    coordinator: AsyncConnection, worker: AsyncConnection, *, slot: str, dsn: str
) -> None:
    """Give a worker the rows of the directory, and let it follow their changes from now on.

    A copy that exists is replaced, and readers see no state between the two. `slot` is the name of
    the worker's replication slot on the coordinator, and `dsn` leads the worker there.
    """
    former = await find_slot(worker)
    if former is not None:
        # Its coordinator can be gone, and then cannot drop the slot.
        await change(worker, "alter subscription {} disable", PUBLICATION)
        await change(worker, "alter subscription {} set (slot_name = none)", PUBLICATION)
        await change(worker, "drop subscription {}", PUBLICATION)
    await _drop_slots(coordinator, {slot, former or slot})
    # The slot keeps all changes from here on, and the lock lets nobody change rows while they are
    # copied. Without this order, the creation of the slot would wait for calls that wait for it.
    await _subscribe(worker, slot, dsn)
    async with coordinator.transaction():
        await change(coordinator, "lock table {} in share mode", _list_tables())
        # A slot advances only over flushed changes. The switch also flushes commits that were
        # acknowledged without `synchronous_commit`.
        [position] = await _fetch(coordinator, "select pg_switch_wal()")
        await coordinator.execute("select pg_replication_slot_advance(%s, %s)", (slot, position))
        await _replace_rows(coordinator, worker)
    await change(worker, "alter subscription {} enable", PUBLICATION)


async def find_slot(worker: AsyncConnection) -> str | None:
    """Return the slot of a worker's copy, or None if it has no copy.

    The name is empty if an interrupted migration has taken the slot from the copy.
    """
    query = """
        select coalesce(s.subslotname::text, '') from pg_subscription s
        join pg_database d on d.oid = s.subdbid
        where s.subname = %s and d.datname = current_database()"""
    row = await _fetch(worker, query, PUBLICATION)
    return row[0] if row else None


async def _drop_slots(coordinator: AsyncConnection, names: set[str]) -> None:
    """Drop replication slots when they are free: the connection of a worker takes a while to end.

    Raises StartRefused if a slot stays in use.
    """
    drop = """
        select pg_drop_replication_slot(slot_name) from pg_replication_slots
        where slot_name = any(%s) and not active"""
    left = "select slot_name from pg_replication_slots where slot_name = any(%s)"
    slots = (sorted(names),)
    with anyio.move_on_after(_LONGEST_END):
        while True:
            await coordinator.execute(drop, slots)
            if not await _fetch(coordinator, left, *slots):
                return
            await anyio.sleep(_PAUSE)
    raise StartRefused(
        f"A replication slot of the coordinator is still in use ({', '.join(slots[0])}): end the "
        "server that uses it, such as a former worker, then repeat this"
    )


async def _subscribe(worker: AsyncConnection, slot: str, dsn: str) -> None:
    # The owner of the subscription is a superuser, who may write to tables with row-level security.
    await change(
        worker,
        "create subscription {0} connection {1} publication {0} "
        "with (slot_name = {2}, run_as_owner, copy_data = false, enabled = false)",
        PUBLICATION,
        sql.Literal(dsn),
        sql.Literal(slot),
    )


async def _replace_rows(coordinator: AsyncConnection, worker: AsyncConnection) -> None:
    async with worker.transaction():
        # As in a subscription, triggers and keys do not act: the coordinator has checked the rows.
        await worker.execute("set local session_replication_role = replica")
        for table in TABLES:
            await change(worker, "delete from {}", table)
        for table in TABLES:
            name = sql.Identifier(*table)
            [names] = await _fetch(coordinator, _COLUMNS, name.as_string())
            columns = sql.SQL(", ").join(map(sql.Identifier, names))
            read = compose_names("copy {} ({}) to stdout (format binary)", name, columns)
            write = compose_names("copy {} ({}) from stdin (format binary)", name, columns)
            async with coordinator.cursor().copy(read) as rows, worker.cursor().copy(write) as copy:
                async for part in rows:
                    await copy.write(part)


def _list_tables() -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(*table) for table in TABLES)


_REPLICATOR = "textrawl_replicator"


async def publish_directory(connection: AsyncConnection) -> None:
    """Publish the directory on the coordinator, and create the login of the workers.

    The login reads all rows of the directory, and nothing else.
    """
    await change(connection, "create publication {} for table {}", PUBLICATION, _list_tables())
    query = "select true from pg_roles where rolname = %s"
    verb = "alter" if await _fetch(connection, query, _REPLICATOR) else "create"
    create = "{} role {} login replication bypassrls"
    await change(connection, create, sql.SQL(verb), _REPLICATOR)
    for schema in (MEMORY, CONTENT):
        await change(connection, "grant usage on schema {} to {}", schema, _REPLICATOR)
    await change(connection, "grant select on {} to {}", _list_tables(), _REPLICATOR)


async def follow_directory(connection: AsyncConnection, nodes: Nodes) -> None:
    """Let each worker copy the directory. A copy that exists is made anew.

    After a failover of the coordinator, the new one has no slots, and can have another address.
    After one of a worker, its standby can have missed a change. The slots of workers that have left
    the cluster are dropped, because the coordinator would keep its log for them.
    """
    former = [await _find_password(conninfo) for conninfo in nodes.workers.values()]
    password = next((known for known in former if known is not None), None)
    host, port = await _find_coordinator(connection)
    dsn = make_conninfo(
        "",
        host=host,
        port=port,
        dbname=connection.info.dbname,
        user=_REPLICATOR,
        password=password or await _change_password(connection),
    )
    # All databases of the coordinator share the names of slots.
    query = "select oid from pg_database where datname = current_database()"
    [database] = await _fetch(connection, query)
    slots = {node: f"{PUBLICATION}_{node.id}_{database}" for node in nodes.workers}
    await connection.execute(
        """select pg_drop_replication_slot(slot_name) from pg_replication_slots
           where database = current_database() and not active and starts_with(slot_name, %s)
             and slot_name <> all(%s)""",
        (f"{PUBLICATION}_", list(slots.values())),
    )
    for node, conninfo in nodes.workers.items():
        async with open_node(conninfo) as worker:
            await copy_directory(connection, worker, slot=slots[node], dsn=dsn)


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


async def _change_password(connection: AsyncConnection) -> str:
    """Return a new password of the login. Raises StartRefused if another memory needs the old one.

    Its workers are not those of this memory, so the old one is not known.
    """
    query = """
        select database::text from pg_replication_slots
        where starts_with(slot_name, %s) and database <> current_database() limit 1"""
    if row := await _fetch(connection, query, f"{PUBLICATION}_"):
        raise StartRefused(
            f"The workers of the memory {row[0]} log in to this coordinator as {_REPLICATOR}, and "
            "none of them is a worker of this memory: use another coordinator for this memory"
        )
    password = make_password()
    verifier = sql.Literal(write_verifier(password))
    await change(connection, "alter role {} password {}", _REPLICATOR, verifier)
    return password


async def _find_coordinator(connection: AsyncConnection) -> tuple[str, int]:
    """Return the host and the port at which workers reach the coordinator."""
    query = "select nodename, nodeport from pg_dist_node where groupid = 0 and noderole = 'primary'"
    row = await _fetch(connection, query)
    if not row:
        raise StartRefused(
            "The workers do not know the address of the coordinator: run `select "
            "citus_set_coordinator_host('HOST')` on the coordinator, then repeat the migration"
        )
    return str(row[0]), int(row[1])


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
    alter = compose_names("alter role {} login", APP_ROLE)
    if verifier is not None:
        # Postgres takes a verifier instead of a password, so all nodes accept the same password.
        alter += compose_names(" password {}", sql.Literal(verifier))
    for conninfo in nodes.workers.values():
        async with open_node(conninfo) as worker:
            if not (await _read_login(worker))[0]:
                await worker.execute(alter)


async def _read_login(connection: AsyncConnection) -> tuple[bool, str | None]:
    query = "select rolcanlogin, rolpassword from pg_authid where rolname = %s"
    can_log_in, verifier = await _fetch(connection, query, APP_ROLE) or (False, None)
    return can_log_in, verifier
