"""Facts stored one after the other speak for each other."""

from typing import Any

import psycopg
import pytest

from tests.support.sql_team import Team

Sql = psycopg.Connection[Any]

TRIP = "planned a trip to Oslo"


def remember(sql: Sql, *facts: str, space: int = 1) -> None:
    for fact in facts:
        sql.execute(
            "select remember_fact('Ana', 'person', %s, space => %s::integer)", (fact, space)
        )


def search(sql: Sql, query: str = "trip Oslo tent") -> dict[str, float]:
    """Scores by content, best first."""
    rows = sql.execute("select content, score from search_memory(%s)", (query,)).fetchall()
    return {content: round(score, 5) for content, score in rows}


def test_what_was_told_beside_a_good_fact_comes_before_what_was_not(sql: Sql) -> None:
    remember(sql, "took a tent", "and a stove", TRIP, "sings", "reads", "sold a tent", "swims")
    found = search(sql)
    assert list(found) == [TRIP, "took a tent", "sold a tent"]


def test_neighbours_lift_what_is_worse_and_never_the_best(sql: Sql) -> None:
    remember(sql, "took a tent", TRIP)
    beside = search(sql)
    sql.execute("update observation set ordinal = 10 * ordinal")
    apart = search(sql)
    assert beside[TRIP] == apart[TRIP]
    assert beside["took a tent"] == pytest.approx(
        apart["took a tent"] ** 0.7 * apart[TRIP] ** 0.3, abs=1e-4
    )


def test_a_neighbour_that_has_nothing_of_the_question_is_not_found(sql: Sql) -> None:
    remember(sql, TRIP, "keeps bees")
    assert list(search(sql)) == [TRIP]


def test_a_fact_of_another_space_is_no_neighbour(sql: Sql) -> None:
    row = sql.execute("insert into space (name) values ('team') returning id").fetchone()
    assert row
    remember(sql, "took a tent", space=row[0])
    remember(sql, TRIP)
    beside = search(sql)
    sql.execute("update observation set ordinal = 10 * ordinal")
    assert search(sql) == beside


def test_an_undo_that_is_reverted_gives_facts_their_place_again(sql: Sql) -> None:
    team = Team(sql)
    since = team.now()
    for fact in (TRIP, "took a tent"):
        team.remember("eve", "Ana", fact)
    order = "select content from observation order by ordinal"
    before = sql.execute(order).fetchall()
    assert before == [(TRIP,), ("took a tent",)]
    undone = team.undo("eve", since)
    assert sql.execute(order).fetchall() == []
    team.revert(undone["undo_id"])
    assert sql.execute(order).fetchall() == before
