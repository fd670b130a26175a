"""An entity has one name and any number of aliases, and each of them finds it."""

from typing import Any

import psycopg
import pytest

Sql = psycopg.Connection[Any]


def ask(sql: Sql, query: Any, *arguments: object) -> Any:
    row = sql.execute(query, arguments).fetchone()
    return row[0] if row else None


def remember(sql: Sql, entity: str, text: str) -> Any:
    return ask(sql, "select observation_id from remember_fact(%s, 'person', %s)", entity, text)


def name(sql: Sql, entity: str, alias: str) -> Any:
    return ask(sql, "select added from name_entity(%s, %s)", entity, alias)


def found(sql: Sql, query: str) -> list[str]:
    rows = sql.execute("select content from search_memory(%s)", (query,)).fetchall()
    return sorted(row[0] for row in rows)


def documents(sql: Sql) -> list[Any]:
    return sql.execute("select id, fts::text from observation order by id").fetchall()


@pytest.fixture
def jeff(sql: Sql) -> Sql:
    remember(sql, "Jeff Miller", "prefers dark mode")
    sql.execute("select relate_entities('Sarah', 'manages', 'Jeff Miller')")
    sql.execute("select relate_entities('Jeff Miller', 'works at', 'Acme Corp')")
    return sql


def test_a_fact_about_an_alias_is_a_fact_about_its_entity(jeff: Sql) -> None:
    assert name(jeff, "Jeff Miller", "jmiller") is True

    remember(jeff, "JMILLER", "drinks tea")

    names = jeff.execute("select name from entity order by name").fetchall()
    assert names == [("Acme Corp",), ("Jeff Miller",), ("Sarah",)]
    about = ask(jeff, "select total_observations from describe_entity('jmiller')")
    assert about == 2


def test_a_search_for_an_alias_finds_facts_and_relations_of_both_directions(jeff: Sql) -> None:
    before = found(jeff, "dinosaur")

    name(jeff, "Jeff Miller", "Dinosaur")

    assert before == []
    assert found(jeff, "dinosaur") == [
        "manages Jeff Miller", "prefers dark mode", "works at Acme Corp",
    ]  # fmt: skip
    remember(jeff, "Jeff Miller", "drinks tea")
    assert "drinks tea" in found(jeff, "dinosaur")


def test_words_that_an_alias_added_are_those_of_documents_made_anew(jeff: Sql) -> None:
    for alias in ("jmiller", "The Dinosaur", "getJeffById"):
        name(jeff, "Jeff Miller", alias)
    added = documents(jeff)

    jeff.execute("select renew_documents(1, array(select id from entity))")

    assert documents(jeff) == added


def test_an_alias_that_was_removed_finds_nothing_and_is_free_again(jeff: Sql) -> None:
    before = documents(jeff)
    name(jeff, "Jeff Miller", "Dinosaur")

    jeff.execute("select unname_entity('dinosaur')")

    assert documents(jeff) == before
    assert jeff.execute("select * from describe_entity('Dinosaur')").fetchall() == []
    remember(jeff, "Dinosaur", "lived long ago")
    assert ask(jeff, "select name from describe_entity('dinosaur')") == "Dinosaur"


def test_a_name_of_another_entity_cannot_be_an_alias(jeff: Sql) -> None:
    name(jeff, "Sarah", "Boss")
    for taken in ("sarah", "boss"):
        with pytest.raises(psycopg.Error) as refused:
            name(jeff, "Jeff Miller", taken)

        assert refused.value.sqlstate == "TR034"


def test_an_alias_that_an_entity_has_is_not_added_again(jeff: Sql) -> None:
    name(jeff, "Jeff Miller", "jmiller")

    assert name(jeff, "jmiller", "JMiller") is False
    assert name(jeff, "jmiller", "jeff  miller") is False
    assert ask(jeff, "select count(*) from list_aliases('Jeff Miller')") == 1


def test_an_alias_that_nobody_has_cannot_be_removed(jeff: Sql) -> None:
    with pytest.raises(psycopg.Error) as refused:
        jeff.execute("select unname_entity('Jeff Miller')")

    assert refused.value.sqlstate == "TR035"


def test_every_function_takes_an_alias(jeff: Sql) -> None:
    name(jeff, "Jeff Miller", "jm")
    name(jeff, "Acme Corp", "acme")
    calls = {
        "select (end_relation('jm', 'works at', 'ACME')).ended": ["Acme Corp"],
        "select (relate_entities('jm', 'works at', 'acme')).to_name": "Acme Corp",
        "select count(*) from open_nodes(array['jm', 'acme']) where kind = 'entity'": 2,
        "select string_agg(entity_name, ' ' order by entity_name) from neighbours('jm')":
            "Acme Corp Sarah",
        "select count(*) from path_between('jm', 'acme')": 1,
        "select count(*) from entity_context('jm') where kind = 'fact'": 1,
        "select entity_name from complete_name('jm')": "jm",
        "select 'acme' in (select entity_name from similar_names('acmee'))": True,
        "select name from node_sizes('jm')": "Jeff Miller",
        """select (build_knowledge('[{"entity": "JM", "observation": "o"}]')).facts_created""": 1,
        """select name from add_observations('[{"entity": "jm", "observations": ["old"]}]')""":
            "Jeff Miller",
        """select name from create_nodes('[{"name": "jm", "observations": ["x"]}]')""":
            "Jeff Miller",
        """select deleted from delete_observations('[{"entity": "jm", "observations": ["x"]}]')""":
            1,
        "select count(*) from digest_memory('jm') where section = 'project'": 3,
        "select count(*) from list_events(entity => 'jm')": 11,
        "select deleted from delete_nodes(array['acme'])": True,
        "select entity_name from forget_entity('jm')": "Jeff Miller",
    }  # fmt: skip

    assert {call: ask(jeff, call) for call in calls} == calls
    assert jeff.execute("select name from entity").fetchall() == [("Sarah",)]


def test_two_names_of_one_entity_make_a_relation_to_itself(jeff: Sql) -> None:
    name(jeff, "Jeff Miller", "jm")

    jeff.execute("select relate_entities('jm', 'knows', 'Jeff Miller')")

    assert jeff.execute(
        "select count(*) from relation where from_entity = to_entity"
    ).fetchall() == [(1,)]


def test_an_entity_is_forgotten_with_its_aliases_and_with_reflections_that_name_them(
    jeff: Sql,
) -> None:
    name(jeff, "Jeff Miller", "Dinosaur")
    jeff.execute("select add_reflection('global', 'likes the dinosaur', 'observer')")

    jeff.execute("select forget_entity('Jeff Miller')")

    assert ask(jeff, "select count(*) from entity_alias") == 0
    assert ask(jeff, "select count(*) from reflection") == 0
