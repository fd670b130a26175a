"""`textrawl migrate --distributed`: a memory on a cluster of Citus, or newer code for it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString, cast

import anyio
from psycopg import AsyncConnection, sql

from textrawl.cluster.layout import (
    CONTENT,
    DIRECTORY,
    MEMORY,
    CellMap,
    CitusNode,
    distribute_content,
    find_owner,
    give_tables,
    list_tables,
    read_map,
    read_mark,
    restrict_citus,
)
from textrawl.cluster.layout import DEFAULT_CELLS as CELLS
from textrawl.cluster.nodes import (
    Nodes,
    copy_login,
    find_nodes,
    find_slot,
    follow_directory,
    keep_alone,
    open_node,
    publish_directory,
    require_workers,
)
from textrawl.cluster.placement import CellFindings, claim_cluster, find_faults, repair_cells
from textrawl.errors import DatabaseUnavailable, StartRefused
from textrawl.postgres.connection import change, connect, is_distributed
from textrawl.postgres.migration_record import plan_migrations
from textrawl.postgres.migrations import MigrationReport, migrate
from textrawl.postgres.sql_files import read_folder

# Only a superuser may distribute a table or send a command to another node.
_OF_SUPERUSER = {"detach_vectors", "distribute_models", "drop_models", "register_actors"}
_MARK = CONTENT, "directory_mark"
_GRANTS: tuple[LiteralString, ...] = (
    "revoke execute on all functions in schema {content} from public",
    "grant usage on schema {content} to textrawl_app, textrawl_analyst",
    # Citus writes to moved shards as a role that inherits only what was granted to the superuser.
    "grant usage on schema {content} to {superuser}",
    "grant execute on all functions in schema {content} to textrawl_app, {owner}",
    # Only functions of cells call it, and they run as the owner.
    "revoke execute on function {actors} from textrawl_app",
    # Only the owner drops a model.
    "revoke execute on function {content}.drop_models from textrawl_app",
)


async def migrate_distributed(conninfo: str, *, cells: int | None = None) -> MigrationReport:
    """Create a distributed memory in an empty database, or rebuild its code.

    Workers that were added to the cluster get what they need for cells.

    `conninfo` is that of a superuser on the coordinator. `cells` is the number of cells of a new
    memory. It stays as it is, because hashes decide which spaces share a cell.

    Raises StartRefused if the server is no coordinator with workers, if the login is not a
    superuser, or if the database already has an ordinary memory.
    """
    nodes = await find_nodes(conninfo)
    await require_workers(nodes)
    async with open_node(conninfo) as connection, claim_cluster(connection):
        exists = await _has_memory(connection)
        if not exists:
            # If the migration is interrupted, the next one can tell.
            await change(connection, "create schema {}", CONTENT)
        elif (await plan_migrations(connection)).missing:  # shards cannot be changed in place
            raise StartRefused(
                "This version of textrawl has other tables, and a distributed memory keeps its "
                "tables: with the former version run `textrawl export`, then import the file into "
                "a new distributed memory"
            )
        reports = [await migrate(keep_alone(node), of_node=True) for node in nodes.all]
        if exists:
            await _prepare_new(connection, nodes)
        else:
            await _distribute(connection, nodes, cells or CELLS)
        await repair_cells(connection, nodes, anew=True)
    await copy_login(nodes)
    return reports[0]


async def _has_memory(connection: AsyncConnection) -> bool:
    """Return whether there is a distributed memory, False if the database is empty."""
    if await is_distributed(connection):
        return True
    cursor = await connection.execute(
        "select to_regnamespace(%s) is not null, to_regnamespace(%s) is not null", (MEMORY, CONTENT)
    )
    exists, was_begun = cast("tuple[bool, bool]", await cursor.fetchone())
    if was_begun:
        raise StartRefused(
            "An earlier `textrawl migrate --distributed` of this database was interrupted: drop "
            "the database on all nodes, create it again with its extensions, add the workers with "
            "`citus_add_node`, then repeat this"
        )
    if exists:
        raise StartRefused(
            "This database already has a memory on one Postgres: use an empty database. "
            "`textrawl export` and `textrawl import` carry a memory there"
        )
    return False


async def _distribute(connection: AsyncConnection, nodes: Nodes, cells: int) -> None:
    for conninfo in nodes.all:
        async with open_node(conninfo) as node:
            await _prepare_node(node)
    await publish_directory(connection)
    await follow_directory(connection, nodes)
    coordinator = await connect(nodes.coordinator, 10)
    async with coordinator:
        await coordinator.execute("set client_min_messages = warning")
        await coordinator.execute("set search_path = pg_catalog")
        await distribute_content(coordinator, cells)
    await _complete_nodes(nodes)


async def _prepare_new(connection: AsyncConnection, nodes: Nodes) -> None:
    """Let workers that were added to the cluster follow the directory."""
    for conninfo in nodes.workers.values():
        async with open_node(conninfo) as worker:
            if await find_slot(worker) is None:
                await _prepare_node(worker)
    await follow_directory(connection, nodes)
    await _complete_nodes(nodes)


async def _complete_nodes(nodes: Nodes) -> None:
    for conninfo in nodes.all:
        async with open_node(conninfo) as node:
            await _create_functions(node)
            await restrict_citus(node)
            await _refuse_rows(node, "content", await list_tables(node))
            if conninfo == nodes.coordinator:
                await give_tables(node, node.info.user)
            else:
                await give_tables(node, await find_owner(node))
                await _refuse_rows(node, "directory", DIRECTORY)


async def _prepare_node(node: AsyncConnection) -> None:
    """Create the schema of content with the number of the newest state of the directory."""
    owner = await find_owner(node)
    # Functions look up sizes and indexes of shards, which Citus hides from the catalogue.
    hide = "alter database {} set citus.override_table_visibility = off"
    await change(node, hide, node.info.dbname)
    await change(node, "create schema if not exists {}", CONTENT)
    await change(node, "alter schema {} owner to {}", CONTENT, owner)
    await change(
        node,
        "create table if not exists {} ("
        "singleton boolean primary key default true check (singleton), number bigint not null)",
        _MARK,
    )
    await change(node, "insert into {} (number) values (0) on conflict do nothing", _MARK)


async def _create_functions(node: AsyncConnection) -> None:
    """Create the functions of sql/cluster, with the rights of the memory's owner if possible."""
    functions = read_folder("cluster")
    for function in functions.values():
        await node.execute(function)
    owner = await find_owner(node)
    await change(node, "alter table {} owner to {}", _MARK, owner)
    for name in functions.keys() - _OF_SUPERUSER:
        await change(node, "alter function {} owner to {}", (CONTENT, name), owner)
    names = {"content": CONTENT, "owner": owner, "superuser": node.info.user}
    for statement in _GRANTS:
        await change(node, statement, actors=(CONTENT, "register_actors"), **names)


async def _refuse_rows(node: AsyncConnection, kind: str, tables: Sequence[str]) -> None:
    """Let tables of the ordinary schema refuse rows that do not belong there."""
    for table in tables:
        await change(
            node,
            "create or replace trigger rows_are_refused before insert or delete on {} "
            "for each row execute function {}({})",
            (MEMORY, table),
            (CONTENT, "refuse_rows"),
            sql.Literal(kind),
        )


_PAUSE = 0.02


@dataclass(frozen=True)
class ClusterState:
    """The cells, the faults of workers, and the workers that copied the directory too late."""

    cells: CellMap
    findings: CellFindings
    late: tuple[CitusNode, ...]


async def inspect_cluster(conninfo: str, *, timeout: float, most_lag: float) -> ClusterState | None:
    """Compare the workers with the coordinator. Return None if the memory is not distributed.

    A worker is late if it does not have the directory of now within `most_lag` seconds.

    Raises DatabaseUnavailable, StartRefused.
    """
    async with await connect(conninfo, timeout) as coordinator:
        if not await is_distributed(coordinator):
            return None
        cells = await read_map(coordinator)
        mark = await read_mark(coordinator)
    nodes = Nodes(conninfo, {node: node.find(conninfo) for node in cells.nodes})
    findings = await find_faults(nodes, cells)
    present = [node for node in cells.nodes if node not in findings.away]
    end = time.monotonic() + most_lag
    late = [node for node in present if not await _follows(nodes.workers[node], mark, timeout, end)]
    return ClusterState(cells, findings, tuple(late))


async def _follows(worker: str, mark: int, timeout: float, end: float) -> bool:
    try:
        async with await connect(worker, timeout) as connection:
            while await read_mark(connection) < mark:
                if time.monotonic() > end:
                    return False
                await anyio.sleep(_PAUSE)
    except DatabaseUnavailable:
        return False
    return True
