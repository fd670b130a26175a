"""What the views tell analysts of a memory whose story is known."""

from hashlib import sha256

import polars
import psycopg
import pytest
from psycopg.types.string import TextLoader

from tests.sql.story import Ids, age, ask, recall, tell
from textrawl.postgres.sql_files import describe_views


def test_the_timeline_tells_what_became_true_and_what_stopped_being_so(
    sql: psycopg.Connection, story: Ids
) -> None:
    rows = ask(
        sql,
        "select became, reason, content from memory_timeline where entity_name = 'Ada'"
        " order by at, became, content",
    )
    assert rows == [
        (True, "told", "lives in Oslo since 2019"),
        (False, "replaced", "lives in Oslo since 2019"),
        (True, "told", "lives in Riga since 2024"),
        (True, "told", "drinks tea"),
    ]


def test_a_fact_whose_end_has_come_is_told_as_ended(sql: psycopg.Connection) -> None:
    fact = tell(sql, "Ada", "is on holiday")
    age(sql, fact, 9)
    sql.execute("update observation set valid_until = now() - interval '1 day'")

    assert ask(sql, "select became, reason from memory_timeline order by at") == [
        (True, "told"),
        (False, "ended"),
    ]


def test_stale_facts_are_told_with_every_reason(sql: psycopg.Connection, story: Ids) -> None:
    for name in ("tea", "oslo"):
        recall(sql, found={"default": [story[name]]}, at="2030-01-01T00:00:00Z")
    old = tell(sql, "Bo", "collects stamps")
    age(sql, old, 200)

    rows = ask(sql, "select id::text, reasons, recalls from memory_stale order by content")
    assert rows == [
        (old, "old, never recalled", 0),
        (story["tea"], "low confidence", 1),
        (story["oslo"], "recalled though replaced", 1),
    ]


def test_near_duplicates_are_pairs_of_valid_facts_of_one_entity(
    sql: psycopg.Connection, vectors: Ids
) -> None:
    assert ask(sql, "select * from memory_duplicates") == []
    again = tell(sql, "Ada", "has been living in Riga since 2024")
    sql.execute(
        "insert into embedding_1 select space_id, id, '[0.99, 0.11, 0]' from observation"
        " where id = %s",
        (again,),
    )
    [row] = ask(
        sql, "select id::text, other_id::text, similarity, same_statement from memory_duplicates"
    )
    assert row[:2] == (vectors["riga"], again)
    assert row[2] == pytest.approx(1, abs=0.001)
    assert row[3] is True


def test_near_duplicates_compare_no_more_pairs_than_they_are_told_to(
    sql: psycopg.Connection, vectors: Ids
) -> None:
    for name in ("Bo", "Cy"):
        for number in (1, 2, 3):
            fact = tell(sql, name, f"likes number {number}")
            sql.execute(
                "insert into embedding_1 select space_id, id, '[0, 1, 0]' from observation"
                " where id = %s",
                (fact,),
            )
    assert ask(sql, "select count(*) from near_facts(0.9)") == [(6,)]
    assert ask(sql, "select count(*) from near_facts(0.9, most_pairs => 3)") == [(3,)]
    assert ask(sql, "select count(*) from near_facts(0.9, max_rows => 2)") == [(2,)]


def test_conflicts_are_replaced_facts_and_valid_ones_that_disagree(
    sql: psycopg.Connection, vectors: Ids
) -> None:
    other = tell(sql, "Ada", "lives in Bergen since May 2025")
    tell(sql, "Ada", "has lived in Oslo and in Riga")
    rows = ask(sql, "select reason, id::text, other_id::text from memory_conflicts order by reason")
    assert rows == [
        ("other value", vectors["riga"], other),
        ("replaced", vectors["oslo"], vectors["riga"]),
    ]


def test_growth_counts_facts_by_week_type_source_and_author(
    sql: psycopg.Connection, story: Ids
) -> None:
    rows = ask(
        sql,
        "select week = date_trunc('week', now())::date, entity_type, source, facts, still_valid"
        " from memory_growth order by week",
    )
    assert rows == [
        (False, "person", "conversation", 1, 0),
        (True, "person", "conversation", 2, 2),
    ]


def test_recalls_tell_what_was_asked_found_and_spent(sql: psycopg.Connection, story: Ids) -> None:
    recall(
        sql,
        query="what does Ada drink?",
        query_hash="ab",
        hits=2,
        milliseconds=7.5,
        score=0.8,
        cosine=0.7,
        coverage=0.5,
        found={"default": [story["tea"], story["riga"]]},
    )
    assert ask(
        sql,
        "select space, query, hits, score, cosine, coverage, tokens, milliseconds,"
        " (select array_agg(observation_id::text order by place) from memory_recalled_facts"
        "  where recall_id = r.id) from memory_recalls r",
    ) == [
        (
            "default", "what does Ada drink?", 2, pytest.approx(0.8), pytest.approx(0.7), 0.5, 10,
            7.5, [story["tea"], story["riga"]],
        )
    ]  # fmt: skip
    assert ask(sql, "select observation_id::text, recalls from recalled order by 1") == sorted(
        [(story["tea"], 1), (story["riga"], 1)]
    )


def test_ids_of_other_spaces_are_counted_but_not_told_in_the_space_of_who_asked(
    sql: psycopg.Connection,
) -> None:
    sql.execute("insert into space (name) values ('other')")
    row = sql.execute("select id from find_space('other') id").fetchone()
    assert row is not None
    fact = tell(sql, "Ada", "drinks tea", space=row[0])
    recall(sql, found={"other": [fact], "gone": [fact]}, hits=1)

    assert ask(sql, "select space, hits from memory_recalls") == [("default", 1)]
    assert ask(sql, "select * from memory_recalled_facts") == []
    assert ask(sql, "select space_id, observation_id::text from recalled") == [(row[0], fact)]


def test_a_question_is_unanswered_until_its_last_answer_is_good(sql: psycopg.Connection) -> None:
    recall(sql, query="x?", query_hash="x", score=0.3, hits=1, at="2026-11-01T00:00:00Z")
    recall(sql, query="x?", query_hash="x", score=None, hits=0, at="2026-11-02T00:00:00Z")
    recall(sql, query="y?", query_hash="y", score=0.4, hits=1, at="2026-11-01T00:00:00Z")
    recall(sql, query="y?", query_hash="y", score=0.5, hits=1, at="2026-11-02T00:00:00Z")
    recall(sql, mode="list", query=None, query_hash=None, hits=0)

    assert ask(sql, "select query, times, score, hits from memory_unanswered") == [
        ("x?", 2, None, 0)
    ]
    assert ask(sql, "select query from unanswered_queries(0.6) order by query") == [
        ("x?",),
        ("y?",),
    ]


def test_what_is_forgotten_leaves_the_log_of_recalls(sql: psycopg.Connection, story: Ids) -> None:
    recall(sql, query="where is she?", query_hash="a", found={"default": [story["riga"]]})
    recall(sql, query="tell me about ADA", query_hash="b")
    recall(sql, query="and Bo?", query_hash="c", found={"default": []})

    sql.execute("select forget_entity('Ada')")

    assert ask(sql, "select query, query_hash, facts, tokens from recall order by id") == [
        (None, None, [], 10),
        (None, None, [], 10),
        ("and Bo?", "c", [], 10),
    ]
    assert ask(sql, "select * from recalled") == []


def test_one_forgotten_fact_leaves_the_recalls_that_it_was_in(
    sql: psycopg.Connection, story: Ids
) -> None:
    both = [story["riga"], story["tea"]]
    recall(sql, query="where is she?", query_hash="a", found={"default": both}, items=2)
    recall(sql, query="Ada?", query_hash="b", found={"default": [story["riga"]]})

    sql.execute("select forget_entity('Ada', fact => 'drinks tea')")

    assert ask(sql, "select query, facts::text[] from recall order by id") == [
        (None, [story["riga"]]),
        ("Ada?", [story["riga"]]),
    ]


def test_every_view_is_read_into_a_data_frame_without_nested_columns(
    sql: psycopg.Connection, vectors: Ids
) -> None:
    recall(sql, query="Ada?", query_hash="a", hits=1, found={"default": [vectors["tea"]]})
    sql.execute('update entity set metadata = \'{"type": "human"}\'')
    sql.execute("select grant_access('ana', 'default', array['read', 'write'])")
    sql.execute("select undo_author(session_user, (select max(created_at) from observation))")
    tell(sql, "Bo", "drinks tea")
    # As docs/analytics.md has it: else ids are objects of Python's, which no file can hold.
    sql.adapters.register_loader("uuid", TextLoader)
    for view in describe_views():
        frame: polars.DataFrame = polars.read_database(f"table {view}", sql)  # pyright: ignore[reportUnknownMemberType]
        plain = (polars.List, polars.Struct, polars.Array)
        nested = {name: kind for name, kind in frame.schema.items() if isinstance(kind, plain)}
        assert nested == {}, view
        assert frame.write_csv(), view


def test_who_asked_who_may_read_and_what_was_undone_is_told(sql: psycopg.Connection) -> None:
    credential = sha256(b"ana").digest()
    sql.execute(
        "select create_token(%s, 'trl_ana', 'ana', 'default', array['read', 'write'])",
        (credential,),
    )
    recall(sql, query="Ada?", credential=credential.hex())
    recall(sql, query="nobody?", credential=sha256(b"nobody").hexdigest())
    sql.execute("select remember_fact('Ada', 'person', 'sings', credential => %s)", (credential,))
    sql.execute("select undo_author('ana', now() - interval '1 hour')")

    assert ask(sql, "select actor, query from memory_recalls") == [("ana", "Ada?")]
    assert ask(
        sql,
        "select space, actor, may_read, may_write, may_forget, for_login from memory_grants"
        " where actor = 'ana'",
    ) == [("default", "ana", True, True, False, False)]
    assert ask(
        sql,
        "select author, undone_by, state, kind, action, entity_name, content from memory_undone"
        " order by kind",
    ) == [
        ("ana", sql.info.user, "undone", "entity", "drop entity", "ada", None),
        ("ana", sql.info.user, "undone", "observation", "remove", "ada", "sings"),
    ]


def test_health_tells_every_table_and_the_model_of_its_vectors(
    sql: psycopg.Connection, vectors: Ids
) -> None:
    tell(sql, "Bo", "waits for a vector")
    sql.execute("analyze observation")
    rows = ask(
        sql,
        "select table_name, model, model_status, pending from memory_health"
        " where table_name in ('embedding_1', 'observation') order by 1",
    )
    assert rows == [("embedding_1", "test:model", "active", 1), ("observation", None, None, None)]
    assert ask(
        sql,
        "select estimated_rows, last_analyze is not null from memory_health"
        " where table_name = 'observation'",
    ) == [(6, True)]  # four facts, and the statements of two relations
    assert ask(
        sql,
        "select table_name, bytes > 0, finished from memory_indexes"
        " where index_name = 'observation_fts_idx'",
    ) == [("observation", True, True)]


def test_degrees_count_relations_both_ways_and_entities_without_any(
    sql: psycopg.Connection, story: Ids
) -> None:
    tell(sql, "Di", "is alone")
    rows = ask(
        sql,
        "select entity_name, outgoing, incoming, degree from memory_graph_degree order by 1",
    )
    assert rows == [
        ("Ada", 0, 1, 1), ("Bo", 2, 0, 2), ("Cy", 0, 1, 1), ("Di", 0, 0, 0)
    ]  # fmt: skip
