"""disagreement() says which facts of an entity cannot both be true now."""

from typing import Any

import psycopg
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.disagreement import read_pairs
from tests.sql.story import ask, tell

Sql = psycopg.Connection[Any]

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


def test_synonyms_without_accents_have_the_same_english_documents(sql: Sql) -> None:
    [(words, spellings)] = sql.execute("""
        select bool_and(search_document(0, 'english', '', accented.value)
                        = search_document(0, 'english', '', plain.value)),
            bool_or(accented.value <> plain.value)
        from jsonb_each_text(claim_synonyms()) accented
        join jsonb_each_text(claim_synonyms(accents => false)) plain using (key)
    """).fetchall()
    assert (words, spellings) == (True, True)


def test_texts_with_one_spelling_have_the_same_outer_letters(sql: Sql) -> None:
    letters = st.text(st.sampled_from(" \t.…aAzZ\u00a0é/\\-"), min_size=1, max_size=5)

    @given(st.lists(letters, min_size=2, max_size=40))
    def check(texts: list[str]) -> None:
        rows = sql.execute(
            "select one, other from unnest(%s::text[]) one, unnest(%s::text[]) other"
            " where spelling_key(one) = spelling_key(other)"
            " and outer_letters(one) <> outer_letters(other)",
            (texts, texts),
        ).fetchall()
        assert rows == []

    check()


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
