"""The copies of the directory on the workers are made anew without a moment without them."""

from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import sql
from tenacity import Retrying, stop_after_delay, wait_fixed

from tests.cluster.settlers import Settlers
from tests.support.cluster import CitusCluster, ClusterMemory, ClusterNode
from tests.support.cluster_standby import promote_standby
from tests.support.pages import ROOT, read_commands
from textrawl.cluster.layout import DIRECTORY
from textrawl.cluster.migration import migrate_distributed
from textrawl.cluster.opening import open_connection
from textrawl.embedded.postmaster import OWNER, SUPERUSER

pytestmark = pytest.mark.anyio


def read_directory(session: psycopg.Connection[Any]) -> dict[str, list[Any]]:
    """All rows of the directory that a node has, by table."""
    rows: dict[str, list[Any]] = {}
    for name in DIRECTORY:
        query = sql.SQL("select to_jsonb(t)::text from textrawl.{} t order by 1")
        rows[name] = session.execute(query.format(sql.Identifier(name))).fetchall()
    return rows


def require_equal_copies(memory: ClusterMemory) -> None:
    with memory.open(SUPERUSER) as coordinator:
        expected = read_directory(coordinator)
    for node in memory.cluster.workers:
        with memory.open(SUPERUSER, node) as worker:
            assert read_directory(worker) == expected


@dataclass(frozen=True)
class Hit:
    content: str


def create_space(memory: ClusterMemory, name: str) -> None:
    with memory.open(OWNER) as owner:
        owner.execute("select textrawl.create_space(%s)", (name,))


def read_statement(promoted: ClusterNode) -> str:
    """The statement of docs/scale.md for a promoted coordinator, with its address."""
    command, migrate = read_commands(ROOT / "docs/scale.md")[9:11]
    assert migrate.endswith("textrawl migrate --distributed")
    statement = command.removeprefix('psql -d textrawl -c "').removesuffix('"')
    return statement.replace("'10.0.0.4', 5432", f"'{promoted.host}', {promoted.port}")


async def test_a_copy_that_differs_is_replaced(memory: ClusterMemory, settlers: Settlers) -> None:
    node = memory.cluster.workers[0]
    with memory.open(SUPERUSER, node) as worker:
        worker.execute("set session_replication_role = replica")
        worker.execute("delete from textrawl.token where hash = %s", (settlers.ben,))
        worker.execute("""
            insert into textrawl.actor (id, name) overriding system value
            values (999, 'unknown to the coordinator')""")

    await migrate_distributed(memory.dsn(SUPERUSER))

    require_equal_copies(memory)
    create_space(memory, "later")
    memory.send_directory()
    require_equal_copies(memory)


async def test_a_lost_slot_is_made_again(memory: ClusterMemory, settlers: Settlers) -> None:
    """Slots are lost at a failover of the coordinator, and each worker needs its slot."""
    with memory.open(SUPERUSER) as coordinator:
        for attempt in Retrying(stop=stop_after_delay(60), wait=wait_fixed(0.01)):
            with attempt:  # a worker connects again at once
                coordinator.execute("""
                    select pg_terminate_backend(active_pid, 1000) from pg_replication_slots
                    where database = current_database() and active""")
                coordinator.execute("""
                    select pg_drop_replication_slot(slot_name) from pg_replication_slots
                    where database = current_database()""")
        coordinator.execute("select textrawl.create_space('unknown-to-workers')")

    await migrate_distributed(memory.dsn(SUPERUSER))

    require_equal_copies(memory)
    create_space(memory, "later")
    memory.send_directory()
    require_equal_copies(memory)


async def test_servers_continue_with_the_standby_of_the_coordinator(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    """The standby has no slots and another address, so the workers follow it after a migration."""
    space = settlers.spaces[0]
    settlers.remember(space, "Ana", "drinks tea")
    cluster = memory.cluster
    with promote_standby(cluster.coordinator) as promoted:
        after = ClusterMemory(CitusCluster((promoted, *cluster.workers)), memory.name)
        with after.open(SUPERUSER) as coordinator:
            coordinator.execute(read_statement(promoted).encode())
        await migrate_distributed(after.dsn(SUPERUSER))

        create_space(after, "later")
        after.send_directory()
        require_equal_copies(after)
        async with open_connection(after.dsn(), timeout=20) as database:
            ask = {"query": "tea", "credential": settlers.ana, "spaces": [space]}
            assert [hit.content for hit in await database.call("search_memory", Hit, **ask)] == [
                "drinks tea"
            ]
        for node in cluster.workers:  # the slots end with the promoted server
            with after.open(SUPERUSER, node) as worker:
                worker.execute("drop subscription textrawl_directory")
