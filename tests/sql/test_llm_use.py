"""The table of calls to the LLM: who may add to it and read it, and that it does not grow."""

from typing import Any

import psycopg

from tests.support.sql_team import Team

MOST_KEPT = 100_000


def record(sql: psycopg.Connection, purpose: str = "extract", **more: Any) -> Any:
    given = {"error": None, "credential": None, "space": None, **more}
    return sql.execute(
        "select record_llm_use(%(purpose)s, 'Ollama m', 1, 10, 5, 100, %(error)s, %(credential)s,"
        " %(space)s)",
        {"purpose": purpose, **given},
    ).fetchone()


def test_calls_are_summed_by_purpose(sql: psycopg.Connection) -> None:
    record(sql)
    record(sql, error="LLM_BAD_OUTPUT")
    record(sql, "consolidate")

    rows = sql.execute(
        "select purpose, calls, failures, requests, tokens_in, tokens_out, p50_ms, errors"
        " from llm_usage()"
    ).fetchall()

    assert rows == [
        ("consolidate", 1, 0, 1, 10, 5, 100, {}),
        ("extract", 2, 1, 2, 20, 10, 100, {"LLM_BAD_OUTPUT": 1}),
    ]


def test_only_the_last_days_count(sql: psycopg.Connection) -> None:
    record(sql)
    sql.execute("update llm_use set at = now() - interval '8 days'")

    assert sql.execute("select calls from llm_usage(days => 7)").fetchall() == []
    assert sql.execute("select calls from llm_usage(days => 9)").fetchall() == [(1,)]


def test_a_call_is_recorded_only_in_a_space_of_the_credential(owner: psycopg.Connection) -> None:
    team, other = Team(owner), Team(owner, "other").space

    assert record(team.sql, credential=team.credential("ana"), space=team.space) == (True,)
    assert record(team.sql, credential=team.credential("ana"), space=other) == (None,)
    assert record(team.sql, credential=b"x" * 32, space=team.space) == (None,)


def test_calls_of_90_days_and_at_most_100_000_of_a_space_are_kept(sql: psycopg.Connection) -> None:
    sql.execute(
        "insert into llm_use (space_id, at, purpose, model, requests, tokens_in, tokens_out,"
        " milliseconds) select default_space(), now() - interval '91 days' * (n <= 3)::integer,"
        " 'extract', 'm', 1, 1, 1, 1 from generate_series(1, %s) n",
        (MOST_KEPT + 5,),
    )

    assert sql.execute("select prune_llm_use()").fetchone() == (5,)
    assert sql.execute("select count(*) from llm_use").fetchone() == (MOST_KEPT,)


def test_extraction_has_a_state_before_its_first_attempt(sql: psycopg.Connection) -> None:
    row = sql.execute("select * from extraction_state()").fetchone()

    assert row == (None, None, None, 0, 0, 0, 0, 0)
