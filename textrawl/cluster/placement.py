"""Moves, repairs and sizes of cells, by functions of Citus."""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, LiteralString, cast

import anyio
import psycopg
from psycopg import AsyncConnection
from psycopg.rows import args_row

from textrawl.cluster.cells import (
    build_cell,
    drop_cell,
    list_shards,
    write_state,
)
from textrawl.cluster.layout import CELLS, CONTENT, Cell, CellMap, CitusNode, find_shards, read_map
from textrawl.cluster.nodes import Nodes, open_node
from textrawl.errors import DatabaseUnavailable, StartRefused
from textrawl.postgres.connection import (
    change,
    compose_names,
    describe_failure,
    find_vector_schema,
)

_PAUSE = 3.0  # seconds between two looks at a worker
_MOST_MISSES = 3  # a busy machine can miss a look


async def execute_watched(
    connection: AsyncConnection,
    nodes: Nodes,
    needed: Sequence[CitusNode],
    statement: LiteralString,
    values: Sequence[object],
) -> None:
    """Execute a statement on the coordinator, and cancel it if a worker ends or does not answer.

    Raises StartRefused, which names this worker, and psycopg.Error.
    """
    lost: list[CitusNode] = []
    failure: psycopg.Error | None = None

    async def watch(node: CitusNode, start: datetime | None) -> None:
        await _wait_for_end(nodes.workers[node], start)
        lost.append(node)
        await connection.cancel_safe()

    starts = {node: await _find_start(nodes.workers[node]) for node in needed}
    async with anyio.create_task_group() as tasks:
        for node, start in starts.items():
            tasks.start_soon(watch, node, start)
        try:
            await connection.execute(statement, values)
        except psycopg.Error as error:
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise _explain(lost[0]) if lost else failure


def _explain(lost: CitusNode) -> StartRefused:
    return StartRefused(
        f"The worker {lost.address} went away meanwhile: start it, then repeat the command, which "
        "also repairs cells"
    )


async def _wait_for_end(conninfo: str, start: datetime | None) -> None:
    """Wait until a worker that was started at `start` has ended, or does not answer any more."""
    misses = 0
    while misses < _MOST_MISSES:
        await anyio.sleep(_PAUSE)
        now = await _find_start(conninfo)
        misses = misses + 1 if now is None else 0
        if now not in (None, start):
            return


async def _find_start(conninfo: str) -> datetime | None:
    """Return the time at which a worker was started, or None if it does not answer."""
    try:
        async with open_node(conninfo) as worker:
            row = await (await worker.execute("select pg_postmaster_start_time()")).fetchone()
    except DatabaseUnavailable:
        return None
    return row[0] if row else None


Kind = Literal["left over", "missing", "outdated"]

# Two commands at the same time would build and drop the same cells.
_CLAIM = "select pg_try_advisory_lock(hashtextextended('textrawl cluster', 0))"
_SCHEMAS = """
    select nspname::text, obj_description(oid, 'pg_namespace') from pg_namespace
    where starts_with(nspname, %s) order by nspname
"""


@dataclass(frozen=True)
class CellFault:
    """A schema of a cell on `node` that is missing, has old code, or should not be there."""

    kind: Kind
    schema: str
    node: CitusNode
    cell: Cell | None  # None for a schema that is left over


@dataclass(frozen=True)
class CellFindings:
    """The faults of all cells, and the nodes that did not answer."""

    faults: tuple[CellFault, ...]
    away: tuple[CitusNode, ...]


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


async def find_faults(nodes: Nodes, cells: CellMap) -> CellFindings:
    """Compare the cells of all nodes with the map."""
    faults: list[CellFault] = []
    away: list[CitusNode] = []
    for node, conninfo in nodes.workers.items():
        try:
            async with open_node(conninfo) as worker:
                cursor = await worker.execute(_SCHEMAS, (CELLS,))
                states = dict(await cursor.fetchall())
        except DatabaseUnavailable:
            away.append(node)
            continue
        faults += _compare(node, states, [cell for cell in cells.cells if cell.node == node])
    return CellFindings(tuple(faults), tuple(away))


async def repair_cells(
    connection: AsyncConnection, nodes: Nodes, *, anew: bool = False
) -> CellFindings:
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
        for cell in cells:  # copied tables have no statistics yet
            for table, shard in (await list_shards(worker, cell)).items():
                await change(worker, "analyze {}", (CONTENT, f"{table}_{shard}"))


def _compare(
    node: CitusNode, states: dict[str, str | None], cells: Sequence[Cell]
) -> list[CellFault]:
    known = {cell.schema for cell in cells}
    faults = [CellFault("left over", name, node, None) for name in states if name not in known]
    for cell in cells:
        if cell.schema not in states:
            faults.append(CellFault("missing", cell.schema, node, cell))
        elif states[cell.schema] != write_state(cell):
            faults.append(CellFault("outdated", cell.schema, node, cell))
    return faults


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


async def move_cell(
    connection: AsyncConnection, nodes: Nodes, cell: Cell, target: CitusNode
) -> None:
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


async def _require(nodes: Nodes, cells: CellMap, *needed: CitusNode) -> None:
    away = (await find_faults(nodes, cells)).away
    for node in needed:
        if node in away:
            raise StartRefused(
                f"The worker {node.address} does not answer: start it, then repeat the "
                "command; nothing was changed"
            )


_BYTES = """
    select coalesce(sum(pg_total_relation_size(to_regclass(name))), 0)::bigint
    from unnest(%s::text[]) as name
"""


@dataclass(frozen=True)
class CellSize:
    """The number of facts of each space of a cell, and the bytes of all its tables and indexes."""

    facts: dict[int, int]
    bytes: int


@dataclass(frozen=True)
class SpaceSize:
    """A space in its cell. `facts` and `cell_bytes` are None if the node does not answer."""

    space: str
    cell: int
    node: str
    facts: int | None
    cell_bytes: int | None


@dataclass(frozen=True)
class NodeSize:
    """A worker with its cells. The other numbers are None if it does not answer."""

    node: str
    cells: int
    spaces: int
    facts: int | None
    bytes: int | None


@dataclass(frozen=True)
class ClusterSizes:
    """All workers and all spaces."""

    nodes: tuple[NodeSize, ...]
    spaces: tuple[SpaceSize, ...]


async def measure_cluster(connection: AsyncConnection, nodes: Nodes) -> ClusterSizes:
    """Count facts and bytes on all workers. `connection` leads to the coordinator."""
    cells = await read_map(connection)
    names = await list_spaces(connection)
    shards = await find_shards(connection, list(names))
    sizes: dict[int, CellSize] = {}
    for node, conninfo in nodes.workers.items():
        sizes |= await _measure_node(conninfo, [cell for cell in cells.cells if cell.node == node])
    return ClusterSizes(
        tuple(_sum_node(node, cells, shards, sizes) for node in nodes.workers),
        tuple(
            _describe_space(name, space, cells, shards[space], sizes.get(shards[space]))
            for space, name in sorted(names.items(), key=lambda item: item[1])
        ),
    )


async def list_spaces(connection: AsyncConnection) -> dict[int, str]:
    """Return the names of all spaces by their ids, sorted by name."""
    query = "select id, name from textrawl.space order by name"
    return dict(await (await connection.execute(query)).fetchall())


async def _measure_node(conninfo: str, cells: list[Cell]) -> dict[int, CellSize]:
    try:
        async with open_node(conninfo) as worker:
            await worker.execute("set citus.override_table_visibility = off")
            return {cell.shard: await _measure_cell(worker, cell) for cell in cells}
    except DatabaseUnavailable:
        return {}


async def _measure_cell(worker: AsyncConnection, cell: Cell) -> CellSize:
    shards = await list_shards(worker, cell)
    tables = [f"{CONTENT}.{table}_{shard}" for table, shard in shards.items()]
    row = await (await worker.execute(_BYTES, (tables,))).fetchone()
    query = "select space_id, count(*) from {} where relation_id is null group by 1"
    facts = compose_names(query, (CONTENT, f"observation_{shards['observation']}"))
    counted = await (await worker.execute(facts)).fetchall()
    return CellSize(dict(counted), row[0] if row else 0)


def _sum_node(
    node: CitusNode, cells: CellMap, shards: dict[int, int], sizes: dict[int, CellSize]
) -> NodeSize:
    own = {cell.shard for cell in cells.cells if cell.node == node}
    known = own <= sizes.keys()
    spaces = sum(shard in own for shard in shards.values())
    return NodeSize(
        node.address,
        len(own),
        spaces,
        sum(sum(sizes[shard].facts.values()) for shard in own) if known else None,
        sum(sizes[shard].bytes for shard in own) if known else None,
    )


def _describe_space(
    name: str, space: int, cells: CellMap, shard: int, size: CellSize | None
) -> SpaceSize:
    cell = cells.find_cell(shard)
    node = cell.node.address if cell else ""
    if size is None:
        return SpaceSize(name, shard, node, None, None)
    return SpaceSize(name, shard, node, size.facts.get(space, 0), size.bytes)
