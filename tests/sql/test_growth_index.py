"""The index that the dashboard counts from: the dashboard reads it, and nothing else does."""

import json
from typing import Any

import psycopg
import pytest

Sql = psycopg.Connection[Any]


@pytest.fixture
def filled(sql: Sql) -> Sql:
    """A memory that is too young for statistics, so the planner has to guess."""
    facts = [{"entity": f"entity {n % 50}", "observation": f"knows fact {n}"} for n in range(1000)]
    sql.execute("select build_knowledge(%s)", (json.dumps(facts),))
    sql.execute("set enable_seqscan = off")
    return sql


def _count_reads(sql: Sql) -> int:
    sql.execute("select pg_stat_force_next_flush()")
    row = sql.execute(
        "select idx_scan from pg_stat_user_indexes where indexrelname = 'observation_growth_idx'"
    ).fetchone()
    assert row is not None
    return row[0]


def test_writes_and_lookups_leave_the_index_of_the_dashboard_alone(filled: Sql) -> None:
    before = _count_reads(filled)
    filled.execute("select remember_fact('entity 1', 'person', 'knows a new fact')")
    filled.execute("select * from search_memory('new fact')")
    filled.execute("select * from describe_entity('entity 1')")
    filled.execute("select forget_entity('entity 2')")

    assert _count_reads(filled) == before


def test_lookups_leave_the_index_of_authors_alone_but_for_two_entries_of_a_space(
    filled: Sql,
) -> None:
    counted = "select pg_stat_get_xact_numscans('observation_author_idx'::regclass)"
    with filled.transaction():
        filled.execute("select remember_fact('entity 1', 'person', 'knows a new fact')")
        filled.execute("select forget_entity('entity 2')")
        assert filled.execute(counted).fetchall() == [(0,)]
        filled.execute("select * from search_memory('new fact')")
        filled.execute("select * from describe_entity('entity 1')")
        assert filled.execute(counted).fetchall() == [(4,)]


def test_the_dashboard_counts_from_its_index(filled: Sql) -> None:
    before = _count_reads(filled)
    for query in ("select * from memory_report()", "select * from memory_statistics()"):
        filled.execute(query)

        assert _count_reads(filled) > before
