"""The map of facts, the names on it, and what was stored on each day and by whom."""

from typing import Any

import psycopg

from tests.sql.story import Ids, ask

Sql = psycopg.Connection[Any]


def test_facts_that_mean_the_same_lie_in_one_cell_under_the_name_of_their_entity(
    sql: Sql, vectors: Ids
) -> None:
    sql.execute("update observation set valid_until = null, replaced_by = null, closed_at = null")
    shown = ask(
        sql,
        "select round(at_x::numeric, 1)::float, round(at_y::numeric, 1)::float, facts, entities,"
        " n.name from map_facts('[1,0,0]', '[0,0,1]', 10, 10) m,"
        " entity_names(array[m.space_id], array[m.entity_id]) n",
    )
    sampled = ask(sql, "select count(*) from sample_vectors(2)")

    assert shown == [(0.3, -0.3, 2, 1, "Ada"), (-0.5, 0.5, 1, 1, "Ada")]
    assert (sampled, len(vectors)) == ([(2,)], 3)


def test_each_day_has_its_facts_and_each_author_of_today_what_they_did(
    sql: Sql, story: Ids
) -> None:
    days = ask(sql, "select facts, day = (now() at time zone 'UTC')::date from activity_days(2)")
    authors = ask(sql, "select author, stored, changed from recent_authors(now() - '1h'::interval)")

    assert days[-1] == (2, True)
    assert 8 <= len(days) <= 14
    assert authors == [("textrawl_owner", 2, 1)]
    assert len(story) == 3
