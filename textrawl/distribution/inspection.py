"""Questions to the nodes of a distributed memory before it is used, with the login of servers."""

import time
from dataclasses import dataclass

import anyio

from textrawl.distribution.map import CellMap, Node, read_map
from textrawl.distribution.nodes import Nodes
from textrawl.distribution.repair import Findings, find_faults
from textrawl.errors import DatabaseUnavailable
from textrawl.postgres.connection import Connection, connect, is_distributed

_PAUSE = 0.02


@dataclass(frozen=True)
class ClusterState:
    """The cells, the faults of workers, and the workers that copied the directory too late."""

    cells: CellMap
    findings: Findings
    late: tuple[Node, ...]


async def inspect_cluster(conninfo: str, *, timeout: float, most_lag: float) -> ClusterState | None:
    """Compare the workers with the coordinator. Return None if the memory is not distributed.

    A worker is late if it does not have the directory of now within `most_lag` seconds.

    Raises DatabaseUnavailable, StartRefused.
    """
    async with await connect(conninfo, timeout) as coordinator:
        if not await is_distributed(coordinator):
            return None
        cells = await read_map(coordinator)
        mark = await _read_mark(coordinator)
    nodes = Nodes(conninfo, {node: node.find(conninfo) for node in cells.nodes})
    findings = await find_faults(nodes, cells)
    present = [node for node in cells.nodes if node not in findings.away]
    end = time.monotonic() + most_lag
    late = [node for node in present if not await _follows(nodes.workers[node], mark, timeout, end)]
    return ClusterState(cells, findings, tuple(late))


async def _follows(worker: str, mark: int, timeout: float, end: float) -> bool:
    try:
        async with await connect(worker, timeout) as connection:
            while await _read_mark(connection) < mark:
                if time.monotonic() > end:
                    return False
                await anyio.sleep(_PAUSE)
    except DatabaseUnavailable:
        return False
    return True


async def _read_mark(connection: Connection) -> int:
    row = await (await connection.execute("select textrawl_content.read_mark()")).fetchone()
    return int(row[0]) if row else 0
