"""The words and names of a question: which of them no fact has, and which are of entities."""

import math
from typing import Any

import psycopg
import pytest


def test_missing_words_tell_nothing_of_spaces_that_are_not_read(
    sql: psycopg.Connection[Any],
) -> None:
    sql.execute("insert into space (name) values ('other')")
    sql.execute("select remember_fact('Ana', 'person', 'rode a zebra', space => 2)")
    sql.execute("select remember_fact('Ana', 'person', 'rode a pony')")

    missing = "select array_agg(word) from missing_words('Did Ana ride a zebra?', array[%s])"

    assert sql.execute(missing, (1,)).fetchone() == (["zebra"],)
    assert sql.execute(missing, (2,)).fetchone() == (None,)


def test_the_words_of_an_entity_in_a_query_are_found_as_it_writes_them(
    sql: psycopg.Connection[Any],
) -> None:
    for name in ("Ann", "Ann Lee", "C#", "Me", "The Who", "Dr. Almeida"):
        sql.execute("select remember_fact(%s, 'concept', 'is known')", (name,))
    found = {
        query: [row[0] for row in sql.execute("select mention from named_entities(%s)", (query,))]
        for query in (
            "what does Ann Lee's boss do?", "c#", "tell me more", "when did the who split up",
            "“Dr. Almeida”, when?",
        )
    }  # fmt: skip
    assert found == {
        "what does Ann Lee's boss do?": ["Ann Lee", "Ann"],
        "c#": ["c#"],
        "tell me more": [],
        "when did the who split up": [],
        "“Dr. Almeida”, when?": ["Dr. Almeida"],
    }


def test_the_factors_of_a_score_multiply_to_it(sql: psycopg.Connection[Any]) -> None:
    for entity, fact in (
        ("Ada", "took a tent to Oslo"),
        ("Ada", "planned a trip to Oslo"),
        ("Tom", "sings with Ada"),
        ("Tom", "knows Oslo well"),
        ("Ada", "plays green chess"),
    ):
        sql.execute("select remember_fact(%s, 'person', %s)", (entity, fact))
    rows = sql.execute(
        "select score, factors from explain_search('did Ada plan a trip to Oslo', least_score => 0)"
    ).fetchall()
    assert len(rows) == 5
    for score, factors in rows:
        assert math.prod(factors) == pytest.approx(score, rel=1e-5)
        assert len(factors) == 7
    assert {round(factors[1], 1) for _, factors in rows} == {1, 0.9, 0.8}
