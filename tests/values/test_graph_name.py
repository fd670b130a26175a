"""Names of graphs that resemble another name."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textrawl.memory.corpus import find_equal, fold, rank

NAMES = ["book-notes", "booknotes-2025", "work", "work-decisions", "recipes", "hr"]
SLUGS = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,30}", fullmatch=True)


def test_the_best_candidate_has_the_highest_of_three_scores() -> None:
    for given_name, best in (
        ("Book Notes", ("book-notes", 1.0, "same words")),
        ("notes", ("book-notes", 0.9, "contains your text")),
        ("DecisionsWork", ("work-decisions", 1.0, "same words")),
        ("recepies", ("recipes", 0.75, "close spelling")),
        ("wor", ("work", 0.75, "close spelling")),
        ("ec", ("recipes", 0.7, "contains your text")),
        ("my hr documents", ("hr", 0.9, "contains your text")),
    ):
        candidate = rank(given_name, NAMES)[0]

        assert (candidate.name, candidate.reason) == (best[0], best[2])
        assert candidate.score == pytest.approx(best[1])


def test_a_name_that_resembles_none_has_no_candidate() -> None:
    for given_name in ("", "!?", "zebra", "\u092e\u0947\u0930\u093e"):
        assert rank(given_name, NAMES) == []


@given(SLUGS, st.lists(SLUGS, max_size=8))
def test_another_case_and_other_marks_are_the_same_name(slug: str, others: list[str]) -> None:
    for written in (slug.upper(), slug.replace("-", " "), f" {slug}!", slug.replace("_", "")):
        found = find_equal(written, [slug, *others])
        assert slug in found or written in others
        assert all(fold(name) == fold(slug) for name in found)
    assert find_equal(slug, [slug, *others]) == [slug]


@given(st.text(max_size=40), st.lists(SLUGS, max_size=12, unique=True))
def test_candidates_are_few_close_sorted_and_do_not_depend_on_the_order(
    text: str, names: list[str]
) -> None:
    candidates = rank(text, names)

    scores = [candidate.score for candidate in candidates]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) <= 3
    assert all(0.6 <= score <= 1 for score in scores)
    assert {candidate.name for candidate in candidates} <= set(names)
    assert candidates == rank(text, names[::-1])
    assert candidates == rank(unicodedata.normalize("NFD", text), names) or not text.isascii()


@given(SLUGS, st.data())
def test_one_wrong_letter_is_close(slug: str, data: st.DataObject) -> None:
    letters = fold(slug)
    if len(letters) >= 5:
        place = data.draw(st.integers(0, len(letters) - 1))
        wrong = f"{letters[:place]}x{letters[place + 1 :]}"
        assert [candidate.name for candidate in rank(wrong, [slug])] == [slug]
