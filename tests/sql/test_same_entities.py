"""Entities that may be one, and facts that are duplicates or disagree."""

from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.disagreement import read_pairs
from tests.sql.story import ask, tell

Sql = psycopg.Connection[Any]


def remember(sql: Sql, entity: str, text: str, kind: str | None = None) -> None:
    sql.execute("select remember_fact(%s, %s, %s)", (entity, kind, text))


def find(sql: Sql, entity: str | None = None) -> list[tuple[str, str]]:
    query = """
        select entity_name, other_name from find_same_entities(%s)
        order by score desc, entity_name"""
    return sql.execute(query, (entity,)).fetchall()


def test_short_forms_and_misspelt_names_are_alike(sql: Sql) -> None:
    query = "select name_likeness(%s, %s), name_likeness(%s, %s), name_likeness(%s, 'Acme Corp')"
    for one, other, least in (
        ("Jeff Miller", "Miller, Jeff", 1.0), ("Jeff Miller", "jmiller", 0.8),
        ("Jeff Miller", "Jeff", 0.6), ("Katharina Schmidt", "Katarina Schmidt", 0.95),
        ("Northwind Freight", "Northwind Frieght", 0.95), ("J. Petersen", "Jon Petersen", 0.8),
        ("Jonathan Petersen", "Jon Petersen", 0.8), ("Zoe Unger", "Zoe Ungr", 0.95),
    ):  # fmt: skip
        row = sql.execute(query, (one, other, other, one, one)).fetchone()

        assert row is not None
        assert row[0] == row[1] >= least
        assert row[2] < 0.2


def test_another_word_or_number_in_the_same_place_speaks_against_a_pair(sql: Sql) -> None:
    for one, other in (
        ("Northwind Freight", "Northwind Foods"), ("billing api", "billing ui"),
        ("decision 058", "decision 053"), ("Anna Berg", "Anna Holm"),
    ):  # fmt: skip
        row = sql.execute("select name_likeness(%s, %s)", (one, other)).fetchone()

        assert row is not None
        assert row[0] < 0.3, (one, other)


DOUBLES = {
    ("Northwind Freight", "Northwind Frieght"), ("Jonathan Petersen", "Jon Petersen"),
    ("Zoe Unger", "Zoe Ungr"), ("A. Lindqvist", "Astrid Lindqvist"),
    ("scheduler-worker", "schedulr-worker"), ("Katharina Schmidt", "Katarina Schmidt"),
}  # fmt: skip


def test_six_planted_doubles_among_590_entities_are_in_the_first_ten_pairs(sql: Sql) -> None:
    first = ("billing", "search", "export", "Northwind", "Lumen", "Katharina", "Jon", "Astrid")
    second = ("api", "ui", "sdk", "Foods", "Bank", "Weber", "Holm", "board", "queue")
    others = [f"{a} {b} {n}" for n in range(8) for a in first for b in second]
    others += [f"{a} {b}" for a in first for b in second]
    for name in [*others, *(name for pair in DOUBLES for name in pair)]:
        remember(sql, name, f"belongs to {name.split()[-1]}")

    assert len(others) > 570
    found = {frozenset(pair) for pair in find(sql)[:10]}
    assert {frozenset(pair) for pair in DOUBLES} <= found


def test_names_and_shared_facts_and_relations_make_candidates(sql: Sql) -> None:
    for fact in ("drinks tea", "is tall", "lives in Riga"):
        remember(sql, "Jeff Miller", fact)
    remember(sql, "jmiller", "prefers dark mode")
    remember(sql, "The Boss", "lives in Riga")
    remember(sql, "Acme Corp", "makes anvils")

    assert find(sql) == [("Jeff Miller", "The Boss"), ("Jeff Miller", "jmiller")]
    assert find(sql, "jmiller") == [("Jeff Miller", "jmiller")]
    assert find(sql, "Acme Corp") == []


def test_a_shared_relation_and_an_equal_type_raise_the_score(sql: Sql) -> None:
    remember(sql, "Jeff Miller", "drinks tea", "person")
    remember(sql, "Jeff", "is tall", "project")
    score = "select score from find_same_entities('Jeff', 0.1)"
    before = sql.execute(score).fetchall()
    for name in ("Jeff", "Jeff Miller"):
        sql.execute("select relate_entities(%s, 'works at', 'Acme')", (name,))

    assert sql.execute(score).fetchall() > before


def test_a_merged_entity_is_no_candidate(sql: Sql) -> None:
    remember(sql, "Jeff Miller", "drinks tea")
    remember(sql, "jmiller", "drinks tea")
    assert find(sql) == [("Jeff Miller", "jmiller")]

    sql.execute("select merge_entities('Jeff Miller', 'jmiller')")

    assert find(sql) == []
    assert sql.execute("select count(*) from memory_same_entities").fetchone() == (0,)


def test_the_pairs_of_one_entity_are_those_of_all_pairs(sql: Sql) -> None:
    for name in (
        "Jeff Miller", "jmiller", "Miller, Jeff", "Jeff", "J. Miller", "Jeffrey Milner", "Al Gore",
        "Al Gorman", "Gore", "Öz Ünal", "ounal", "öünal", "Atlas 1", "Atlas 2", "it's", "!?",
    ):  # fmt: skip
        remember(sql, name, f"is {name[:2].lower()} in a way")
    remember(sql, "The Boss", "is je in a way")
    every = sql.execute(
        "select entity_name, other_name, score from find_same_entities(min_score => 0.2,"
        " max_rows => 1000)"
    ).fetchall()
    names = [name for (name,) in sql.execute("select name from entity").fetchall()]
    single = {
        row
        for name in names
        for row in sql.execute(
            "select entity_name, other_name, score from find_same_entities(%s, 0.2, 1000)", (name,)
        ).fetchall()
    }

    assert len(every) >= 10
    assert single >= set(every)


def test_an_unknown_name_is_refused(sql: Sql) -> None:
    with pytest.raises(psycopg.Error) as refused:
        find(sql, "Nobody")

    assert refused.value.sqlstate == "TR050"


def _embed(sql: Sql, vectors: dict[str, str]) -> None:
    """Store a vector for each fact, by its text."""
    sql.execute("select register_embedding_model('fixed', 3, .05, .75, .5)")
    for text, vector in vectors.items():
        sql.execute(
            "insert into embedding_1 (space_id, observation_id, vector)"
            " select space_id, id, %s::halfvec from fact where content = %s",
            (vector, text),
        )


def test_very_similar_facts_are_duplicates_and_facts_that_disagree_conflict(sql: Sql) -> None:
    for text in ("drinks green tea", "drinks tea that is green", "has 2 cats", "has 3 cats"):
        tell(sql, "Ada", text)
    tell(sql, "Ben", "drinks green tea at noon")
    _embed(sql, {
        "drinks green tea": "[1,0,0]", "drinks tea that is green": "[1,0.01,0]",
        "has 2 cats": "[0,1,0]", "has 3 cats": "[0,1,0.01]", "drinks green tea at noon": "[1,0,0]",
    })  # fmt: skip

    assert ask(sql, "select kind, entity_name, one, other, total from close_pairs()") == [
        ("duplicate", "Ada", "drinks green tea", "drinks tea that is green", 1),
        ("conflict", "Ada", "has 2 cats", "has 3 cats", 1),
    ]


def test_only_the_entities_that_changed_last_are_compared(sql: Sql) -> None:
    for name in ("Ada", "Ben"):
        tell(sql, name, f"{name} drinks green tea")
        tell(sql, name, f"{name} drinks tea that is green")
    sql.execute("update entity set updated_at = now() - interval '1 day' where name = 'Ada'")
    sql.execute("select register_embedding_model('fixed', 3, .05, .75, .5)")
    sql.execute("insert into embedding_1 select space_id, id, '[1,0,0]' from fact")

    assert ask(sql, "select entity_name from close_pairs(entities => 1)") == [("Ben",)]
    assert len(ask(sql, "select entity_name from close_pairs()")) == 2


def test_without_vectors_only_facts_that_disagree_are_found(sql: Sql) -> None:
    for text in ("drinks green tea", "drinks tea that is green", "has 2 cats", "has 3 cats"):
        tell(sql, "Ada", text)
    assert ask(sql, "select kind, reason, similarity, one, other from close_pairs()") == [
        ("conflict", "other value", None, "has 2 cats", "has 3 cats")
    ]


def test_of_many_facts_that_begin_alike_the_newest_30_are_compared(sql: Sql) -> None:
    for number in range(2, 34):
        tell(sql, "Ada", f"has {number} cats")
    assert ask(sql, "select distinct total from close_pairs()") == [(30 * 29 // 2,)]
    oldest = "select 1 from close_pairs(max_rows => 500) where 'has 3 cats' in (one, other)"
    assert ask(sql, oldest) == []


PAIRS = read_pairs()


def _judge(sql: Sql, pairs: list[tuple[str, str]]) -> list[str | None]:
    """Why the two texts of each pair disagree."""
    ones, others = map(list, zip(*pairs, strict=True))
    rows = sql.execute(
        "select disagreement(one, other) from unnest(%s::text[], %s::text[])"
        " with ordinality pair (one, other, place) order by place",
        (ones, others),
    ).fetchall()
    return [row[0] for row in rows]


def test_most_pairs_of_the_benchmark_are_judged_as_people_do(sql: Sql) -> None:
    reasons = _judge(sql, [(pair.one, pair.other) for pair in PAIRS])

    disagree = [why for pair, why in zip(PAIRS, reasons, strict=True) if pair.disagree]
    compatible = [why for pair, why in zip(PAIRS, reasons, strict=True) if not pair.disagree]
    assert len(disagree) == len(compatible) == 100
    assert sum(why is not None for why in disagree) >= 85
    assert sum(why is not None for why in compatible) <= 5


def test_two_texts_disagree_in_either_order_and_no_text_with_itself(sql: Sql) -> None:
    words = sorted({word for pair in PAIRS for word in f"{pair.one} {pair.other} :".split()})
    sentences = st.lists(st.sampled_from(words), max_size=12).map(" ".join)
    texts = st.one_of(sentences, st.text(st.characters(exclude_characters="\0", codec="utf-8")))

    @given(st.lists(st.tuples(texts, texts), min_size=20, max_size=40))
    def judge(pairs: list[tuple[str, str]]) -> None:
        reasons = _judge(sql, pairs)
        assert reasons == _judge(sql, [(other, one) for one, other in pairs])
        assert set(reasons) <= {None, "other value", "opposite"}
        assert set(_judge(sql, [(one, one) for one, _ in pairs])) == {None}

    judge()


def test_facts_that_follow_a_template_do_not_conflict(sql: Sql) -> None:
    for number in range(12, 20):
        tell(sql, "Board", f"ticket {number} is about the page {number * 3}")
        tell(sql, "Board", f"sprint {number} closed with {number * 2} points on {number} May")
        tell(sql, "Board", f"build {number} took {number + 3} minutes")
    tell(sql, "Board", "is chaired by Ana")

    assert ask(sql, "select content, other_content from memory_conflicts") == []


def test_conflicts_are_found_without_vectors_and_newest_first(sql: Sql) -> None:
    for text in ("lives in Munich", "has 2 cats", "moved to Berlin in March 2025", "has 3 cats"):
        tell(sql, "Mo", text)
    tell(sql, "Bo", "lives in Rome")

    rows = ask(sql, "select reason, content, other_content from memory_conflicts")

    assert rows == [
        ("other value", "has 2 cats", "has 3 cats"),
        ("other value", "lives in Munich", "moved to Berlin in March 2025"),
    ]


def test_texts_with_one_spelling_have_the_same_outer_letters(sql: Sql) -> None:
    letters = st.text(st.sampled_from(" \t.…aAzZ\u00a0é/\\-"), min_size=1, max_size=5)

    @given(st.lists(letters, min_size=1, max_size=40))
    def check(texts: list[str]) -> None:
        rows = sql.execute(
            'select one, other from unnest(%s::text[]) one, unnest(\'{""," "}\'::text[]) before,'
            ' unnest(array[one, upper(one)]) text, unnest(\'{"",.,...,". ",…}\'::text[]) after,'
            " concat(before, text, after) other"
            " where spelling_key(one) = spelling_key(other)"
            " and outer_letters(one) <> outer_letters(other)",
            (texts,),
        ).fetchall()
        assert rows == []

    check()
