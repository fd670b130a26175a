"""Facts stored one after the other speak for each other."""

from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL

from tests.sql.team import Team
from textrawl import migrate

Sql = psycopg.Connection[Any]

pytestmark = pytest.mark.anyio

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
    # What an undo of a former version kept has no number.
    for kept in (SQL("before"), SQL("before - 'ordinal'")):
        undone = team.undo("eve", since)
        assert sql.execute(order).fetchall() == []
        sql.execute(SQL("update undone set before = {} where action = 'remove'").format(kept))
        team.revert(undone["undo_id"])
        assert sorted(sql.execute(order).fetchall()) == sorted(before)
        assert kept != SQL("before") or sql.execute(order).fetchall() == before


async def test_facts_of_a_former_version_get_their_order_and_words(sql: Sql) -> None:
    remember(
        sql, "took a tent", "and a stove", TRIP, "reads", "sings", "sold a tent", "runs v1.2.3"
    )
    found = search(sql)
    sql.execute("alter table observation drop column ordinal cascade")
    sql.execute(
        "update observation set fts = array_to_tsvector('{~s1,v1.2.3}') where content ~ 'v1'"
    )
    assert search_version(sql) is None
    sql.execute("delete from migration where name = '0010_order'")
    await migrate(sql.info.dsn)
    assert search(sql) == found
    assert search_version(sql) == "runs v1.2.3"


def search_version(sql: Sql) -> str | None:
    row = sql.execute(
        "select content from observation where fts @@ '''1.2.3'''::tsquery"
    ).fetchone()
    return row[0] if row else None
