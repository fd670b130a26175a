"""The factor by which the time that a question names lifts scores."""

from typing import Any

import psycopg

Sql = psycopg.Connection[Any]


def test_a_lifted_score_stays_in_its_range_and_order(sql: Sql) -> None:
    rows = sql.execute(
        "select n / 1000.0, lift_score(n / 1000.0, true) from generate_series(0, 1000) n order by n"
    ).fetchall()
    lifted = [lift for _, lift in rows]

    assert all(float(score) <= lift <= min(1, 1.4 * float(score) + 1e-9) for score, lift in rows)
    assert lifted == sorted(lifted)


def test_without_a_time_a_score_stays_as_it_is(sql: Sql) -> None:
    for flag in (False, None):
        assert sql.execute("select lift_score(0.3, %s)", (flag,)).fetchone() == (0.3,)


def test_facts_of_the_period_are_lifted_and_no_other_fact_is_lost(sql: Sql) -> None:
    for day in ("2023-05-08", "2024-05-08", "2025-05-08"):
        sql.execute(
            "select remember_fact('Jeff', 'person', 'likes tea of ' || %s, said_at => %s)",
            (day, day),
        )
    query = """
        select said_at::date::text, score from search_memory('tea', around => %s::tstzrange)"""
    sql.execute("set timezone = 'UTC'")
    plain = dict(sql.execute(query, (None,)).fetchall())
    lifted = dict(sql.execute(query, ("[2024-01-01,2025-01-01)",)).fetchall())

    assert lifted.keys() == plain.keys()
    assert next(iter(lifted)) == "2024-05-08"
    assert plain["2024-05-08"] < lifted["2024-05-08"] <= 1
