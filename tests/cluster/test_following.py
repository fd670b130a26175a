"""Programs follow the trail of a distributed memory, each event once, also across moves."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
import psycopg
import pytest

from tests.cluster.settlers import Settlers
from tests.support.cluster import ClusterMemory
from textrawl.cluster.cluster import ClusterDatabase
from textrawl.cluster.nodes import find_nodes
from textrawl.cluster.placement import isolate_space, move_cell
from textrawl.embedded.postmaster import OWNER, SUPERUSER
from textrawl.memory.command_results import EventFilter, EventRow
from textrawl.memory.trail import Trail

pytestmark = pytest.mark.anyio


@pytest.fixture
async def database(memory: ClusterMemory, settlers: Settlers) -> AsyncIterator[ClusterDatabase]:
    """The database, whose spaces Ana administers."""
    with memory.open(OWNER) as owner:
        scopes = ["read", "write", "admin"]
        for name in settlers.names.values():
            owner.execute("select textrawl.grant_access('ana', %s, %s)", (name, scopes))
        owner.execute("update textrawl.token set scopes = %s", (scopes,))
    memory.send_directory()
    database = ClusterDatabase(memory.dsn(), timeout=10)
    await database.open()
    yield database
    await database.close()


@asynccontextmanager
async def follow(trail: Trail, after: str) -> AsyncGenerator[Any]:
    """What follows a cursor. The limit ends a test that waits in vain, also on a busy machine."""
    with anyio.fail_after(240):
        async with aclosing(trail.follow(after)) as events:
            yield events


async def take(events: Any, number: int) -> list[EventRow]:
    return [await anext(events) for _ in range(number)]


def list_facts(rows: list[EventRow]) -> list[str]:
    """The entities of new facts."""
    return [str(row.entity_name) for row in rows if row.action == "remembered"]


async def test_a_follower_of_one_space_keeps_its_place_when_the_space_moves(
    database: ClusterDatabase, memory: ClusterMemory, settlers: Settlers
) -> None:
    """After a move, and after the space got a cell of its own."""
    space = settlers.spaces[0]
    trail = Trail(database, settlers.ana, space)
    settlers.remember(space, "First", "drinks tea")
    async with follow(trail, "0:0") as events:
        assert list_facts(await take(events, 2)) == ["First"]

        settlers.remember(space, "Second", "drinks tea")
        await _move(memory, settlers, space)
        settlers.remember(space, "Third", "drinks tea")
        assert list_facts(await take(events, 4)) == ["Second", "Third"]

        await _isolate(memory, settlers, space)
        settlers.remember(space, "Fourth", "drinks tea")
        last = await take(events, 2)
        assert list_facts(last) == ["Fourth"]
    [newest, *_] = await trail.list_events(EventFilter(), 1)
    async with follow(trail, newest.cursor) as events:
        settlers.remember(space, "Fifth", "drinks tea")
        assert list_facts(await take(events, 2)) == ["Fifth"]


async def _move(memory: ClusterMemory, settlers: Settlers, space: int) -> None:
    nodes = await find_nodes(memory.dsn(SUPERUSER))
    cell = settlers.cells[space]
    target = next(node for node in nodes.workers if node != cell.node)
    async with await psycopg.AsyncConnection.connect(
        memory.dsn(SUPERUSER), autocommit=True
    ) as connection:
        await move_cell(connection, nodes, cell, target)
    settlers.find_cells()


async def _isolate(memory: ClusterMemory, settlers: Settlers, space: int) -> None:
    nodes = await find_nodes(memory.dsn(SUPERUSER))
    async with await psycopg.AsyncConnection.connect(
        memory.dsn(SUPERUSER), autocommit=True
    ) as connection:
        await isolate_space(connection, nodes, space)
    settlers.find_cells()
