"""A name can lead to another entity once a session has waited for it, because of a merge or split.

Step by step, as in test_locks.py.
"""

import json
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.sql.sessions import Three, fetch
from tests.sql.story import tell
from textrawl.embedded.postmaster import SUPERUSER

Sql = psycopg.Connection[Any]

ABOUT = """select array_agg(o.content order by o.content)
    from find_entities(array[1], %s) f join fact o using (entity_id)"""


@pytest.fixture
def sql(owner: Sql) -> Sql:
    """The newest Postgres will do: locks are the same in all."""
    for name in ("Amy", "Bea", "Cleo"):
        tell(owner, name, f"is {name}")
    return owner


def test_forgetting_a_name_that_is_split_off_meanwhile_keeps_the_other(
    sql: Sql, three: Three
) -> None:
    _, one, other = three
    sql.execute("select merge_entities('Amy', 'Bea')")

    one.hold("select split_entity('Bea')")
    other.start("select facts from forget_entity('Bea')")
    one.release()

    assert other.end() == [(1,)]
    assert fetch(sql, ABOUT, "Amy") == ["is Amy"]


@pytest.mark.parametrize(
    "call",
    [
        "select observation_id from revise_fact('Bea', 'is Bea', 'a mistake')",
        "select entity_id from forget_entity('Bea', 'is Bea')",
        "select entity_id from share_memories('Bea', 2, array['is Bea'])",
    ],
)
def test_a_fact_is_found_though_its_entity_is_merged_meanwhile(
    sql: Sql, three: Three, call: str
) -> None:
    _, one, other = three
    sql.execute("select create_space('team')")

    one.hold("select merge_entities('Amy', 'Bea')")
    other.start(call)
    one.release()

    assert other.end() != [(None,)]


def test_a_relation_between_two_that_are_merged_meanwhile_leads_to_itself(
    sql: Sql, three: Three
) -> None:
    _, one, other = three

    one.hold("select merge_entities('Amy', 'Bea')")
    other.start("select relate_entities('Amy', 'knows', 'Bea')")
    one.release()

    other.end()
    assert fetch(sql, "select count(*) from relation where from_entity = to_entity") == 1


def test_a_fact_about_an_entity_that_waits_for_two_merges_is_kept(sql: Sql, three: Three) -> None:
    gate, one, other = three

    one.hold("select merge_entities('Amy', 'Bea')")
    other.start("select merge_entities('Cleo', 'Bea')")
    gate.hold("select from observation where content = 'is Cleo' for update")
    one.release()
    other.wait_behind(gate)
    one.start("select remember_fact('Amy', 'person', 'is late')")
    one.wait_behind(other)
    gate.release()
    other.end()
    one.end()

    assert fetch(sql, ABOUT, "Cleo") == ["is Amy", "is Bea", "is Cleo", "is late"]


def test_two_spaces_share_an_entity_with_each_other_at_once(sql: Sql, three: Three) -> None:
    gate, one, other = three
    sql.execute("select create_space('team')")
    sql.execute("select share_memories('Amy', 2)")

    gate.hold("select from entity where space_id = 1 and name = 'Amy' for update")
    other.start("select shared_facts from share_memories('Amy', 1, space => 2)")
    one.start("select shared_facts from share_memories('Amy', 2, space => 1)")
    gate.release()

    assert (one.end(), other.end()) == ([(0,)], [(0,)])


def test_a_batch_in_a_space_without_statistics_computes_few_keys(sql: Sql) -> None:
    relations = [{"from": "Hub", "relation": "knows", "to": f"P{n}"} for n in range(100)]
    with psycopg.connect(make_conninfo(sql.info.dsn, user=SUPERUSER)) as session:
        session.execute("set search_path = textrawl, public")
        session.execute("set track_functions = 'pl'")
        session.execute("insert into space (name) values ('new'), ('newer')")
        new, newer = (fetch(session, "select find_space(%s)", name) for name in ("new", "newer"))

        session.execute(
            "select build_knowledge('[]', %s, space => %s)", (json.dumps(relations), new)
        )
        session.execute("select share_memories('Hub', %s, space => %s)", (newer, new))

        query = "select calls from pg_stat_xact_user_functions where funcname = 'entity_key'"
        assert fetch(session, query) < 30 * len(relations)
