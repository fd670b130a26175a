"""`textrawl cluster`: cells move, get a cell of their own and are repaired, and spaces answer."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from tests.distribution.settlers import Settlers
from tests.support.cluster import CELLS, ClusterMemory
from textrawl.embedded.configuration import OWNER, SUPERUSER

PROGRAM = Path(sys.executable).parent / "textrawl"


def run(memory: ClusterMemory, *words: str, role: str = SUPERUSER, code: int = 0) -> str:
    """What a command prints. It ends with `code`."""
    url = {"TEXTRAWL_DATABASE_URL": memory.dsn(role)}
    done = subprocess.run(
        [PROGRAM, *words], env=os.environ | url, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def list_cluster(memory: ClusterMemory) -> dict[str, Any]:
    return json.loads(run(memory, "cluster", "list", "--json"))


def find_space(memory: ClusterMemory, name: str) -> dict[str, Any]:
    [found] = [space for space in list_cluster(memory)["spaces"] if space["space"] == name]
    return found


def find_other_node(memory: ClusterMemory, name: str) -> str:
    listed = list_cluster(memory)
    here = find_space(memory, name)["node"]
    return next(node["node"] for node in listed["nodes"] if node["node"] != here)


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
    done = subprocess.run(
        [PROGRAM, "cluster"],
        env=os.environ | {"TEXTRAWL_DATABASE_URL": database_url},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "is not distributed" in done.stderr
