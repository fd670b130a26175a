"""close_pairs lists facts of one entity that may say the same, or contradict each other."""

from typing import Any

import psycopg

from tests.sql.story import ask, tell

Sql = psycopg.Connection[Any]


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
