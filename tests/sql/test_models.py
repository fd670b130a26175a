"""Models of vectors, and what calls of an LLM cost."""

from typing import Any

import psycopg
import pytest
from psycopg import sql as query

from tests.support.sql_team import Team
from tests.support.upkeep import count

Sql = psycopg.Connection


def remember(sql: Sql, count: int, first: int = 0) -> None:
    sql.execute(
        "select remember_fact('Ada', 'person', 'owns thing ' || n) "
        "from generate_series(%s::int, %s) n",
        (first, first + count - 1),
    )


def call(sql: Sql, function: str, *arguments: object) -> object:
    places = query.SQL(", ").join([query.Placeholder()] * len(arguments))
    statement = query.SQL("select {}({})").format(query.Identifier(function), places)
    row = sql.execute(statement, arguments).fetchone()
    return row[0] if row else None


def start(sql: Sql, name: str, dimensions: int = 3) -> object:
    return call(sql, "start_embedding_model", name, dimensions)


def fill(sql: Sql, model: object) -> None:
    while call(sql, "queue_embeddings", model):
        pass
    sql.execute(
        "select fill_pending_embeddings(%(model)s, array_agg(space_id), array_agg(observation_id),"
        " array_agg('[1,2,3]'::halfvec)) from embedding_pending where model_id = %(model)s",
        {"model": model},
    )


def test_facts_older_than_a_model_are_listed_piece_by_piece_and_each_once(sql: Sql) -> None:
    remember(sql, 10)
    model = call(sql, "register_embedding_model", "test:plane", 3)
    assert count(sql, "embedding_pending") == 0
    rounds = 0
    while call(sql, "queue_embeddings", model, 4):
        rounds += 1
        remember(sql, 1, first=100 + rounds)  # lists itself, wherever its id falls
    assert rounds >= 3
    assert count(sql, "embedding_pending") == count(sql, "observation") == 10 + rounds
    assert call(sql, "queue_embeddings", model) is False


def test_the_first_model_is_active_and_another_is_refused_until_its_owner_starts_it(
    sql: Sql,
) -> None:
    call(sql, "register_embedding_model", "test:plane", 3)
    with pytest.raises(psycopg.Error) as refused:
        call(sql, "register_embedding_model", "test:other", 3)
    assert refused.value.sqlstate == "TR040"
    assert refused.value.diag.message_detail == "test:plane"
    start(sql, "test:other")
    rows = sql.execute("select name, status from embedding_models()").fetchall()
    assert rows == [("test:plane", "active"), ("test:other", "building")]


def test_a_measured_scale_outlives_the_values_of_the_program(sql: Sql) -> None:
    def read_scale() -> object:
        statement = "select cosine_floor, cosine_ceiling, trust from embedding_model"
        return sql.execute(statement).fetchone()

    call(sql, "register_embedding_model", "test:plane", 3, 0, 0.75, 0.5)
    call(sql, "calibrate_embedding_model", "test:plane", 0.125, 0.875, 0.625)
    call(sql, "register_embedding_model", "test:plane", 3, 0, 0.75, 0.5)
    assert read_scale() == (0.125, 0.875, 0.625)

    call(sql, "calibrate_embedding_model", "test:plane", 0, 0.5, 0.25, False)
    call(sql, "register_embedding_model", "test:plane", 3, 0, 0.75, 0.5)
    assert read_scale() == (0, 0.75, 0.5)
    with pytest.raises(psycopg.Error) as refused:
        call(sql, "calibrate_embedding_model", "test:none", 0, 0.5, 0.25)
    assert refused.value.sqlstate == "TR046"


def test_a_model_is_switched_to_when_one_fact_in_a_hundred_waits_at_most(sql: Sql) -> None:
    call(sql, "register_embedding_model", "test:plane", 3)
    remember(sql, 200)
    model = start(sql, "test:other")
    with pytest.raises(psycopg.Error) as refused:
        call(sql, "switch_embedding_model")
    assert (refused.value.sqlstate, refused.value.diag.message_detail) == ("TR045", "200")
    fill(sql, model)
    remember(sql, 2, first=500)
    assert call(sql, "switch_embedding_model") == ("test:other", "test:plane")
    assert call(sql, "rollback_embedding_model") == ("test:plane", "test:other")


def test_what_is_searched_with_and_what_is_not_there_cannot_be_dropped(sql: Sql) -> None:
    call(sql, "register_embedding_model", "test:plane", 3)
    for name, code in {"test:plane": "TR048", "test:none": "TR046"}.items():
        with pytest.raises(psycopg.Error) as refused:
            call(sql, "drop_embedding_model", name)
        assert refused.value.sqlstate == code


def test_a_search_with_a_model_that_was_dropped_says_so(sql: Sql) -> None:
    with pytest.raises(psycopg.Error) as refused:
        sql.execute("select * from search_memory('tea', model => 7, vector => '[1,2,3]')")
    assert refused.value.sqlstate == "TR049"


def test_a_fact_with_an_end_in_the_past_is_stored_once_however_often_it_is_told(sql: Sql) -> None:
    for _ in range(3):
        sql.execute(
            "select remember_fact('Ada', 'person', 'lives in Rome', valid_until => '2020-01-01')"
        )
    sql.execute(
        "select remember_fact('Ada', 'person', 'lives in Rome', valid_until => '2021-01-01')"
    )
    assert count(sql, "observation") == 2


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
