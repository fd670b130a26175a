# ruff: noqa: RUF001 (letters that look alike are what some of these tests are about)
"""Facts in SQL: what counts as the same, what names a fact, what corrections and batches leave."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

Sql = psycopg.Connection[Any]

SAME = [
    ("prefers dark mode", "prefers the dark mode"),
    ("uses VS Code as primary editor", "uses VS Code as a primary editor"),
    ("Prefers dark mode", "prefers dark mode a lot"),
    ("it's raining", "it’s raining"),
    ("works for Acme", "works for “Acme”"),
]
OTHER = [
    ("moved from Berlin to Paris", "moved from Paris to Berlin"),
    ("prefers tabs over spaces", "prefers spaces over tabs"),
    ("runs version 16", "runs version 17"),
    ("works at Acme", "works at Globex"),
    ("eats meat", "does not eat meat"),
    ("eats meat", "doesn't eat meat"),
    ("eats meat", "doesn’t eat meat"),
    ("smokes", "stopped smoking and never smokes"),
    ("Anna leads the team", "Peter leads the team"),
    ("東京に住んでいます", "京都に住んでいます"),
    ("住在北京", "住在上海"),
    ("живёт в Берлине", "живёт в Париже"),
    ("moved to Łódź", "moved to Ústí"),
    ("meets on 2026-01-05", "meets on 2026-01-06"),
    ("costs 1.5 euro", "costs 15 euro"),
]


def test_facts_that_add_nothing_state_the_same(sql: Sql) -> None:
    assert [pair for pair in SAME if not states_the_same(sql, *pair)] == []
    assert [pair for pair in SAME if not states_the_same(sql, *pair[::-1])] == []


def test_facts_that_differ_in_what_vectors_do_not_see_are_two(sql: Sql) -> None:
    assert [pair for pair in OTHER if states_the_same(sql, *pair)] == []
    assert [pair for pair in OTHER if states_the_same(sql, *pair[::-1])] == []


def states_the_same(sql: Sql, one: str, other: str) -> bool:
    row = sql.execute("select states_the_same(%s, %s)", [one, other]).fetchone()
    assert row
    return row[0]


def remember(
    sql: Sql, observation: str, vector: str | None = None, replaces: str | None = None
) -> tuple[UUID, bool]:
    """Stores a fact about Jeff; its id, and whether it was known."""
    row = sql.execute(
        """
        select observation_id, duplicate from remember_fact('Jeff', 'person', %s, replaces => %s,
            model => (select id from embedding_model where %s), embedding => %s::halfvec)""",
        [observation, replaces, vector is not None, vector],
    ).fetchone()
    assert row
    return row


@pytest.fixture
def model(sql: Sql) -> Sql:
    """The database with a model of three dimensions."""
    sql.execute("select register_embedding_model('test:three', 3)")
    return sql


def find_closest(model: Sql, observation: str, vector: str) -> str | None:
    """Stores a fact about Jeff; the text of the fact that it is named as close to."""
    row = model.execute(
        """
        select duplicate, closest ->> 'content' from remember_fact('Jeff', 'person', %s,
            model => 1, embedding => %s::halfvec)""",
        [observation, vector],
    ).fetchone()
    assert row
    assert not row[0]
    return row[1]


def test_a_fact_with_a_cosine_of_095_is_stored_and_the_closest_one_named(model: Sql) -> None:
    remember(model, "prefers dark mode", "[1,0,0]")

    assert find_closest(model, "prefers the dark mode", "[0.96,0.28,0]") == "prefers dark mode"
    assert find_closest(model, "prefers dark mode at night", "[0.94,-0.3412,0]") is None
    assert find_closest(model, "prefers darkness", "[0.955,0.2966,0]") == "prefers the dark mode"
    rows = model.execute("select count(*) from observation where valid_until is null").fetchall()
    assert rows == [(4,)]


def test_equal_vectors_make_no_duplicate(model: Sql) -> None:
    remember(model, "prefers tabs over spaces", "[1,0,0]")

    assert find_closest(model, "prefers spaces over tabs", "[1,0,0]") == "prefers tabs over spaces"


def test_facts_without_a_vector_and_zero_vectors_are_close_to_none(model: Sql) -> None:
    remember(model, "prefers dark mode")
    remember(model, "xyzzy", "[0,0,0]")

    assert find_closest(model, "prefers a dark mode", "[1,0,0]") is None
    assert find_closest(model, "plugh", "[0,0,0]") is None


def test_facts_that_have_ended_neither_block_nor_are_named(model: Sql) -> None:
    remember(model, "prefers dark mode", "[1,0,0]")
    model.execute("update observation set valid_until = now() - interval '1 second'")

    assert find_closest(model, "prefers dark mode", "[1,0,0]") is None
    model.execute("delete from observation where valid_until is null")
    assert find_closest(model, "prefers the dark mode", "[1,0,0]") is None


def test_a_correction_does_not_name_what_it_corrects(model: Sql) -> None:
    remember(model, "prefers dark mode", "[1,0,0]")

    rows = model.execute(
        """select closest, duplicate from remember_fact('Jeff', 'person', 'prefers the dark mode',
               replaces => 'prefers dark mode', model => 1, embedding => '[1,0,0]')"""
    ).fetchall()

    assert rows == [(None, False)]


def test_of_two_spellings_the_one_that_is_told_again_is_meant(sql: Sql) -> None:
    sql.execute(
        """select create_nodes('[{"name": "Jeff", "type": "person",
               "observations": ["likes tea", "Likes tea."]}]')"""
    )

    second, known = remember(sql, "Likes tea.")

    assert known
    rows = sql.execute("select content from observation where id = %s", [second]).fetchall()
    assert rows == [("Likes tea.",)]
    assert find(sql, "Likes tea.") == second


def test_a_fact_that_ends_within_the_transaction_does_not_block_in_it(sql: Sql) -> None:
    with sql.transaction():
        first, _ = remember(sql, "lives in Oslo")
        remember(sql, "lives in Rome", replaces=str(first))
        assert not remember(sql, "lives in Oslo", replaces="lives in Rome")[1]


def test_an_id_is_found_by_eight_characters_or_more(sql: Sql) -> None:
    known, _ = remember(sql, "likes tea")

    for length in (8, 9, 13, 20, 36):
        assert find(sql, str(known)[:length]) == known
        assert find(sql, str(known).upper()[:length]) == known


def test_a_text_that_looks_like_an_id_is_still_found(sql: Sql) -> None:
    known, _ = remember(sql, "deadbeef")

    assert find(sql, "deadbeef") == known


def test_of_two_facts_of_one_text_the_valid_one_is_meant(sql: Sql) -> None:
    remember(sql, "lives in Oslo")
    sql.execute("update observation set valid_until = now() - interval '1 second'")
    valid, _ = remember(sql, "lives in Oslo")

    assert find(sql, "LIVES in oslo.") == valid


def test_what_names_no_fact_is_refused(sql: Sql) -> None:
    known, _ = remember(sql, "likes tea")

    for reference in ("", "likes", str(known)[:7], "00000000", "%", "_" * 8):
        with pytest.raises(psycopg.Error) as caught:
            find(sql, reference)
        assert caught.value.sqlstate == "TR001"


def find(sql: Sql, reference: str) -> UUID:
    row = sql.execute(
        "select find_fact(1, (select id from entity where name = 'Jeff'), %s)", [reference]
    ).fetchone()
    assert row
    return row[0]


def test_forgetting_the_successor_leaves_the_past(sql: Sql) -> None:
    first, _ = remember(sql, "lives in Oslo")
    remember(sql, "lives in Rome", replaces=str(first))

    sql.execute("select forget_entity('Jeff', 'lives in Rome')")

    rows = sql.execute("select id, replaced_by, valid_until is null from observation").fetchall()
    assert rows == [(first, None, False)]


def test_no_word_of_a_forgotten_fact_stays_in_the_statistics(sql: Sql) -> None:
    sql.execute("select remember_fact('Jeff', 'person', 'hides xylophones in the cellar')")
    sql.execute("select remember_fact('Jeff', 'person', 'likes the cellar')")
    sql.execute("select refresh_search_statistics(force => true)")

    sql.execute("select forget_entity('Jeff', 'hides xylophones in the cellar')")

    words = {word for (word,) in sql.execute("select word from lexeme")}
    assert words == {"jeff", "like", "cellar"}


def test_who_may_not_read_is_not_told_what_is_close(model: Sql) -> None:
    remember(model, "prefers dark mode", "[1,0,0]")
    token = b"w" * 32
    model.execute(
        """with writer as (select register_actor('writer') as id), granted as (
               insert into space_grant (space_id, actor_id, scopes)
               select 1, id, '{write}' from writer)
           insert into token (hash, kind, actor_id, home_space_id, scopes)
           select %s, 'bearer', id, 1, '{write}' from writer""",
        [token],
    )

    one = model.execute(
        """select duplicate, closest from remember_fact('Jeff', 'person', 'prefers the dark mode',
               model => 1, embedding => '[1,0,0]', credential => %s)""",
        [token],
    ).fetchall()
    batch = model.execute(
        """select facts_created, closest from build_knowledge('[{"entity": "Jeff", "type": "person",
               "observation": "prefers a dark mode"}]', model => 1,
               embeddings => '{"[1,0,0]"}', credential => %s)""",
        [token],
    ).fetchall()

    assert one == [(False, None)]
    assert batch == [(1, None)]


def test_a_deletion_with_a_plan_takes_no_more_than_the_plan(sql: Sql) -> None:
    def read_plan() -> str:
        row = sql.execute("select plan from forget_entity('Ada', dry_run => true)").fetchone()
        assert row is not None
        return row[0]

    sql.execute("select remember_fact('Ada', 'person', 'lives in Oslo')")
    planned = read_plan()
    sql.execute("select remember_fact('Ada', 'person', 'likes tea')")
    with pytest.raises(psycopg.Error, match="something else than its plan") as refused:
        sql.execute("select forget_entity('Ada', planned => %s)", (planned,))
    kept = sql.execute("select count(*) from fact").fetchone()
    sql.execute("select forget_entity('Ada', planned => %s)", (read_plan(),))

    assert refused.value.sqlstate == "TR076"
    assert kept == (2,)
    assert sql.execute("select count(*) from fact").fetchone() == (0,)


Told = dict[str, Any]

# Texts that are the same, close or apart.
TEXTS = {
    "prefers dark mode": "[1,0,0]",
    "Prefers dark mode.": "[1,0,0]",
    "prefers the dark mode": "[0.99,0.1,0]",
    "runs version 16": "[0,1,0]",
    "runs version 17": "[0,1,0]",
    "likes tea": None,
}
UNTIL = ["2001-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"]
_LEFT = """
    select e.name, o.content, o.source, o.confidence, o.valid_until is null,
           o.valid_until < now() + interval '1 day', next.content,
           p.model_id is not null, v.vector::text
    from observation o
    join entity e on e.space_id = o.space_id and e.id = o.entity_id
    left join observation next on next.space_id = o.space_id and next.id = o.replaced_by
    left join embedding_pending p on p.space_id = o.space_id and p.observation_id = o.id
    left join embedding_1 v on v.space_id = o.space_id and v.observation_id = o.id
    order by o.ordinal"""
_TRAIL = """
    select e.action, o.content, before.content, e.detail - 'replaced' - 'until' - 'placed_before'
    from event e
    join observation o on o.space_id = e.space_id and o.id = e.observation_id
    left join observation before
        on before.space_id = e.space_id
        and before.id::text in (e.detail ->> 'replaced', e.detail ->> 'placed_before')
    order by e.id"""


def fact(text: str) -> Told:
    """What somebody says of Ada."""
    return {"entity": "Ada", "type": "person", "observation": text, "source": "note"}


facts = st.fixed_dictionaries(
    {
        "entity": st.sampled_from(["Ada", "ada", "Ada", "Bo"]),
        "type": st.just("person"),
        "observation": st.sampled_from(list(TEXTS)),
        "source": st.sampled_from(["note", "manual"]),
    },
    optional={
        "valid_until": st.sampled_from(UNTIL),
        "replaces": st.sampled_from(list(TEXTS)),
        "confidence": st.sampled_from([0.25, 0.5]),
    },
)


@pytest.mark.slow
@example(
    [],
    [
        fact("prefers dark mode") | {"valid_until": UNTIL[0]},
        fact("Prefers dark mode."),
        fact("prefers dark mode") | {"valid_until": UNTIL[0]},
    ],
)
@example([fact("prefers the dark mode")], [fact("prefers dark mode"), fact("Prefers dark mode.")])
@example([], [fact("prefers dark mode"), fact("likes tea"), fact("prefers the dark mode")])
@given(st.lists(facts, max_size=3), st.lists(facts, min_size=1, max_size=8))
def test_a_batch_stores_what_its_facts_told_one_by_one_would(
    sql: Sql, before: list[Told], batch: list[Told]
) -> None:
    sql.execute("select register_embedding_model('test:three', 3)")
    with undone(sql):
        for fact in before:
            tell(sql, fact)
        with undone(sql):
            refused = [place for place, fact in enumerate(batch) if tell(sql, fact) is not None]
            one_by_one = [sql.execute(query).fetchall() for query in (_LEFT, _TRAIL)]
        if refused:
            assert tell_all(sql, batch) == [f"facts[{place}].replaces" for place in refused]
        else:
            assert tell_all(sql, batch) == []
            assert [sql.execute(query).fetchall() for query in (_LEFT, _TRAIL)] == one_by_one


@contextmanager
def undone(sql: Sql) -> Generator[None]:
    """What happens inside leaves nothing."""
    with sql.transaction(force_rollback=True):
        yield


def tell(sql: Sql, fact: Told) -> str | None:
    """Remembers a fact; how it was refused."""
    given = {"valid_until": None, "replaces": None, "confidence": None} | fact
    try:
        with sql.transaction():
            sql.execute(
                """
                select remember_fact(%(entity)s, %(type)s, %(observation)s, %(source)s,
                    confidence => %(confidence)s, valid_until => %(valid_until)s::timestamptz,
                    replaces => %(replaces)s,
                    model => 1, embedding => %(vector)s::halfvec)""",
                given | {"vector": TEXTS[fact["observation"]]},
            )
    except psycopg.DatabaseError as error:
        if error.sqlstate not in {"TR001", "TR003"}:
            raise
        return error.sqlstate
    return None


def tell_all(sql: Sql, batch: list[Told]) -> list[str]:
    """Remembers facts by one call; the paths of those that were refused."""
    try:
        with sql.transaction():
            sql.execute(
                "select build_knowledge(%s, model => 1, embeddings => %s::halfvec[])",
                (Jsonb(batch), [TEXTS[fact["observation"]] for fact in batch]),
            )
    except psycopg.DatabaseError as error:
        if error.sqlstate != "TR006":
            raise
        return [fault["path"] for fault in json.loads(error.diag.message_detail or "")]
    return []
