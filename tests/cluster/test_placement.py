"""`textrawl cluster`: cells move, get a cell of their own and are repaired, and spaces answer."""

from functools import partial

import anyio
import pytest
from anyio import to_thread
from psycopg import sql

from tests.cluster.commands import execute, find_other_node, find_space, list_cluster, run
from tests.cluster.settlers import Settlers
from tests.support.cluster import CELLS, ClusterMemory, ClusterNode
from textrawl.embedded.postmaster import OWNER, SUPERUSER


def test_a_space_moves_with_its_facts_and_its_trail(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    space = settlers.spaces[0]
    name = settlers.names[space]
    settlers.remember(space, "Ana", "drinks tea")
    before = settlers.read_events(space)
    target = find_other_node(memory, name)

    assert f"is on {target} now" in run(memory, "cluster", "move", name, target, "--yes")

    settlers.find_cells()
    assert find_space(memory, name)["node"] == target
    assert settlers.search(space, "tea") == {"drinks tea"}
    settlers.remember(space, "Ana", "drinks coffee")
    after = settlers.read_events(space)
    assert after[: len(before)] == before
    assert after == sorted(after)
    assert len(after) > len(before)


def test_a_space_gets_a_cell_of_its_own(memory: ClusterMemory, settlers: Settlers) -> None:
    space = settlers.spaces[0]
    name = settlers.names[space]
    settlers.remember(space, "Ana", "drinks tea")

    run(memory, "cluster", "isolate", name, "--yes")

    listed = list_cluster(memory)
    cell = find_space(memory, name)["cell"]
    assert [each["space"] for each in listed["spaces"] if each["cell"] == cell] == [name]
    assert sum(node["cells"] for node in listed["nodes"]) > CELLS
    assert (listed["faults"], listed["away"]) == ([], [])
    settlers.find_cells()
    assert settlers.search(space, "tea") == {"drinks tea"}
    assert "already" in run(memory, "cluster", "isolate", name, "--yes")


def test_a_cell_that_an_interrupted_move_left_is_built_again(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    space = settlers.spaces[0]
    cell = settlers.cells[space]
    settlers.remember(space, "Ana", "drinks tea")
    with memory.cluster.find_node(cell.node).open(memory.name) as worker:
        worker.execute("set citus.enable_ddl_propagation = off")
        worker.execute(sql.SQL("drop schema {} cascade").format(sql.Identifier(cell.schema)))
        worker.execute("create schema textrawl_cell_1")
    kinds = {fault["fault"] for fault in list_cluster(memory)["faults"]}
    assert kinds == {"missing", "left over"}

    run(memory, "cluster", "rebalance", "--yes")

    assert list_cluster(memory)["faults"] == []
    assert settlers.search(space, "tea") == {"drinks tea"}


@pytest.mark.parametrize(
    ("words", "role", "reason"),
    [
        (("move", "space-00", "nowhere:1"), SUPERUSER, "the workers are"),
        (("move", "atlantis", "nowhere:1"), SUPERUSER, "No such"),
        (("isolate", "atlantis"), SUPERUSER, "No such space"),
        (("list",), OWNER, "Only a superuser"),
    ],
)
def test_a_refusal_says_what_to_do(
    memory: ClusterMemory, settlers: Settlers, words: tuple[str, ...], role: str, reason: str
) -> None:
    more = () if words == ("list",) else ("--yes",)

    assert reason in run(memory, "cluster", *words, *more, role=role, code=1)


def test_an_ordinary_memory_has_no_cluster(database_url: str) -> None:
    done = execute(database_url, "cluster")

    assert done.returncode == 1
    assert "is not distributed" in done.stderr


@pytest.mark.anyio
async def test_a_move_ends_when_its_worker_hangs_and_the_next_one_repairs(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    """The error names the worker, and says that the next command repairs."""
    space = settlers.spaces[0]
    name, cell = settlers.names[space], settlers.cells[space]
    settlers.remember(space, "Ana", "drinks tea")
    target = find_other_node(memory, name)
    [node] = [node for node in memory.cluster.workers if f"{node.host}:{node.port}" == target]
    words = ("cluster", "move", name, target, "--yes")
    said: list[str] = []

    async def move() -> None:
        said.append(await to_thread.run_sync(partial(run, memory, *words, code=1)))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(move)
        await _wait_for_shard(memory, node, cell.shard)
        node.freeze()
        try:
            while not said:  # noqa: ASYNC110 - in its own thread
                await anyio.sleep(0.1)
        finally:
            node.thaw()
    assert target in said[0]
    assert "repairs cells" in said[0]
    assert settlers.search(space, "tea") == {"drinks tea"}
    run(memory, *words)
    settlers.find_cells()
    assert settlers.cells[space].node.address == target
    assert settlers.search(space, "tea") == {"drinks tea"}


async def _wait_for_shard(memory: ClusterMemory, node: ClusterNode, shard: int) -> None:
    """Wait until a move has made a shard on its new worker."""
    query = "select to_regclass(%s) is not null"
    name = f"textrawl_content.entity_{shard}"
    with memory.open(SUPERUSER, node) as worker:
        while worker.execute(query, (name,)).fetchall() == [(False,)]:  # noqa: ASYNC110 - Citus
            await anyio.sleep(0.01)
