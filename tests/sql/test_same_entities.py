"""Entities that can be one, and facts of one entity that may say the same, are found."""

from typing import Any

import psycopg
import pytest

from tests.sql.story import ask, tell

Sql = psycopg.Connection[Any]


def remember(sql: Sql, entity: str, text: str, kind: str | None = None) -> None:
    sql.execute("select remember_fact(%s, %s, %s)", (entity, kind, text))


def find(sql: Sql, entity: str | None = None) -> list[tuple[str, str]]:
    query = """
        select entity_name, other_name from find_same_entities(%s)
        order by score desc, entity_name"""
    return sql.execute(query, (entity,)).fetchall()


def test_short_forms_and_misspelt_names_are_alike(sql: Sql) -> None:
    query = "select name_likeness(%s, %s), name_likeness(%s, %s), name_likeness(%s, 'Acme Corp')"
    for one, other, least in (
        ("Jeff Miller", "Miller, Jeff", 1.0), ("Jeff Miller", "jmiller", 0.8),
        ("Jeff Miller", "Jeff", 0.6), ("Katharina Schmidt", "Katarina Schmidt", 0.6),
    ):  # fmt: skip
        row = sql.execute(query, (one, other, other, one, one)).fetchone()

        assert row is not None
        assert row[0] == row[1] >= least
        assert row[2] < 0.2


def test_names_and_shared_facts_and_relations_make_candidates(sql: Sql) -> None:
    for fact in ("drinks tea", "is tall", "lives in Riga"):
        remember(sql, "Jeff Miller", fact)
    remember(sql, "jmiller", "prefers dark mode")
    remember(sql, "The Boss", "lives in Riga")
    remember(sql, "Acme Corp", "makes anvils")

    assert find(sql) == [("Jeff Miller", "The Boss"), ("Jeff Miller", "jmiller")]
    assert find(sql, "jmiller") == [("Jeff Miller", "jmiller")]
    assert find(sql, "Acme Corp") == []


def test_a_shared_relation_and_an_equal_type_raise_the_score(sql: Sql) -> None:
    remember(sql, "Jeff Miller", "drinks tea", "person")
    remember(sql, "Jeff", "is tall", "project")
    score = "select score from find_same_entities('Jeff', 0.1)"
    before = sql.execute(score).fetchall()
    for name in ("Jeff", "Jeff Miller"):
        sql.execute("select relate_entities(%s, 'works at', 'Acme')", (name,))

    assert sql.execute(score).fetchall() > before


def test_a_merged_entity_is_no_candidate(sql: Sql) -> None:
    remember(sql, "Jeff Miller", "drinks tea")
    remember(sql, "jmiller", "drinks tea")
    assert find(sql) == [("Jeff Miller", "jmiller")]

    sql.execute("select merge_entities('Jeff Miller', 'jmiller')")

    assert find(sql) == []
    assert sql.execute("select count(*) from memory_same_entities").fetchone() == (0,)


def test_the_pairs_of_one_entity_are_those_of_all_pairs(sql: Sql) -> None:
    for name in (
        "Jeff Miller", "jmiller", "Miller, Jeff", "Jeff", "J. Miller", "Jeffrey Milner", "Al Gore",
        "Al Gorman", "Gore", "Öz Ünal", "ounal", "öünal", "Atlas 1", "Atlas 2", "it's", "!?",
    ):  # fmt: skip
        remember(sql, name, f"is {name[:2].lower()} in a way")
    remember(sql, "The Boss", "is je in a way")
    every = sql.execute(
        "select entity_name, other_name, score from find_same_entities(min_score => 0.2,"
        " max_rows => 1000)"
    ).fetchall()
    names = [name for (name,) in sql.execute("select name from entity").fetchall()]
    single = {
        row
        for name in names
        for row in sql.execute(
            "select entity_name, other_name, score from find_same_entities(%s, 0.2, 1000)", (name,)
        ).fetchall()
    }

    assert len(every) >= 10
    assert single >= set(every)


def test_an_unknown_name_is_refused(sql: Sql) -> None:
    with pytest.raises(psycopg.Error) as refused:
        find(sql, "Nobody")

    assert refused.value.sqlstate == "TR050"


def _embed(sql: Sql, vectors: dict[str, str]) -> None:
    """Store a vector for each fact, by its text."""
    sql.execute("select register_embedding_model('fixed', 3, .05, .75, .5)")
    for text, vector in vectors.items():
        sql.execute(
            "insert into embedding_1 (space_id, observation_id, vector)"
            " select space_id, id, %s::halfvec from fact where content = %s",
            (vector, text),
        )


def test_very_similar_facts_are_duplicates_and_facts_that_disagree_conflict(sql: Sql) -> None:
    for text in ("drinks green tea", "drinks tea that is green", "has 2 cats", "has 3 cats"):
        tell(sql, "Ada", text)
    tell(sql, "Ben", "drinks green tea at noon")
    _embed(sql, {
        "drinks green tea": "[1,0,0]", "drinks tea that is green": "[1,0.01,0]",
        "has 2 cats": "[0,1,0]", "has 3 cats": "[0,1,0.01]", "drinks green tea at noon": "[1,0,0]",
    })  # fmt: skip

    assert ask(sql, "select kind, entity_name, one, other, total from close_pairs()") == [
        ("duplicate", "Ada", "drinks green tea", "drinks tea that is green", 1),
        ("conflict", "Ada", "has 2 cats", "has 3 cats", 1),
    ]


def test_only_the_entities_that_changed_last_are_compared(sql: Sql) -> None:
    for name in ("Ada", "Ben"):
        tell(sql, name, f"{name} drinks green tea")
        tell(sql, name, f"{name} drinks tea that is green")
    sql.execute("update entity set updated_at = now() - interval '1 day' where name = 'Ada'")
    sql.execute("select register_embedding_model('fixed', 3, .05, .75, .5)")
    sql.execute("insert into embedding_1 select space_id, id, '[1,0,0]' from fact")

    assert ask(sql, "select entity_name from close_pairs(entities => 1)") == [("Ben",)]
    assert len(ask(sql, "select entity_name from close_pairs()")) == 2


def test_without_vectors_only_facts_that_disagree_are_found(sql: Sql) -> None:
    for text in ("drinks green tea", "drinks tea that is green", "has 2 cats", "has 3 cats"):
        tell(sql, "Ada", text)
    assert ask(sql, "select kind, reason, similarity, one, other from close_pairs()") == [
        ("conflict", "other value", None, "has 2 cats", "has 3 cats")
    ]


def test_of_many_facts_that_begin_alike_the_newest_30_are_compared(sql: Sql) -> None:
    for number in range(2, 34):
        tell(sql, "Ada", f"has {number} cats")
    assert ask(sql, "select distinct total from close_pairs()") == [(30 * 29 // 2,)]
    oldest = "select 1 from close_pairs(max_rows => 500) where 'has 3 cats' in (one, other)"
    assert ask(sql, oldest) == []
