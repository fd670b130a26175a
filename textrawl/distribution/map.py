"""The map of a distributed memory: which cell has a space, and which node has a cell."""

from dataclasses import dataclass
from functools import cached_property

from psycopg import AsyncConnection
from psycopg.rows import args_row

from textrawl.distribution.layout import name_cell
from textrawl.postgres.conninfo import read_conninfo, write_conninfo


@dataclass(frozen=True)
class Node:
    """A worker. Servers reach it at `host` and `port`."""

    id: int
    host: str
    port: int

    @property
    def address(self) -> str:
        """Host and port, as commands write and accept them."""
        return f"{self.host}:{self.port}"

    def find(self, conninfo: str) -> str:
        """Return `conninfo` with the address of this node in place of that of the coordinator."""
        parts = read_conninfo(conninfo)
        for name in ("hostaddr", "target_session_attrs", "load_balance_hosts"):
            parts.pop(name, None)
        return write_conninfo(**parts | {"host": self.host, "port": str(self.port)})


@dataclass(frozen=True)
class Cell:
    """The spaces whose hashes are from `low` to `high`, and the node that they are on.

    `shard` is the id of the cell's shard of the table `entity`. A move gives the shard another
    `placement`, with a higher number.
    """

    shard: int
    low: int
    high: int
    node: Node
    placement: int

    @cached_property
    def schema(self) -> str:
        """The name of the schema of the cell."""
        return name_cell(self.shard)


@dataclass(frozen=True)
class CellMap:
    """All cells, in the order of their shards."""

    cells: tuple[Cell, ...]

    def find_cell(self, shard: int) -> Cell | None:
        """Return the cell with this shard, or None if this map is too old to have it."""
        return self._by_shard.get(shard)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The workers that have cells, in the order of their ids."""
        return tuple(sorted({cell.node for cell in self.cells}, key=lambda node: node.id))

    @cached_property
    def _by_shard(self) -> dict[int, Cell]:
        return {cell.shard: cell for cell in self.cells}


async def read_map(connection: AsyncConnection) -> CellMap:
    """Read the map from the coordinator."""
    cursor = connection.cursor(row_factory=args_row(_build_cell))
    await cursor.execute(
        "select shard, low, high, placement, node, host, port from textrawl_content.list_cells()"
    )
    return CellMap(tuple(await cursor.fetchall()))


async def find_shards(connection: AsyncConnection, spaces: list[int]) -> dict[int, int]:
    """Return the shard of each space, asked from the coordinator."""
    query = "select space, shard from textrawl_content.find_shards(%s)"
    return dict(await (await connection.execute(query, (spaces,))).fetchall())


def _build_cell(
    shard: int, low: int, high: int, placement: int, *node: *tuple[int, str, int]
) -> Cell:
    return Cell(shard, low, high, Node(*node), placement)
