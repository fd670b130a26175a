"""The sizes of nodes, cells and spaces, for administrators."""

from dataclasses import dataclass

from psycopg import AsyncConnection, sql

from textrawl.distribution.layout import CONTENT
from textrawl.distribution.map import Cell, CellMap, Node, find_shards, read_map
from textrawl.distribution.nodes import Nodes, open_node
from textrawl.distribution.shards import list_shards
from textrawl.errors import DatabaseUnavailable

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
    query = sql.SQL("select space_id, count(*) from {} where relation_id is null group by 1")
    facts = sql.Identifier(CONTENT, f"observation_{shards['observation']}")
    counted = await (await worker.execute(query.format(facts))).fetchall()
    return CellSize(dict(counted), row[0] if row else 0)


def _sum_node(
    node: Node, cells: CellMap, shards: dict[int, int], sizes: dict[int, CellSize]
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
