"""Logins that reach a node of a cluster directly can do no more than on one Postgres."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
import pytest

from tests.cluster.settlers import Settlers
from tests.support.cluster import CELLS, ClusterMemory, ClusterNode
from textrawl.cluster.layout import OPEN_TO_ALL
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER

ANALYST = "textrawl_analyst"
Session = psycopg.Connection[Any]

# What a login could do with the functions of Citus: fill the disk, open connections, hold up
# moves and DDL, look at others, and reach other nodes.
_OF_CITUS: tuple[LiteralString, ...] = (
    "select create_intermediate_result('x', 'select n from generate_series(1, 9) n')",
    "select broadcast_intermediate_result('x', 'select 1')",
    "select citus_check_connection_to_node('127.0.0.1', 22)",
    "select citus_check_cluster_node_health()",
    "select run_command_on_all_nodes('select 1')",
    "select run_command_on_coordinator('select 1')",
    "select master_run_on_worker(array['127.0.0.1'], array[22], array['select 1'], false)",
    "select lock_shard_metadata(7, array[102008])",
    "select lock_shard_resources(7, array[102008])",
    "select lock_relation_if_exists('textrawl.space', 'ACCESS EXCLUSIVE')",
    "select citus_stat_tenants_reset()",
    "select query from citus_stat_activity",
    "select master_get_new_shardid()",
    "select citus_move_shard_placement(102008, 2, 3)",
    "select isolate_tenant_to_new_shard('textrawl_content.entity', 1, 'CASCADE')",
    "select citus_internal.start_replication_origin_tracking()",
)
_OF_ALL = """
    select distinct p.proname from pg_proc p
    join pg_depend d on d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
    join pg_extension e on e.oid = d.refobjid and e.extname = 'citus'
    where has_function_privilege(%s, p.oid, 'execute') order by 1"""
_CALLABLE = """
    select replace(oid::regprocedure::text, %(schema)s || '.', 'textrawl.') from pg_proc
    where pronamespace = %(schema)s::regnamespace
      and has_function_privilege(%(role)s, oid, 'execute')"""
_READABLE = """
    select relname || '.' || attname from pg_class c join pg_attribute a on a.attrelid = c.oid
    where relnamespace = %(schema)s::regnamespace and relkind in ('r', 'v') and attnum > 0
      and has_column_privilege(%(role)s, c.oid, attnum, 'select')"""
_WRITABLE = """
    select relname, r from pg_class, unnest(array['insert', 'update', 'delete', 'truncate']) r
    where relnamespace::regnamespace::text ~ '^textrawl' and relkind in ('r', 'v', 'p')
      and has_table_privilege(%(role)s, oid, r)"""


@contextmanager
def play(memory: ClusterMemory, role: str, node: ClusterNode) -> Generator[Session]:
    """A session that has the rights of a role on a node."""
    with memory.open(SUPERUSER, node) as session:
        session.execute(f"set session authorization {role}".encode())
        yield session


@pytest.mark.parametrize("role", [APP, ANALYST])
def test_only_the_owner_calls_functions_of_citus(memory: ClusterMemory, role: str) -> None:
    for node in memory.cluster.nodes:
        with memory.open(SUPERUSER, node) as session:
            rows = session.execute(_OF_ALL, (role,)).fetchall()
        assert [name for (name,) in rows] == list(OPEN_TO_ALL)
        with play(memory, role, node) as session:
            for statement in _OF_CITUS:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    session.execute(statement)


@pytest.mark.parametrize("role", [APP, ANALYST])
def test_a_role_has_the_same_rights_in_a_cell_as_on_one_postgres(
    memory: ClusterMemory, role: str
) -> None:
    """The ordinary schema of the coordinator has the rights of an ordinary memory."""
    expected = _read_rights(memory, memory.cluster.coordinator, "textrawl", role)
    assert len(memory.cells) == CELLS
    for cell in memory.cells.values():
        node = memory.cluster.find_node(cell.node)
        assert _read_rights(memory, node, cell.schema, role) == expected


def _read_rights(
    memory: ClusterMemory, node: ClusterNode, schema: str, role: str
) -> tuple[set[str], set[str]]:
    """The functions that a role can call, and the columns that it can read."""
    given = {"schema": schema, "role": role}
    with memory.open(SUPERUSER, node) as session:
        called, read = (
            {str(name) for (name,) in session.execute(query, given).fetchall()}
            for query in (_CALLABLE, _READABLE)
        )
    # A table has this column, but a view does not.
    return called, {name for name in read if not name.endswith(".xmax")}


@pytest.mark.parametrize("role", [APP, ANALYST, "textrawl_replicator"])
def test_no_role_but_the_owner_writes_tables(memory: ClusterMemory, role: str) -> None:
    nodes = memory.cluster.nodes
    for node in nodes if role != "textrawl_replicator" else nodes[:1]:
        with memory.open(SUPERUSER, node) as session:
            assert session.execute(_WRITABLE, {"role": role}).fetchall() == []


def test_the_login_of_the_replication_reads_no_content(memory: ClusterMemory) -> None:
    with memory.open(SUPERUSER) as session:
        rows = session.execute("""
            select relname from pg_class
            where relkind in ('r', 'p', 'v') and relnamespace::regnamespace::text ~ '^textrawl'
              and has_any_column_privilege('textrawl_replicator', oid, 'select') order by 1""")
        assert [name for (name,) in rows] == [
            "actor", "directory_mark", "embedding_model", "receipt_secret", "space", "space_grant",
            "token",
        ]  # fmt: skip


def test_a_login_of_servers_has_no_rights_without_a_credential(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    space = settlers.spaces[0]
    settlers.remember(space, "Ana", "drinks tea")
    with memory.enter(settlers.cells[space], APP) as session:
        query = "select content from search_memory('tea', spaces => %s, credential => %s)"
        for spaces, credential in (([space], None), ([space], b"guess"), (None, b"guess")):
            with pytest.raises(psycopg.DatabaseError) as refused:
                session.execute(query, (spaces, credential))
            assert refused.value.sqlstate in ("TR010", "TR011")
        assert session.execute(query, (None, None)).fetchall() == []
        for statement in (
            "select content from observation",
            "select hash from textrawl.token",
            "select subconninfo from pg_subscription",
            "select textrawl_content.register_actors(array['mallory'])",
            "select textrawl_content.drop_models()",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(statement.encode())


def test_a_worker_does_not_number_the_states_of_the_directory(memory: ClusterMemory) -> None:
    """It would seem to have changes that it lacks."""
    for node in memory.cluster.workers:
        with memory.open(APP, node) as session:
            [(before,)] = session.execute("select textrawl_content.read_mark()").fetchall()
            assert session.execute("select textrawl_content.mark_directory()").fetchall() == [
                (None,)
            ]
            assert session.execute("select textrawl_content.read_mark()").fetchall() == [(before,)]


def test_a_token_that_was_revoked_ends_in_all_cells(
    memory: ClusterMemory, settlers: Settlers
) -> None:
    for space in settlers.spaces:
        settlers.remember(space, "Ana", "drinks tea")
    with memory.open(OWNER) as owner:
        query = "update textrawl.token set revoked_at = now() where hash = %s"
        owner.execute(query, (settlers.ana,))
    memory.send_directory()
    for space in settlers.spaces:
        with pytest.raises(psycopg.DatabaseError) as refused:
            settlers.search(space, "tea")
        assert refused.value.sqlstate == "TR010"
