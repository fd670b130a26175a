"""Moves of cells from node to node, and cells for one space: thin calls of functions of Citus."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import cast

import anyio
import psycopg
from psycopg import AsyncConnection
from psycopg.rows import args_row

from textrawl.distribution.map import Cell, CellMap, Node, find_shards, read_map
from textrawl.distribution.nodes import Nodes
from textrawl.distribution.repair import find_faults, repair_cells
from textrawl.distribution.watched_moves import execute_watched
from textrawl.errors import DatabaseUnavailable, StartRefused
from textrawl.postgres.conninfo import describe_failure

_ENTITY = "textrawl_content.entity"

# Logical replication needs a primary key in each table of content, which a test asks for.
_MOVE = """
    select citus_move_shard_placement(
        %s, %s, %s, %s, %s, shard_transfer_mode => 'force_logical')
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
    former = cell.node
    arguments = (cell.shard, former.host, former.port, target.host, target.port)
    async with _repairing(connection, nodes):
        await execute_watched(connection, nodes, (former, target), _MOVE, arguments)


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
        await execute_watched(connection, nodes, (cell.node,), _ISOLATE, (_ENTITY, space))
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
    except DatabaseUnavailable as error:
        raise StartRefused(
            "A server of the cluster does not answer any more: start it, then repeat the command, "
            f"which also repairs cells. {describe_failure(error.__cause__) or ''}".strip()
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
                f"The worker {node.address} does not answer: start it, then repeat the "
                "command; nothing was changed"
            )
