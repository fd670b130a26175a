"""Calls while cells move and workers are away: one call does not spoil another."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
import psycopg
import pytest
from anyio import to_thread
from psycopg import sql

from tests.cluster.commands import execute
from tests.cluster.settlers import Settlers
from tests.support.cluster import ClusterMemory
from textrawl.cluster.cell_calls import Entry, NodePool
from textrawl.cluster.opening import open_connection
from textrawl.cluster.planning import SpaceCells
from textrawl.embedded.postmaster import SUPERUSER
from textrawl.errors import TextrawlError
from textrawl.postgres.connection import Connection
from textrawl.postgres.database import Database
from textrawl.scheduling import account

pytestmark = pytest.mark.anyio

_LIMIT = 8.0  # seconds of a call


@dataclass(frozen=True)
class _Stored:
    observation_id: object


@dataclass(frozen=True)
class _Hit:
    content: str


async def test_a_connection_is_of_use_after_a_call_of_a_cell_that_has_moved(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    """The sixth call prepares the statement, just when the one before it in the pipeline fails."""
    here = settlers.cells[settlers.pick()]
    there = next(cell for cell in memory.cells.values() if cell.node != here.node)
    pool = NodePool(memory.dsn(), here.node, timeout=10, max_size=1, note_connection=lambda: None)
    await pool.open()
    try:
        for _ in range(5):
            assert await pool.ask(b"select %(word)s", {"word": "tea"}, _enter(here.shard))
        with pytest.raises(psycopg.DatabaseError, match="was moved"):
            await pool.ask(b"select %(word)s", {"word": "tea"}, _enter(there.shard))
        assert await pool.ask(b"select %(word)s", {"word": "tea"}, _enter(here.shard))
    finally:
        await pool.close()


async def test_a_map_that_is_forgotten_during_a_call_is_still_that_of_the_call(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    async def ask(question: Callable[[Connection], Awaitable[Any]]) -> Any:
        async with await Connection.connect(memory.dsn(), autocommit=True) as connection:
            reply = await question(connection)
        cells.forget_map()  # as another call does that meets a cell that has moved
        return reply

    cells = SpaceCells(ask)

    assert len((await cells.find_map()).cells) == len(memory.cells)
    found = await cells.find_shards(settlers.spaces)
    assert sorted(space for part in found.values() for space in part) == sorted(settlers.spaces)


async def test_calls_of_a_worker_that_hangs_do_not_delay_those_of_another(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    """The calls are of one actor, who can have only two calls at once on each worker."""
    lost = settlers.spaces[0]
    other = settlers.pick(away_from=lost)
    node = memory.cluster.find_node(settlers.cells[lost].node)
    async with open_connection(memory.dsn(), timeout=_LIMIT) as database:
        for space in (lost, other):
            await _remember(database, settlers, space, "drinks tea")
        node.freeze()
        try:
            account.set("ana")
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(_try_to_remember, database, settlers, lost)
                await anyio.wait_all_tasks_blocked()
                began = time.monotonic()
                await _remember(database, settlers, other, "drinks coffee")
                assert time.monotonic() - began < _LIMIT / 2
                node.thaw()
        finally:
            node.thaw()


async def test_a_worker_that_comes_back_shows_nothing_of_a_cell_that_has_moved(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    """The cell was moved by Citus alone, and its worker was away when cells were repaired."""
    space = settlers.spaces[0]
    cell = settlers.cells[space]
    former = memory.cluster.find_node(cell.node)
    [target] = [node for node in memory.cluster.workers if node != former]
    async with (
        open_connection(memory.dsn(), timeout=_LIMIT) as reading,
        open_connection(memory.dsn(), timeout=_LIMIT) as writing,
    ):
        await _remember(writing, settlers, space, "drinks tea")
        assert await _search(reading, settlers, space) == {"drinks tea"}
        with memory.open(SUPERUSER) as session:
            move = "select citus_move_shard_placement(%s, %s, %s, %s, %s, 'force_logical')"
            places = (former.host, former.port, target.host, target.port)
            session.execute(move, (cell.shard, *places))
        former.kill()
        try:
            words = ("cluster", "rebalance", "--yes")
            await to_thread.run_sync(lambda: execute(memory.dsn(SUPERUSER), *words))
            await _remember(writing, settlers, space, "drinks coffee")
        finally:
            former.start()
        assert await _search(reading, settlers, space) == {"drinks tea", "drinks coffee"}


async def _remember(database: Database, settlers: Settlers, space: int, text: str) -> None:
    fact = {"entity": "Ana", "type": "person", "observation": text, "tool": "test"}
    await database.call("remember_fact", _Stored, space=space, credential=settlers.ana, **fact)


async def _try_to_remember(database: Database, settlers: Settlers, space: int) -> None:
    try:
        await _remember(database, settlers, space, "drinks water")
    except TextrawlError:
        return


async def _search(database: Database, settlers: Settlers, space: int) -> set[str]:
    asked = {"query": "drinks", "spaces": [space], "credential": settlers.ana, "max_rows": 10}
    return {hit.content for hit in await database.call("search_memory", _Hit, **asked)}


def _enter(shard: int) -> Entry:
    query = sql.SQL("select textrawl_content.enter_cell({})").format(sql.Literal(shard))
    return Entry(query.as_bytes(None), writes=True, asked=time.monotonic())
