"""Functions that wait for each other's rows, in an order in which none waits in a circle."""

import json
from typing import Any

import psycopg
import pytest
from psycopg import sql as query
from psycopg.conninfo import make_conninfo

from tests.sql.sessions import Three, fetch, move_last, open_sessions, scan_tables
from tests.sql.story import describe_recall, recall, tell
from textrawl.embedded.postmaster import SUPERUSER

Sql = psycopg.Connection[Any]

LOW, HIGH = f"{0:032x}", f"{15:x}" * 32
OLD = "2020-01-01T00:00:00Z"


@pytest.fixture
def sql(owner: Sql) -> Sql:
    """The newest Postgres will do: locks are the same in all."""
    return owner


def count_words(sql: Sql) -> set[str]:
    sql.execute("select refresh_search_statistics(force => true)")
    return {word for (word,) in sql.execute("select word from lexeme")}


def log(sql: Sql, *facts: str, **columns: Any) -> int:
    """The id of a line in the log of recalls, whose answer held these facts."""
    recall(sql, found={"default": list(facts)}, **columns)
    return fetch(sql, "select max(id) from recall")


def make_model(sql: Sql, name: str = "test:model") -> int:
    """A model that has vectors for nothing yet, and lists nothing."""
    return fetch(sql, "select start_embedding_model(%s, 3)", name)


def test_a_forget_beside_a_count_of_words_ends(sql: Sql, three: Three) -> None:
    gate, one, other = three
    words = ["aardvark", "mmm", *(f"zebra{number}" for number in range(30))]
    tell(sql, "Ada", " ".join(words))
    assert count_words(sql) >= set(words)
    gate.hold("select from lexeme where word = 'mmm' for update")

    one.start("select forget_entity('Ada')")
    other.start("select refresh_search_statistics(force => true)")
    gate.release()

    assert len(one.end()) == 1
    assert other.end() == [(False,)]
    assert count_words(sql) == set()


def test_a_word_that_was_forgotten_while_words_are_counted_is_gone(sql: Sql, three: Three) -> None:
    gate, one, other = three
    tell(sql, "Bo", "drinks mead")
    count_words(sql)
    tell(sql, "Ada", "plays the theremin")
    gate.hold("select from lexeme where word = 'mead' for update")

    one.start("select refresh_search_statistics(force => true)")
    other.start("select forget_entity('Ada')")
    assert one.is_waiting
    gate.release()

    assert one.end() == [(True,)]
    other.end()
    words = {word for (word,) in sql.execute("select word from lexeme")}
    assert words == {"bo", "drink", "mead"}


def test_vectors_are_stored_beside_a_forget_of_their_fact(sql: Sql, three: Three) -> None:
    gate, one, other = three
    model = make_model(sql)
    former = tell(sql, "Ada", "lives in Oslo")
    fact = tell(sql, "Ada", "lives in Riga", replaces=former)
    gate.hold("select from observation where id = %s for update", former)

    one.start("select forget_entity('Ada', %s)", fact)
    other.start(
        "select fill_pending_embeddings(%s, array[1], array[%s::uuid], array['[1,2,3]'::halfvec])",
        model,
        fact,
    )
    gate.release()

    one.end()
    other.end()
    assert fetch(sql, "select count(*) from observation") == 1
    assert fetch(sql, "select count(*) from embedding_1") == 0


def place_facts(sql: Sql) -> None:
    """Two facts of Ada that a scan finds in one order, and their ids have in the other."""
    for text, identity in (("drinks tea", HIGH), ("eats bread", LOW)):
        fact = tell(sql, "Ada", text)
        sql.execute(
            "update observation set id = %s::uuid, content_hash = %s::uuid where id = %s",
            (identity, LOW if identity == HIGH else HIGH, fact),
        )


def test_facts_are_listed_for_a_model_beside_a_forget(sql: Sql, three: Three) -> None:
    gate, one, other = three
    place_facts(sql)
    model = make_model(sql)
    gate.hold("select from observation where id = %s::uuid for key share", LOW)

    one.start("select forget_entity('Ada')")
    other.start("select queue_embeddings(%s)", model)
    gate.release()

    one.end()
    assert other.end() == [(True,)]
    assert fetch(sql, "select count(*) from embedding_pending") == 0


def test_facts_are_listed_for_a_model_beside_a_batch_that_corrects_them(
    sql: Sql, three: Three
) -> None:
    _, one, other = three
    fact = tell(sql, "Ada", "lives in Oslo")
    model = make_model(sql)
    remember = "select remember_fact('Ada', 'person', %s, replaces => %s)"

    one.do("begin")
    one.do(remember, "lives in Riga", fact)
    other.start("select queue_embeddings(%s)", model)
    one.start(remember, "drinks tea", None)
    one.end()
    one.release()

    assert other.end() == [(True,)]
    assert fetch(sql, "select count(*) from embedding_pending") == 3


@pytest.mark.parametrize("way", ["release_pending_embeddings", "start_embedding_model"])
def test_facts_are_given_back_beside_a_forget(sql: Sql, three: Three, way: str) -> None:
    gate, one, other = three
    tell(sql, "Bo", "is listed by nobody")
    make_model(sql, "test:active")
    model = make_model(sql, "test:building")
    facts = [tell(sql, "Ada", f"owns thing {number}") for number in range(9)]
    sql.execute("update observation set content_hash = %s::uuid", (LOW,))  # for an index, all one
    sql.execute("update embedding_pending set next_attempt = now() + interval '1 hour'")
    for fact in facts[1::-1]:
        move_last(sql, "embedding_pending set attempts = attempts where observation_id", fact)
    gate.hold("select from embedding_pending where observation_id = %s for update", facts[1])
    scan_tables(other)

    one.start("select forget_entity('Ada')")
    if way == "start_embedding_model":
        other.start("select start_embedding_model('test:building', 3)")
    else:
        other.start(
            "select release_pending_embeddings(%s, array_fill(1, array[9]), %s::uuid[])",
            model,
            facts[::-1],
        )
    gate.release()

    one.end()
    other.end()
    assert fetch(sql, "select count(*) from embedding_pending") == 0


@pytest.mark.parametrize("way", ["name_entity('Ada', 'Countess')", "unname_entity('Lovelace')"])
def test_a_name_is_changed_beside_a_forget_of_what_is_stated_about_it(
    sql: Sql, three: Three, way: str
) -> None:
    gate, one, other = three
    for kind in ("knows", "likes", "meets"):
        sql.execute("select relate_entities('Bo', %s, 'Ada')", (kind,))
    sql.execute("select name_entity('Ada', 'Lovelace')")
    edges = [edge for (edge,) in sql.execute("select id from relation order by id")]
    for edge in edges[1::-1]:
        move_last(sql, "relation set strength = strength where id", edge)
        move_last(sql, "observation set source = source where id", edge)
    gate.hold("select from observation where id = %s for update", edges[1])
    scan_tables(other)

    one.start("select forget_entity('Bo')")
    other.start(f"select {way}")
    gate.release()

    one.end()
    other.end()
    assert fetch(sql, "select count(*) from observation") == 0


def test_a_model_is_dropped_beside_a_forget(sql: Sql, three: Three) -> None:
    _, one, other = three
    make_model(sql, "test:active")
    make_model(sql, "test:building")
    tell(sql, "Ada", "drinks tea")

    one.do("begin")
    one.do("select remember_fact('Ada', 'person', 'eats bread')")
    other.start("select drop_embedding_model('test:building')")
    one.do("select forget_entity('Ada')")
    one.release()

    assert other.end() == [("test:building",)]


def test_two_forgets_take_out_of_the_log_what_was_answered_of_both(sql: Sql, three: Three) -> None:
    gate, one, other = three
    ada, bo = tell(sql, "Ada", "drinks tea"), tell(sql, "Bo", "eats bread")
    first, middle = log(sql, ada, bo), log(sql, ada)
    log(sql, ada, bo)
    move_last(sql, "recall set at = at where id", first)
    gate.hold("select from recall where id = %s for update", middle)
    scan_tables(other)

    one.start("select forget_entity('Ada')")
    other.start("select forget_entity('Bo')")
    gate.release()

    one.end()
    other.end()
    assert fetch(sql, "select count(*) from recall where facts <> '{}'") == 0


def test_old_recalls_are_dropped_beside_a_forget(sql: Sql, three: Three) -> None:
    gate, one, other = three
    fact = tell(sql, "Ada", "drinks tea")
    lines = [log(sql, fact, at=OLD) for _ in range(20)]
    for line in lines[:10]:
        move_last(sql, "recall set at = at where id", line)
    gate.hold("select from recall where id = %s for update", lines[11])
    scan_tables(one)

    one.start("select forget_entity('Ada')")
    other.start("select prune_recalls()")
    gate.release()

    one.end()
    other.end()
    sql.execute("select prune_recalls()")
    assert fetch(sql, "select count(*) from recall") == 0


def test_two_that_point_to_each_other_are_forgotten_at_once(sql: Sql, three: Three) -> None:
    gate, one, other = three
    for ends in (("Ada", "Bo"), ("Ada", "Cy"), ("Bo", "Ada")):
        sql.execute("select relate_entities(%s, 'knows', %s)", ends)
    gate.hold(
        "select from relation r join entity e on e.id = r.to_entity where e.name = 'Cy'"
        " for update of r"
    )

    one.start("select forget_entity('Ada')")
    other.start("select forget_entity('Bo')")
    gate.release()

    one.end()
    other.end()
    assert fetch(sql, "select count(*) from relation") == 0


def test_an_import_of_replacements_takes_the_facts_in_the_order_of_their_ids(
    sql: Sql, three: Three
) -> None:
    gate, one, other = three
    low, middle, high = sorted(tell(sql, "Ada", f"drinks tea {number}") for number in range(3))
    gate.hold("select from observation where id = %s for update", low)

    one.start(
        "select import_replacements(array[1, 1], %s::uuid[], %s::uuid[], array[true, true])",
        [high, low],
        [middle, middle],
    )
    free = other.do("select id::text from observation where id = %s for update nowait", high)
    assert one.is_waiting
    gate.release()

    one.end()
    assert free == [(high,)]


def test_two_lists_of_entities_with_the_same_words_are_deleted_at_once(
    sql: Sql, three: Three
) -> None:
    gate, one, other = three
    for name, text in (("Ada", "tea"), ("Bo", "oslo"), ("Cy", "oslo"), ("Di", "tea")):
        tell(sql, name, text)
    count_words(sql)
    gate.hold("select from entity where name = 'Cy' for key share")

    one.start("select delete_nodes(array['Ada', 'Cy'])")
    other.start("select delete_nodes(array['Bo', 'Di'])")
    gate.release()

    assert len(one.end()) == len(other.end()) == 2
    assert fetch(sql, "select count(*) from lexeme") == 0


def test_the_use_of_entities_is_noted_beside_a_deletion(sql: Sql, three: Three) -> None:
    gate, one, other = three
    for name in ("Ada", "Bo"):
        tell(sql, name, "drinks tea")
    numbers = fetch(sql, "select array_agg(node_number(id) order by name) from entity")
    sql.execute("select record_use(%s)", ([numbers[1]],))
    gate.hold("select from entity where name = 'Bo' for key share")

    one.start("select delete_nodes(array['Ada', 'Bo'])")
    other.start("select record_use(%s)", numbers)
    gate.release()

    one.end()
    other.end()
    assert fetch(sql, "select count(*) from entity_use") == 0


def test_what_was_asked_about_a_fact_is_not_kept_when_it_is_forgotten_before_it_is_recorded(
    sql: Sql,
) -> None:
    tea, oslo = tell(sql, "Ada", "drinks tea"), tell(sql, "Ada", "lives in Oslo")
    sql.execute("select forget_entity('Ada', 'drinks tea')")

    both = log(sql, tea, oslo, query="what of Ada", query_hash="1" * 16)
    other = log(sql, oslo, query="where is Ada", query_hash="2" * 16)

    kept = "select query, query_hash, array(select unnest(facts)::text) from recall where id = %s"
    assert sql.execute(kept, (both,)).fetchone() == (None, None, [oslo])
    assert sql.execute(kept, (other,)).fetchone() == ("where is Ada", "2" * 16, [oslo])


def test_what_is_asked_about_a_fact_while_it_is_forgotten_is_not_kept(
    sql: Sql, three: Three
) -> None:
    gate, one, other = three
    tea = tell(sql, "Ada", "drinks tea")
    oslo = tell(sql, "Bo", "lives in Oslo")
    gate.hold("insert into recalled values (1, %s, 1, now())", oslo)

    text = describe_recall(query="what of Ada", found={"default": [tea, oslo]})
    one.start("select record_recalls(%s::jsonb)", text)
    other.start("select forget_entity('Ada')")
    other.wait_behind(one)
    gate.release()

    one.end()
    other.end()
    assert fetch(sql, "select count(*) from recall where query is not null") == 0


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

    assert other.end() == [
        (("0", "1", "0", "{0}", "{}", None, None, "{}", None, None, "{}", "{}"),)
    ]


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


def test_a_batch_that_waits_for_a_split_tells_each_name_of_its_own_entity(
    sql: Sql, three: Three
) -> None:
    _, one, other = three
    tell(sql, "Amy", "drinks tea")
    tell(sql, "Zed", "is tall")
    sql.execute("select merge_entities('Amy', 'Zed')")
    facts = [{"entity": "Zed", "observation": "runs"}, {"entity": "Amy", "observation": "swims"}]

    one.hold("select split_entity('Zed')")
    other.start("select build_knowledge(%s)", json.dumps(facts))
    one.release()

    assert len(other.end()) == 1
    found = sql.execute(
        "select e.name, content from fact join entity e on e.id = entity_id order by 1, 2"
    )
    assert found.fetchall() == [
        ("Amy", "drinks tea"), ("Amy", "swims"), ("Zed", "is tall"), ("Zed", "runs"),
    ]  # fmt: skip


def test_an_undo_is_reverted_beside_a_batch_about_its_entities(sql: Sql, three: Three) -> None:
    _, one, other = three
    tell(sql, "Amy", "was there before")
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


def test_a_fact_that_is_being_stored_when_the_first_model_comes_is_queued_for_it(
    sql: Sql, three: Three
) -> None:
    gate, one, _ = three
    gate.hold("select remember_fact('Ada', 'person', 'drinks tea')")
    one.start("select register_embedding_model('test:plane', 3)")
    gate.release()
    [(model,)] = one.end()

    while fetch(sql, "select queue_embeddings(%s)", model):
        pass

    assert fetch(sql, "select count(*) from embedding_pending where model_id = %s", model) == 1
