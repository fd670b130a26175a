"""Statements of Citus that move shards, which end when one of their workers goes away.

Citus can wait for such a worker for hours, and holds its locks meanwhile.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString

import anyio
import psycopg
from psycopg import AsyncConnection

from textrawl.distribution.map import Node
from textrawl.distribution.nodes import Nodes, open_node
from textrawl.errors import DatabaseUnavailable, StartRefused

_PAUSE = 3.0  # seconds between two looks at a worker
_MOST_MISSES = 3  # a busy machine can miss a look


async def execute_watched(
    connection: AsyncConnection,
    nodes: Nodes,
    needed: Sequence[Node],
    statement: LiteralString,
    values: Sequence[object],
) -> None:
    """Execute a statement on the coordinator, and cancel it if a worker ends or does not answer.

    Raises StartRefused, which names this worker, and psycopg.Error.
    """
    lost: list[Node] = []
    failure: psycopg.Error | None = None

    async def watch(node: Node, start: datetime | None) -> None:
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


def _explain(lost: Node) -> StartRefused:
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
