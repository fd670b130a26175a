"""Cells that are not as the map says, for example because a move was interrupted.

Citus moves shards, and textrawl builds the cell where they are then. Between the two there is no
common transaction, so both are compared, and the cells follow.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import anyio
from psycopg import AsyncConnection, sql

from textrawl.distribution.cells import build_cell, drop_cell, find_vector_schema, write_state
from textrawl.distribution.layout import CELLS, CONTENT
from textrawl.distribution.map import Cell, CellMap, Node, read_map
from textrawl.distribution.nodes import Nodes, open_node
from textrawl.distribution.shards import list_shards
from textrawl.errors import DatabaseUnavailable, StartRefused

Kind = Literal["left over", "missing", "outdated"]

# Two commands at the same time would build and drop the same cells.
_CLAIM = "select pg_try_advisory_lock(hashtextextended('textrawl cluster', 0))"
_SCHEMAS = """
    select nspname::text, obj_description(oid, 'pg_namespace') from pg_namespace
    where starts_with(nspname, %s) order by nspname
"""


@dataclass(frozen=True)
class Fault:
    """A schema of a cell on `node` that is missing, has old code, or should not be there."""

    kind: Kind
    schema: str
    node: Node
    cell: Cell | None  # None for a schema that is left over


@dataclass(frozen=True)
class Findings:
    """The faults of all cells, and the nodes that did not answer."""

    faults: tuple[Fault, ...]
    away: tuple[Node, ...]


@asynccontextmanager
async def claim_cluster(connection: AsyncConnection) -> AsyncGenerator[None]:
    """Let no other command change cells meanwhile. `connection` leads to the coordinator."""
    row = await (await connection.execute(_CLAIM)).fetchone()
    if row != (True,):
        raise StartRefused(
            "Another command is changing the cluster: wait until it has ended, then repeat this one"
        )
    try:
        yield
    finally:
        if not connection.closed:
            await connection.execute("select pg_advisory_unlock_all()")


async def find_faults(nodes: Nodes, cells: CellMap) -> Findings:
    """Compare the cells of all nodes with the map."""
    faults: list[Fault] = []
    away: list[Node] = []
    for node, conninfo in nodes.workers.items():
        try:
            async with open_node(conninfo) as worker:
                cursor = await worker.execute(_SCHEMAS, (CELLS,))
                states = dict(await cursor.fetchall())
        except DatabaseUnavailable:
            away.append(node)
            continue
        faults += _compare(node, states, [cell for cell in cells.cells if cell.node == node])
    return Findings(tuple(faults), tuple(away))


async def repair_cells(
    connection: AsyncConnection, nodes: Nodes, *, anew: bool = False
) -> Findings:
    """Drop cells that are left over, and build those that are missing or outdated.

    `connection` leads to the coordinator. With `anew`, build all cells. Return what was found.
    Nodes that are away are skipped.
    """
    cells = await read_map(connection)
    findings = await find_faults(nodes, cells)
    # Nobody may read what a cell was, once the new one is written to.
    for fault in findings.faults:
        if fault.cell is None:
            async with open_node(nodes.workers[fault.node]) as worker:
                await drop_cell(worker, fault.schema)
    broken = [fault.cell for fault in findings.faults if fault.cell is not None]
    async with anyio.create_task_group() as tasks:
        for node, conninfo in nodes.workers.items():
            own = [cell for cell in (cells.cells if anew else broken) if cell.node == node]
            if own and node not in findings.away:
                tasks.start_soon(_build_cells, conninfo, own)
    return findings


async def _build_cells(conninfo: str, cells: Sequence[Cell]) -> None:
    async with open_node(conninfo) as worker:
        schema = await find_vector_schema(worker)
        for cell in cells:
            await build_cell(worker, cell, schema)
        await worker.execute("select textrawl_content.match_models()")
        for cell in cells:
            await _analyze(worker, cell)


def _compare(node: Node, states: dict[str, str | None], cells: Sequence[Cell]) -> list[Fault]:
    known = {cell.schema for cell in cells}
    faults = [Fault("left over", name, node, None) for name in states if name not in known]
    for cell in cells:
        if cell.schema not in states:
            faults.append(Fault("missing", cell.schema, node, cell))
        elif states[cell.schema] != write_state(cell):
            faults.append(Fault("outdated", cell.schema, node, cell))
    return faults


async def _analyze(worker: AsyncConnection, cell: Cell) -> None:
    """Count the rows of the shards, because copied tables have no statistics yet."""
    for table, shard in (await list_shards(worker, cell)).items():
        name = sql.Identifier(CONTENT, f"{table}_{shard}")
        await worker.execute(sql.SQL("analyze {}").format(name))
