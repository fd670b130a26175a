"""Graphs and their sources in SQL: chunks, corrections, deletions, undo, purge, and the tiers."""

import hashlib
import json
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sql.story import tell
from textrawl.wire.token_counter import choose_counter

Sql = psycopg.Connection[Any]

TEXT = "Tea is served at four.\nCoffee is served at nine.\nThe kitchen closes at ten."
CHUNKS = [[1, 0, 40, 9], [2, 23, 40, 9], [3, 49, 26, 6]]
"""Three chunks. The second overlaps both others."""


@pytest.fixture
def handbook(sql: Sql) -> Sql:
    """A session with the personal graph `handbook`."""
    sql.execute("select create_space('handbook', tier => 'personal')")
    return sql


def fetch(sql: Sql, statement: LiteralString, *given: Any) -> Any:
    """The first value of the first row, or None."""
    row = sql.execute(statement, given).fetchone()
    return row[0] if row else None


def store(
    sql: Sql,
    text: str = TEXT,
    chunks: list[list[int]] = CHUNKS,
    path: str = "file/meals.md",
    label: str = "meals.md",
) -> UUID:
    return fetch(
        sql,
        "select document_id from store_source('handbook', %s, %s, %s, %s, %s)",
        path,
        label,
        text,
        json.dumps(chunks),
        hashlib.sha256(text.encode()).hexdigest(),
    )


def look(sql: Sql) -> list[tuple[Any, ...]]:
    return sql.execute(
        "select o.part, o.content, c.line from observation o join chunk c using (space_id) "
        "where c.observation_id = o.id order by o.part"
    ).fetchall()


def correct(sql: Sql, document: UUID, old: str, new: str, part: int = 2) -> None:
    [chunk] = [row[1] for row in look(sql) if row[0] == part]
    correction = fetch(
        sql,
        "select id from propose_correction(%s, %s, %s, %s, 'a proposal')",
        document,
        part,
        chunk,
        chunk.replace(old, new),
    )
    sql.execute("select apply_correction(%s)", (correction,))


def test_a_source_is_stored_in_its_chunks_with_their_lines(handbook: Sql) -> None:
    store(handbook)

    assert look(handbook) == [
        (1, TEXT[:40], 1),
        (2, TEXT[23:63], 2),
        (3, TEXT[49:75], 3),
    ]


def test_a_new_version_keeps_the_chunks_that_are_the_same(handbook: Sql) -> None:
    store(handbook)
    before = set(handbook.execute("select observation_id from chunk").fetchall())

    store(handbook, TEXT.replace("ten", "six"))

    assert len(before & set(handbook.execute("select observation_id from chunk").fetchall())) == 2


def test_a_correction_changes_each_chunk_that_has_the_words(handbook: Sql) -> None:
    correct(handbook, store(handbook), "Coffee is", "Espresso and tea are")

    text = TEXT.replace("Coffee is", "Espresso and tea are")
    assert fetch(handbook, "select content from document_version order by version desc") == text
    assert [row[1] for row in look(handbook)] == [text[:51], text[23:74], text[60:86]]


@pytest.mark.parametrize("part", [1, 2, 3])
def test_a_neighbour_that_would_be_too_long_keeps_only_its_own_words(
    handbook: Sql, part: int
) -> None:
    document = store(handbook)
    [chunk] = [row[1] for row in look(handbook) if row[0] == part]
    new = "no meals!" * 888

    correct(handbook, document, chunk, new, part)

    start, end = [(0, 40), (23, 63), (49, 75)][part - 1]
    text = fetch(handbook, "select content from document_version order by version desc")
    assert text == TEXT[:start] + new + TEXT[end:]
    kept = {row[0]: row[1] for row in look(handbook)}
    expected = {1: {2: TEXT[40:63]}, 2: {1: TEXT[:23], 3: TEXT[63:]}, 3: {2: TEXT[23:49]}}
    assert kept[part] == new
    assert {number: kept[number] for number in expected[part]} == expected[part]


def test_undo_of_a_correction_brings_back_text_and_chunks(handbook: Sql) -> None:
    document = store(handbook)
    before = look(handbook)
    correct(handbook, document, "nine", "eight thirty")
    since = fetch(
        handbook,
        "select e.at - interval '1 ms' from event e join correction c on c.event_id = e.id",
    )

    handbook.execute("select undo_author(session_user, %s)", (since,))

    assert look(handbook) == before


def test_nothing_is_left_of_a_forgotten_chunk(handbook: Sql) -> None:
    document = store(handbook)
    correct(handbook, document, "nine", "eight")

    handbook.execute("select forget_source(%s, 2)", (document,))

    assert [row[:2] for row in look(handbook)] == [(1, TEXT[:23]), (3, TEXT[63:])]
    texts = handbook.execute("select content from document_version").fetchall()
    assert [(len(texts), "Coffee" in str(texts))] == [(1, False)]
    assert fetch(handbook, "select count(*) from correction") == 0


def test_a_moved_chunk_keeps_its_number_and_its_vector(handbook: Sql) -> None:
    store(handbook, "Tea at four.", [[1, 0, 12, 4]])
    [kept] = handbook.execute("select observation_id from chunk").fetchall()

    store(handbook, "Coffee at nine.\nTea at four.", [[1, 0, 15, 4], [2, 16, 12, 4]])

    assert look(handbook) == [(1, "Tea at four.", 2), (2, "Coffee at nine.", 1)]
    assert kept in handbook.execute("select observation_id from chunk where line = 2").fetchall()


def test_equal_chunks_keep_different_numbers(handbook: Sql) -> None:
    store(handbook, "Tea. Tea. Tea.", [[1, 0, 4, 2], [2, 5, 4, 2], [3, 10, 4, 2]])

    store(handbook, "No. Tea. Tea.", [[1, 0, 3, 2], [2, 4, 4, 2], [3, 9, 4, 2]])

    assert [row[:2] for row in look(handbook)] == [(1, "Tea."), (2, "Tea."), (4, "No.")]


def test_a_source_gets_a_text_that_another_source_has_too(handbook: Sql) -> None:
    other = store(handbook, "Tea at four.", [[1, 0, 12, 4]], path="file/tea.md")
    document = store(handbook)

    assert store(handbook, "Tea at four.", [[1, 0, 12, 4]]) == document != other
    assert {row[1] for row in look(handbook)} == {"Tea at four."}
    assert store(handbook, "Tea at four.", [[1, 0, 12, 4]]) == document
    assert store(handbook, "Tea at four.", [[1, 0, 12, 4]], path="file/tea.md") == other


def test_a_person_sees_sensitive_graphs_too(handbook: Sql) -> None:
    handbook.execute("select change_tier('handbook', 'sensitive', encrypting => true)")

    assert fetch(handbook, "select array_agg(name) from list_graphs()") is None
    assert fetch(handbook, "select name from list_graphs(sensitive => true)") == "handbook"


def test_chunks_that_a_killed_process_claimed_become_due(handbook: Sql) -> None:
    model = fetch(handbook, "select register_embedding_model('test:model', 3)")
    store(handbook)
    handbook.execute("select claim_pending_embeddings(%s)", (model,))

    assert fetch(handbook, "select hasten_embeddings('handbook', %s)", model) == 3
    due = handbook.execute("select entity_name from claim_pending_embeddings(%s)", (model,))
    assert due.fetchall() == [("meals.md",)] * 3


WORDS = st.text(st.sampled_from("ab \n.,éß字x1"), min_size=1, max_size=40)


@given(WORDS, WORDS, WORDS, WORDS)
def test_a_change_adds_at_most_as_many_tokens_as_it_touches_bytes(
    sql: Sql, before: str, old: str, new: str, after: str
) -> None:
    count = choose_counter().count
    former, text = before + old + after, before + new + after
    growth = fetch(
        sql,
        "select changed_bytes(%s, r.prefix, r.suffix) from changed_range(%s, %s) r",
        text,
        former,
        text,
    )

    assert count(text) <= count(former) + growth


def test_no_text_of_a_sensitive_graph_waits_for_an_embedding_provider(handbook: Sql) -> None:
    handbook.execute("select register_embedding_model('test:model', 3)")
    store(handbook)
    pending = "select pending_embeddings(1)"
    before = fetch(handbook, pending)

    handbook.execute("select change_tier('handbook', 'sensitive', encrypting => true)")
    claimed = handbook.execute("select content from claim_pending_embeddings(1)").fetchall()
    hidden = fetch(handbook, pending)
    progress = fetch(handbook, "select pending from embedding_progress()")
    handbook.execute("select change_tier('handbook', 'personal')")

    assert (before, claimed, hidden, progress) == (3, [], 0, 0)
    assert len(handbook.execute("select content from claim_pending_embeddings(1)").fetchall()) == 3


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


@pytest.mark.parametrize(
    ("content", "query", "passage", "skipped"),
    [
        ("Tea is hot. Cats sleep a lot.", "do cats sleep?", "… Cats sleep a lot.", 0),
        ("# Title\n\nOne.\nTwo is here.", "two", "… Two is here.", 3),
        ("# Cats\n2024-05-01 · ChatGPT\n\nThey sleep.", "cats", "They sleep.", 3),
        ("Nothing of it. At all.", "zebra", "Nothing of it. At all.", 0),
        ("猫は眠る。犬は走る。", "犬", "猫は眠る。犬は走る。", 0),
        ("", "zebra", None, None),
    ],
)
def test_a_passage_is_quoted_from_the_first_sentence_that_has_most_words(
    handbook: Sql, content: str, query: str, passage: str | None, skipped: int | None
) -> None:
    found = handbook.execute(
        "select passage, skipped from quote_passage(%s, %s, 'english')", (content, query)
    ).fetchone()

    assert found == ((passage, skipped) if passage else None)


def test_a_passage_has_its_limit_of_characters_and_says_what_it_left_out(handbook: Sql) -> None:
    content = " ".join(f"Rule {number} is about tea." for number in range(200))

    long = fetch(handbook, "select passage from quote_passage(%s, 'tea', 'english', 100)", content)
    endless = fetch(handbook, "select passage from quote_passage(%s, 'x', 'english')", "x" * 900)

    assert len(long) <= 102
    assert long.startswith("Rule 0 is about tea. Rule 1")
    assert long.endswith(" …")
    assert endless == f"{'x' * 400} …"


def test_a_passage_ranks_by_part_of_its_score_unless_its_document_has_the_name_of_an_entity(
    handbook: Sql,
) -> None:
    store(handbook)

    def search(*, quoting: bool, least: float = 0) -> float:
        return fetch(
            handbook,
            "select max(score) from search_memory('when does the kitchen close at ten?',"
            " sources => '{documents}', quoting => %s, neighbours => false, least_score => %s)",
            quoting,
            least,
        )

    whole = search(quoting=False)
    passage = search(quoting=True, least=whole - 0.01)  # the whole score is what has to be enough
    tell(handbook, "meals.md", "is read by the cook")
    known = search(quoting=True)

    assert passage == pytest.approx(0.85 * whole)
    assert known == pytest.approx(whole)
