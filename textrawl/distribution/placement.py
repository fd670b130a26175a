"""Moves of cells from node to node, and cells for one space: thin calls of functions of Citus."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import LiteralString, cast

import anyio
import psycopg
from psycopg import AsyncConnection
from psycopg.rows import args_row

from textrawl.distribution.map import Cell, CellMap, Node, find_shards, read_map
from textrawl.distribution.nodes import Nodes
from textrawl.distribution.repair import find_faults, repair_cells
from textrawl.errors import StartRefused

_ENTITY = "textrawl_content.entity"

# Logical replication finds a row by its primary key. Without one it cannot follow changes.
_MODE = """
    select case when exists (
        select from pg_dist_partition d
        join pg_class c on c.oid = d.logicalrelid
        where d.colocationid = (
            select colocationid from pg_dist_partition where logicalrelid = %(entity)s::regclass)
          and c.relreplident <> 'f'
          and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
    ) then 'block_writes' else 'force_logical' end
"""
_MOVE = """
    select citus_move_shard_placement(
        %(shard)s, %(host)s, %(port)s, %(new_host)s, %(new_port)s,
        shard_transfer_mode => %(mode)s::citus.shard_transfer_mode)
"""
# With `auto`, a division under load did not end.
_ISOLATE = """
    select isolate_tenant_to_new_shard(
        %s::regclass, %s::integer, 'CASCADE', shard_transfer_mode => 'block_writes')
"""
_PLAN = """
    select shardid, targetname, targetport
    from get_rebalance_table_shards_plan(%(entity)s::regclass, rebalance_strategy => 'by_disk_size')
    where table_name = %(entity)s::regclass
"""


@dataclass(frozen=True)
class Move:
    """A move of a cell that would balance the nodes."""

    shard: int
    host: str
    port: int


async def move_cell(connection: AsyncConnection, nodes: Nodes, cell: Cell, target: Node) -> None:
    """Move a cell while its spaces are read and written.

    `connection` leads to the coordinator, and Citus repeats its DDL. Calls of the cell fail from
    the end of the move until the cell is built on `target`. Servers repeat them.
    """
    await _require(nodes, await read_map(connection), cell.node, target)
    mode = await _fetch(connection, _MODE, {"entity": _ENTITY})
    arguments = {
        "shard": cell.shard,
        "host": cell.node.host,
        "port": cell.node.port,
        "new_host": target.host,
        "new_port": target.port,
        "mode": mode,
    }
    async with _repairing(connection, nodes):
        await connection.execute(_MOVE, arguments)


async def isolate_space(connection: AsyncConnection, nodes: Nodes, space: int) -> Cell | None:
    """Give a space a cell of its own on its node, and return it. Writes wait meanwhile.

    Return None if the space has a cell of its own already.
    """
    cells = await read_map(connection)
    cell = await find_cell(connection, cells, space)
    if cell.low == cell.high:
        return None
    await _require(nodes, cells, cell.node)
    async with _repairing(connection, nodes):
        await connection.execute(_ISOLATE, (_ENTITY, space))
    return await find_cell(connection, await read_map(connection), space)


@contextmanager
def explain_refusals() -> Generator[None]:
    """Turn errors of Postgres and of Citus into StartRefused, which says what to do."""
    try:
        yield
    except psycopg.Error as error:
        raise StartRefused(
            f"The cluster refused: {error.diag.message_primary or error}. Repeat the command when "
            "the cause is mended: it also repairs cells"
        ) from error


async def plan_rebalance(connection: AsyncConnection) -> list[Move]:
    """Return the moves that would balance the sizes of the nodes."""
    cursor = connection.cursor(row_factory=args_row(Move))
    await cursor.execute(_PLAN, {"entity": _ENTITY})
    return await cursor.fetchall()


async def find_cell(connection: AsyncConnection, cells: CellMap, space: int) -> Cell:
    """Return the cell of a space."""
    shards = await find_shards(connection, [space])
    return cast("Cell", cells.find_cell(shards[space]))


@asynccontextmanager
async def _repairing(connection: AsyncConnection, nodes: Nodes) -> AsyncGenerator[None]:
    """Let the cells follow the shards after the block, even if it failed or was interrupted."""
    try:
        yield
    finally:
        if not connection.closed:
            with anyio.CancelScope(shield=True):
                await repair_cells(connection, nodes)


async def _require(nodes: Nodes, cells: CellMap, *needed: Node) -> None:
    away = (await find_faults(nodes, cells)).away
    for node in needed:
        if node in away:
            raise StartRefused(
                f"The worker {node.host}:{node.port} does not answer: start it, then repeat the "
                "command; nothing was changed"
            )


async def _fetch(
    connection: AsyncConnection, query: LiteralString, values: dict[str, object]
) -> object:
    row = await (await connection.execute(query, values)).fetchone()
    return row[0] if row else None
