"""The table of costs: how it is summed up, and that it does not grow without end."""

import json
from typing import Any

import psycopg

MOST_KEPT = 100_000


def record(sql: psycopg.Connection, tokens: list[int], **same: Any) -> None:
    """Recalls a second apart, the first the oldest."""
    recalls = [
        {"at": f"2026-11-21T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}Z", "client": None,
         "mode": "search", "format": "lines", "structured": False, "tokens": count,
         "budget": 2000, "items": 3, "dropped": 0, **same}
        for n, count in enumerate(tokens)
    ]  # fmt: skip
    sql.execute("select record_recalls(%s)", (json.dumps(recalls),))


def sum_up(sql: psycopg.Connection, last: int) -> Any:
    return sql.execute(
        "select recalls, p50, p95, largest, cut, dropped from recall_costs(last => %s)", (last,)
    ).fetchone()


def test_median_and_95th_percentile_are_tokens_that_an_answer_had(
    sql: psycopg.Connection,
) -> None:
    record(sql, [100 - n for n in range(100)])

    assert sum_up(sql, 100) == (100, 50, 95, 100, 0, 0)


def test_only_the_last_recalls_count(sql: psycopg.Connection) -> None:
    record(sql, [9000, 10, 30, 20])

    assert sum_up(sql, 3) == (3, 20, 30, 30, 0, 0)
    assert sum_up(sql, 4)[3] == 9000
    assert (
        sql.execute("select since from recall_costs(3)").fetchone()
        == sql.execute("select timestamptz '2026-11-21 00:00:01Z'").fetchone()
    )


def test_what_was_cut_is_counted_and_summed(sql: psycopg.Connection) -> None:
    record(sql, [40, 50], dropped=7)
    record(sql, [60])

    assert sum_up(sql, 100) == (3, 50, 60, 60, 2, 14)


def test_without_recalls_there_is_a_row_that_says_so(sql: psycopg.Connection) -> None:
    assert sum_up(sql, 100) == (0, None, None, None, 0, 0)


def test_old_recalls_go_and_the_newest_hundred_thousand_of_a_space_stay(
    sql: psycopg.Connection,
) -> None:
    sql.execute("insert into space (name) values ('other')")
    sql.execute(
        """insert into recall
            (space_id, at, mode, format, structured, tokens, budget, items, dropped)
        select id, now() - make_interval(days => case when n = 1 then 91 else 1 end), 'list',
            'lines', false, n, 2000, 0, 0
        from space, generate_series(1, case when name = 'other' then 2 else %s end) n
        order by id, n""",
        (MOST_KEPT + 5,),
    )
    assert sql.execute("select prune_recalls()").fetchone() == (6,)

    kept = sql.execute(
        "select name, count(*), min(tokens), max(tokens) from recall"
        " join space on space.id = space_id group by name order by name"
    ).fetchall()
    assert kept == [("default", MOST_KEPT, 6, MOST_KEPT + 5), ("other", 1, 2, 2)]


def test_recalls_go_with_their_space(sql: psycopg.Connection) -> None:
    record(sql, [10])

    sql.execute("delete from space")

    assert sql.execute("select count(*) from recall").fetchone() == (0,)
