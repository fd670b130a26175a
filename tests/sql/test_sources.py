"""The trail, undo and purge of sources, and the labels that they keep."""

import json
from typing import Any

import psycopg
import pytest

from tests.sql.test_corpus import CHUNKS, TEXT, correct, fetch, look, store

Sql = psycopg.Connection[Any]


@pytest.fixture
def handbook(sql: Sql) -> Sql:
    """A session with the personal graph `handbook`."""
    sql.execute("select create_space('handbook', tier => 'personal')")
    return sql


def undo(sql: Sql, before: Any) -> int:
    """Undo all writes of this session since an instant, and return the id of the undo."""
    return fetch(sql, "select undo_id from undo_author(session_user, %s)", before)


def read_clock(sql: Sql) -> Any:
    return fetch(sql, "select clock_timestamp()")


def count_rows(sql: Sql) -> list[int]:
    """The numbers of rows that a source has in each table."""
    [counts] = sql.execute(
        "select (select count(*) from document), (select count(*) from source),"
        " (select count(*) from document_version), (select count(*) from chunk),"
        " (select count(*) from observation), (select count(*) from entity),"
        " (select count(*) from correction), (select count(*) from lexeme)"
    ).fetchall()
    return list(counts)


def test_a_source_is_taken_back_and_restored_as_one(handbook: Sql) -> None:
    before = read_clock(handbook)
    store(handbook)
    stored = look(handbook)

    number = undo(handbook, before)
    listed = fetch(handbook, "select sources from list_graphs()")
    gone = look(handbook)
    handbook.execute("select revert_undo(%s)", (number,))

    assert (gone, listed) == ([], 0)
    assert look(handbook) == stored
    assert fetch(handbook, "select chunks from list_graphs()") == 3


def test_the_former_text_of_a_file_comes_back(handbook: Sql) -> None:
    store(handbook)
    former = look(handbook)
    before = read_clock(handbook)
    store(handbook, TEXT.replace("four", "five"))

    undo(handbook, before)

    assert look(handbook) == former


def test_the_same_text_can_be_stored_again_after_its_undo(handbook: Sql) -> None:
    before = read_clock(handbook)
    document = store(handbook)
    undo(handbook, before)

    again = store(handbook)

    assert again == document
    assert len(look(handbook)) == 3


def test_an_applied_correction_is_applied_again_if_its_undo_is_reverted(handbook: Sql) -> None:
    document = store(handbook)
    before = read_clock(handbook)
    correct(handbook, document, "nine", "eight")
    corrected = look(handbook)

    number = undo(handbook, before)
    handbook.execute("select revert_undo(%s)", (number,))

    assert look(handbook) == corrected


def test_a_purge_leaves_nothing_of_a_source(handbook: Sql) -> None:
    before = read_clock(handbook)
    correct(handbook, store(handbook), "nine", "eight")
    undo(handbook, before)

    handbook.execute("select purge_undone()")

    assert count_rows(handbook) == [0] * 8


def test_a_purge_leaves_nothing_of_an_undone_correction(handbook: Sql) -> None:
    document = store(handbook)
    before = read_clock(handbook)
    correct(handbook, document, "nine", "eight")
    undo(handbook, before)

    handbook.execute("select purge_undone()")

    assert handbook.execute("select content from document_version").fetchall() == [(TEXT,)]
    assert fetch(handbook, "select count(*) from correction") == 0
    assert len(look(handbook)) == 3


def test_a_source_keeps_its_label_and_leaves_no_second_entity(handbook: Sql) -> None:
    before = read_clock(handbook)
    store(handbook)
    undo(handbook, before)

    store(handbook, label="other.md")

    assert fetch(handbook, "select label from known_sources('handbook')") == "meals.md"
    assert handbook.execute("select name from entity").fetchall() == [("meals.md",)]


def test_the_log_names_the_paths_of_sources_but_no_text(handbook: Sql) -> None:
    document = store(handbook)
    handbook.execute("select forget_source(%s)", (document,))

    rows = handbook.execute("select action, entity_name, e::text from list_events() e").fetchall()

    assert [row[:2] for row in rows] == [("erased", "file/meals.md"), ("written", "file/meals.md")]
    assert not [row for row in rows if "Coffee" in row[2]]
    found = handbook.execute("select action from list_events(entity => 'File/Meals.md')")
    assert len(found.fetchall()) == 2


def test_nothing_is_left_of_a_forgotten_source(handbook: Sql) -> None:
    correct(handbook, store(handbook), "nine", "eight")
    document = fetch(handbook, "select document_id from source")

    handbook.execute("select forget_source(%s)", (document,))

    assert count_rows(handbook) == [0] * 8


def test_views_of_facts_leave_graphs_out_and_a_view_shows_the_sources(handbook: Sql) -> None:
    store(handbook)
    handbook.execute("select remember_fact('Ada', 'person', 'drinks tea')")

    for view in ("memory_observations", "memory_entities", "memory_growth", "memory_timeline"):
        rows = handbook.execute(f"select distinct space from {view}")  # noqa: S608 # pyright: ignore[reportArgumentType, reportCallIssue]
        assert rows.fetchall() == [("default",)], view
    rows = handbook.execute(
        "select graph, label, path, chunks, tokens, version from memory_sources"
    )
    assert rows.fetchall() == [("handbook", "meals.md", "file/meals.md", 3, 24, 1)]


def test_a_caller_who_only_writes_does_not_learn_where_a_graph_has_the_text(
    handbook: Sql,
) -> None:
    store(handbook)
    handbook.execute(
        "select create_token(hash => sha256('writer'), prefix => 'writer', actor => 'writer',"
        " space => 'handbook', scopes => array['write'])"
    )

    stored = handbook.execute(
        "select stored_path, changed from store_source('handbook', 'file/other.md', 'other.md',"
        " %s, %s, encode(sha256(%s::bytea), 'hex'), credential => sha256('writer'))",
        (TEXT, json.dumps(CHUNKS), TEXT.encode()),
    ).fetchone()

    assert stored == ("file/other.md", False)
