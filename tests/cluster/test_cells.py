"""Cells: each space lives whole in one of them, and nobody sees more than the spaces of a cell."""

import psycopg
import pytest

from tests.cluster.settlers import Settlers
from tests.support.cluster import CELLS, ClusterMemory
from textrawl.embedded.postmaster import OWNER, SUPERUSER

# Rows of every table of content on a node, by the number of their space.
_SHARDS = """
    select c.oid::regclass::text from pg_class c
    where c.relnamespace = 'textrawl_content'::regnamespace and c.relkind = 'r'
      and c.relname ~ '_[0-9]{5,}$' and exists (
          select from pg_attribute a where a.attrelid = c.oid and a.attname = 'space_id')"""

_CONTENT = """
    select relname::text from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
    where c.relnamespace = 'textrawl_content'::regnamespace"""


def count_rows(memory: ClusterMemory, space: int) -> dict[str, set[str]]:
    """The shards that have rows of a space, by node and range."""
    found: dict[str, set[str]] = {}
    for node in memory.cluster.nodes:
        with memory.open(SUPERUSER, node) as session:
            session.execute("set citus.override_table_visibility = off")
            for (shard,) in session.execute(_SHARDS).fetchall():
                query = f"select count(*) from {shard} where space_id = %s"  # noqa: S608
                [(rows,)] = session.execute(query.encode(), (space,)).fetchall()
                if rows:
                    found.setdefault(str(node.port), set()).add(shard)
    return found


def test_all_cells_have_spaces_and_both_workers_have_cells(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    assert len(memory.cells) == CELLS
    assert {cell.node.port for cell in memory.cells.values()} == {
        node.port for node in memory.cluster.workers
    }
    assert set(settlers.cells.values()) == set(memory.cells.values())


def test_a_space_lives_whole_on_one_node(memory: ClusterMemory, settlers: Settlers) -> None:
    for space in settlers.spaces[:4]:
        settlers.remember(space, "Ada", f"likes tea in {space}")
        settlers.fetch(
            space,
            "select relate_entities('Ada', 'knows', 'Bo', space => %s, credential => %s)",
            space,
            settlers.ana,
        )
    for space in settlers.spaces[:4]:
        [(port, shards)] = count_rows(memory, space).items()
        assert port == str(settlers.cells[space].node.port)
        tables = {shard.rpartition("_")[0].rpartition(".")[2] for shard in shards}
        assert {"entity", "observation", "relation", "event"} <= tables


def test_functions_of_a_cell_see_the_spaces_of_this_cell_alone(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    for space in settlers.spaces:
        settlers.remember(space, "Ada", f"likes tea of place{space}")
    for cell in memory.cells.values():
        inside = settlers.spaces_of(cell)
        expected = {f"likes tea of place{space}" for space in inside}
        assert settlers.search(inside[0], "tea") == expected
        query = "select space_id from access_rights(%s)"
        rows = settlers.fetch(inside[0], query, settlers.ana, role=OWNER)
        assert {space for (space,) in rows} == set(inside)


def test_a_cell_refuses_writes_to_a_space_of_another_cell(settlers: Settlers) -> None:
    here, there = settlers.pick(), settlers.pick(away_from=settlers.pick())
    query = "select remember_fact('Ada', 'person', 'x', space => %s, credential => %s)"
    with pytest.raises(psycopg.errors.DatabaseError) as refused:
        settlers.fetch(here, query, there, settlers.ana)
    assert refused.value.sqlstate == "TR011"


def test_grants_hold_in_cells(settlers: Settlers) -> None:
    first = settlers.spaces[0]
    for space in settlers.spaces_of(settlers.cells[first]):
        settlers.remember(space, "Ada", f"likes tea of place{space}")
    assert settlers.search(first, "tea", settlers.ben) == {f"likes tea of place{first}"}
    query = "select remember_fact('Ada', 'person', 'x', space => %s, credential => %s)"
    with pytest.raises(psycopg.errors.DatabaseError) as refused:
        settlers.fetch(first, query, first, settlers.ben)
    assert refused.value.sqlstate == "TR011"


def test_the_ordinary_schemas_of_all_nodes_refuse_content(memory: ClusterMemory) -> None:
    with memory.open(SUPERUSER) as session:
        tables = [name for (name,) in session.execute(_CONTENT).fetchall()]
    assert len(tables) > 20
    for node in memory.cluster.nodes:
        with memory.open(OWNER, node) as session:
            for table in tables:
                with pytest.raises(psycopg.errors.DatabaseError) as refused:
                    session.execute(f"insert into textrawl.{table} default values".encode())
                assert refused.value.sqlstate == "TR096"


def test_workers_refuse_changes_of_the_directory(memory: ClusterMemory, settlers: Settlers) -> None:
    for node in memory.cluster.workers:
        with memory.open(OWNER, node) as session:
            for change in (
                "insert into textrawl.actor (name) values ('x')",
                "delete from textrawl.space_grant",
            ):
                with pytest.raises(psycopg.errors.DatabaseError) as refused:
                    session.execute(change.encode())
                assert refused.value.sqlstate == "TR097"
    assert settlers.search(settlers.spaces[0], "nothing") == set()


def test_a_call_in_a_cell_that_is_on_another_node_is_refused(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    here, there = settlers.pick(), settlers.pick(away_from=settlers.pick())
    shard = settlers.cells[there].shard
    with memory.enter(settlers.cells[here]) as session:
        with pytest.raises(psycopg.errors.DatabaseError) as refused:
            session.execute("select textrawl_content.enter_cell(%s)", (shard,))
        assert refused.value.sqlstate == "TR094"


def test_a_new_author_is_registered_on_the_coordinator(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    space = settlers.pick()
    [(number,)] = settlers.fetch(space, "select register_actor('newcomer')", role=OWNER)
    here = memory.cluster.find_node(settlers.cells[space].node)
    for node in (memory.cluster.coordinator, here):
        with memory.open(SUPERUSER, node) as session:
            query = "select id from textrawl.actor where name = 'newcomer'"
            assert session.execute(query).fetchall() == [(number,)]
