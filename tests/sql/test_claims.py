"""Who writes about several entities claims them in one order, whether they are there or are made.

Step by step, as in test_locks.py.
"""

import json
from typing import Any

import psycopg
import pytest
from psycopg import sql as query
from psycopg.conninfo import make_conninfo

from tests.sql.sessions import Three, fetch, move_last, open_sessions, scan_tables
from tests.sql.story import recall, tell
from textrawl.embedded.postmaster import SUPERUSER

Sql = psycopg.Connection[Any]

OLD = "2020-01-01T00:00:00Z"


@pytest.fixture
def sql(owner: Sql) -> Sql:
    """The newest Postgres will do: locks are the same in all."""
    return owner


def test_a_batch_beside_the_first_words_of_its_author_ends(sql: Sql, three: Three) -> None:
    gate, one, other = three
    tell(sql, "Ada", "drinks tea")
    sql.execute("update actor set name = 'former' where name = session_user")
    batch = json.dumps([{"entity": "Ada", "type": "person", "observation": "eats bread"}])

    gate.hold("insert into actor (name) values (session_user)")
    one.hold("select from entity where name = 'Ada' for no key update")
    other.start("select build_knowledge(%s)", batch)
    gate.release()
    other.wait_behind(one)
    one.do("select build_knowledge(%s)", batch)
    one.release()

    assert other.end() == [(("0", "1", "0", "{0}", "{}", None, None, "{}", "{}"),)]


def test_who_is_made_while_a_relation_waits_for_its_ends_is_missing(sql: Sql, three: Three) -> None:
    gate, one, other = three
    tell(sql, "Zed", "drinks tea")
    edges = json.dumps([{"from": "Zed", "relation": "knows", "to": "Amy"}])

    gate.hold("select from entity where name = 'Zed' for update")
    other.start("select missing from create_edges(%s)", edges)
    tell(sql, "Amy", "was not there")
    one.hold("select remember_fact('Amy', 'person', 'eats bread')")
    gate.release()
    other.wait_behind(one)
    one.do("select remember_fact('Zed', 'person', 'eats bread')")
    one.release()

    assert other.end() == [(["Amy"],)]


def test_a_reflection_on_what_is_just_being_forgotten_has_no_subject(
    sql: Sql, three: Three
) -> None:
    _, one, other = three
    tell(sql, "Ada", "drinks tea")
    number = fetch(sql, "select node_number(id) from entity")

    one.hold("select forget_entity('Ada')")
    other.start("select add_reflection('entity', 'tea again', 'me', target => %s)", number)
    one.release()

    with pytest.raises(psycopg.Error) as refused:
        other.end()
    assert refused.value.sqlstate == "TR052"


def make_line(place: int, ends: tuple[str, str]) -> dict[str, object]:
    return {
        "place": place, "space": 1, "id": f"{place + 1:032x}", "from_entity": ends[0],
        "relation": "knows", "to_entity": ends[1], "strength": 1, "valid_from": OLD,
        "author": "ana", "tool": "import", "created_at": "2090-01-01T00:00:00Z",
    }  # fmt: skip


def test_relations_are_imported_beside_a_writer_of_the_same_entities(
    sql: Sql, three: Three
) -> None:
    gate, one, other = three
    names = [f"Entity {number:02}" for number in range(20)]
    for name in names:
        tell(sql, name, "drinks tea")
    ids = dict(sql.execute("select name, id::text from entity").fetchall())
    pairs = zip(names[::2], names[1::2], strict=True)
    lines = [make_line(place, (ids[a], ids[b])) for place, (a, b) in enumerate(pairs)]
    batch = [{"entity": name, "type": "person", "observation": "eats"} for name in names]
    for name in names[1::-1]:
        move_last(sql, "entity set name = name where name", name)
    gate.hold("select from entity where name = %s for no key update", names[1])

    one.start("select build_knowledge(%s)", json.dumps(batch))
    other.start("select import_relations(%s)", json.dumps(lines))
    gate.release()

    one.end()
    assert len(other.end()) == 10


def test_replacements_are_imported_beside_a_batch_that_corrects_the_same_facts(
    sql: Sql, three: Three
) -> None:
    gate, one, other = three
    first, middle, last, successor = [tell(sql, "Ada", f"has {n} cats") for n in range(4)]
    batch = [
        {"entity": "Ada", "type": "person", "observation": f"corrected {fact}", "replaces": fact}
        for fact in (last, first)
    ]
    gate.hold("select from observation where id = %s for update", middle)

    other.start(
        "select import_replacements(array[1, 1, 1], %s::uuid[], array_fill(%s::uuid, array[3]),"
        " array[true, true, true])",
        [last, middle, first],
        successor,
    )
    one.start("select build_knowledge(%s)", json.dumps(batch))
    gate.release()

    other.end()
    one.end()
    assert fetch(sql, "select count(*) from observation where replaced_by is null") == 3


def test_an_entity_is_split_into_one_that_another_is_just_making(sql: Sql, three: Three) -> None:
    _, one, other = three
    tell(sql, "Zed", "drinks tea")
    splits = json.dumps([{"name": "Amy", "observations": ["drinks tea"]}])

    # As a batch does, in the order of names.
    one.hold("select remember_fact('Amy', 'person', 'eats bread')")
    other.start("select split_node('Zed', %s)", splits)
    one.do("select remember_fact('Zed', 'person', 'eats bread')")
    one.release()

    assert len(other.end()) == 1
    found = sql.execute(
        "select content from fact join entity e on e.id = entity_id where e.name = 'Amy' order by 1"
    )
    assert found.fetchall() == [("drinks tea",), ("eats bread",)]


def test_an_undo_is_reverted_beside_a_batch_about_its_entities(sql: Sql, three: Three) -> None:
    _, one, other = three
    tell(sql, "Zed", "was there before")
    since = fetch(sql, "select clock_timestamp()")
    sql.execute("select relate_entities('Amy', 'knows', 'Zed')")
    undo = fetch(sql, "select undo_id from undo_author(session_user, %s)", since)

    one.hold("select remember_fact('Amy', 'person', 'eats bread')")
    other.start("select revert_undo(%s)", undo)
    one.do("select remember_fact('Zed', 'person', 'eats bread')")
    one.release()

    assert len(other.end()) == 1
    assert fetch(sql, "select count(*) from relation") == 1


def test_undone_things_are_purged_beside_a_forget(sql: Sql, three: Three) -> None:
    gate, one, other = three
    undos = list[int]()
    for number in range(3):
        since = fetch(sql, "select clock_timestamp()")
        tell(sql, "Ada", f"drinks {number} cups")
        undos.append(fetch(sql, "select undo_id from undo_author(session_user, %s)", since))
    for undo in undos[:2]:
        move_last(sql, "undo set at = at where id", undo)
    gate.hold("select from undo where id = %s for update", undos[1])
    scan_tables(other)

    one.start("select forget_entity('Ada')")
    other.start("select purge_undone()")
    gate.release()

    one.end()
    other.end()
    assert fetch(sql, "select count(*) from undone") == 0


def test_an_entity_gets_another_type_beside_a_forget_of_what_took_its_facts(
    sql: Sql, three: Three
) -> None:
    gate, one, other = three
    former = tell(sql, "Ada", "lives in Oslo")
    fact = tell(sql, "Ada", "lives in Riga", replaces=former)
    splits = json.dumps([{"name": "Bo", "observations": ["lives in Riga"]}])
    sql.execute("select split_node('Ada', %s)", (splits,))
    recall(sql, found={"default": [fact]})
    gate.hold("select from recall for update")

    one.start("select forget_entity('Bo')")
    nodes = [{"name": "Ada", "type": "project"}, {"name": "Bo", "type": "project"}]
    other.start("select create_nodes(%s)", json.dumps(nodes))
    gate.release()

    one.end()
    assert len(other.end()) == 2
    assert fetch(sql, "select distinct entity_type from observation") == "project"


def test_an_analyst_is_made_beside_a_token_of_the_same_actor(sql: Sql, three: Three) -> None:
    gate, _, other = three
    role = f"analyst_{sql.info.backend_pid}"
    for space in ("one", "two"):
        sql.execute("select create_space(%s)", (space,))
    sql.execute("select grant_access('ana', 'default', array['read'])")
    gate.hold("select grant_access('ana', 'two', array['read'])")
    with (
        psycopg.connect(make_conninfo(sql.info.dsn, user=SUPERUSER), autocommit=True) as superuser,
        open_sessions(superuser, 1) as (analyst,),
    ):
        analyst.start("select create_analyst(%s, 'ana', array['one', 'two'])", role)
        other.start(
            "select create_token(sha256('x'), 'trl_test', 'ana', 'one', array['read', 'write'])"
        )
        gate.release()
        try:
            analyst.end()
            other.end()
        finally:
            superuser.execute("update textrawl.actor set role_name = null")
            superuser.execute(query.SQL("drop role if exists {}").format(query.Identifier(role)))
    scopes = dict(sql.execute("select space_name, scopes from list_grants()").fetchall())
    assert {space: sorted(held) for space, held in scopes.items()} == {
        "default": ["read"], "one": ["read", "write"], "two": ["read"]
    }  # fmt: skip


def test_an_import_takes_an_entity_that_somebody_makes_meanwhile(sql: Sql, three: Three) -> None:
    gate, one, _ = three
    lines = [
        {"place": place, "space": 1, "id": f"00000000-0000-0000-0000-00000000000{place}",
         "name": name, "entity_type": "person", "created_at": OLD, "updated_at": OLD}
        for place, name in enumerate(("Zoe", "Ada", "ZOE"))
    ]  # fmt: skip

    gate.hold("select remember_fact('zoe', 'person', 'sings')")
    one.start("select place, stored, outcome from import_entities(%s)", json.dumps(lines))
    one.wait_behind(gate)
    gate.release()

    known = fetch(sql, "select id::text from entity where name_key = 'zoe'")
    assert sorted((place, str(stored), outcome) for place, stored, outcome in one.end()) == [
        (0, known, "known"), (1, lines[1]["id"], "added"), (2, known, "known")
    ]  # fmt: skip
