"""`textrawl doctor` on a distributed memory: the workers, their cells and their copies."""

import json
from collections.abc import Callable

import pytest
from psycopg import sql
from tenacity import Retrying, stop_after_delay, wait_fixed

from tests.cluster.settlers import Settlers
from tests.conftest import TOKEN
from tests.support.cluster import CELLS, ClusterMemory, ClusterNode
from tests.support.commands import Run, data_dir, run
from textrawl.embedded.postmaster import SUPERUSER

__all__ = ["data_dir", "run"]

Examine = Callable[[], list[tuple[str, str]]]


@pytest.fixture
def examine(run: Run, memory: ClusterMemory) -> Examine:
    """What the doctor says of the cluster, as (verdict, message)."""

    def go() -> list[tuple[str, str]]:
        url = memory.dsn()
        outcome = run("doctor", "--json", DATABASE_URL=url, ACCESS_TOKEN=TOKEN, DATABASE_TIMEOUT=5)
        found = json.loads(outcome.out)["findings"]
        return [(one["verdict"], one["told"]) for one in found if one["name"] == "cluster"]

    return go


def name_worker(node: ClusterNode) -> str:
    return f"{node.host}:{node.port}"


def test_a_sound_cluster_is_described(examine: Examine, memory: ClusterMemory) -> None:
    [(verdict, told)] = examine()

    names = sorted(map(name_worker, memory.cluster.workers))
    assert (verdict, sorted(told.split(" on ")[1].split(", "))) == ("ok", names)
    assert told.startswith(f"{CELLS} cells on ")


def test_a_worker_that_is_away_is_named(
    examine: Examine, memory: ClusterMemory, settlers: Settlers
) -> None:
    node = memory.cluster.find_node(settlers.cells[settlers.spaces[0]].node)
    node.stop()
    try:
        [(verdict, told)] = examine()
    finally:
        node.start()

    assert verdict == "broken"
    assert told.startswith(f"{name_worker(node)} does not answer")
    assert "start it" in told


def test_a_missing_cell_and_the_way_to_repair_it_are_named(
    examine: Examine, memory: ClusterMemory, settlers: Settlers
) -> None:
    cell = settlers.cells[settlers.spaces[0]]
    with memory.open(SUPERUSER, memory.cluster.find_node(cell.node)) as worker:
        worker.execute("set citus.enable_ddl_propagation = off")
        worker.execute(sql.SQL("drop schema {} cascade").format(sql.Identifier(cell.schema)))

    [(verdict, told)] = examine()

    assert verdict == "broken"
    assert told.startswith(f"{cell.schema} is missing on {cell.node.address}")
    assert "textrawl migrate --distributed" in told


def test_a_worker_that_does_not_copy_the_directory_is_named(
    examine: Examine, memory: ClusterMemory
) -> None:
    node = memory.cluster.workers[0]
    with memory.open(SUPERUSER, node) as worker, memory.open(SUPERUSER) as coordinator:
        worker.execute("alter subscription textrawl_directory disable")
        for attempt in Retrying(stop=stop_after_delay(60), wait=wait_fixed(0.01)):
            with attempt:  # until the copying has ended
                copying = worker.execute("select from pg_stat_subscription where pid is not null")
                assert copying.fetchall() == []
        coordinator.execute("select textrawl_content.mark_directory()")

        [(verdict, told)] = examine()

    assert verdict == "broken"
    assert told.startswith(f"{name_worker(node)} does not copy")
    assert "textrawl_directory" in told
