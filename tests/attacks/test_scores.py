"""What scores and explanations tell of spaces that their reader was never granted."""

import random
import string
from typing import Any

import psycopg
import pytest

from tests.attacks.site import issue
from textrawl.access.access_token import hash_token

WORDS = 240
NONSENSE = "xqvbnmklzzzzzzzzzz wqkjhgfdszzzzzzzzz ypoiuytrewzzzzzzzz tmnbvcxzasdzzzzzzzz"
FOREIGN = ("pizza is served in the vault", "pizza pizza", "canary vault opens at noon", "closed")
QUERIES = ("pizza", "vault", "canary", "opens at noon", "closed", "Canteen", "is served cheap")


@pytest.fixture
def reader(owner: psycopg.Connection) -> bytes:
    """A token of `lunch`, where a pizza is served, beside the space `vault` and many facts."""
    owner.execute("select create_space('lunch'), create_space('vault')")
    for fact in ("pizza is served", "salad too", "opens at noon", "closes at two", "is cheap"):
        remember(owner, "lunch", fact)
    return hash_token(issue(owner, "mallory", "lunch", "read"))


def remember(owner: psycopg.Connection, space: str, fact: str) -> None:
    owner.execute(
        "select remember_fact('Canteen', 'location', %s,"
        " space => (select id from space where name = %s))",
        (fact, space),
    )


def score(owner: psycopg.Connection, reader: bytes, query: str) -> list[float]:
    rows = owner.execute(
        "select score from search_memory(%s, credential => %s)", (query, reader)
    ).fetchall()
    return [float(score) for (score,) in rows]


def make_words() -> list[str]:
    dice = random.Random(14)  # noqa: S311 - no secret
    return ["".join(dice.choices(string.ascii_lowercase, k=9)) for _ in range(WORDS)]


@pytest.mark.slow
def test_no_score_tells_which_of_240_words_stand_in_another_space(
    owner: psycopg.Connection, reader: bytes
) -> None:
    words = make_words()
    planted = set(words[::2])
    for word in planted:
        remember(owner, "default", f"the password is {word}")
    owner.execute("select refresh_search_statistics(force => true)")

    scores = {word: score(owner, reader, f"pizza {NONSENSE} {word} served")[0] for word in words}

    # The best that any threshold could tell apart: half of the words is chance.
    best = max(
        sum((scores[word] <= bound) == (word in planted) for word in words)
        for bound in set(scores.values())
    )
    assert max(best, WORDS - best) <= 0.6 * WORDS


def test_what_others_tell_how_often_and_when_changes_no_score(
    owner: psycopg.Connection, reader: bytes
) -> None:
    def look() -> list[list[float]]:
        owner.execute("select refresh_search_statistics(force => true)")
        queries = ("pizza noon", "pizza salad cheap zorblax", "zorblax pizza", "served two")
        return [score(owner, reader, query) for query in queries]

    before = look()
    for number in range(30):
        remember(owner, "default", f"pizza and zorblax number {number} at noon")

    assert look() == before


def test_facts_stay_neighbours_however_much_others_store_between_them(
    owner: psycopg.Connection, reader: bytes
) -> None:
    remember(owner, "lunch", "planned a trip to Oslo")
    remember(owner, "lunch", "took a tent")
    beside = score(owner, reader, "trip Oslo tent")
    owner.execute("select forget_entity('Canteen', 'planned a trip to Oslo', space => 2)")
    owner.execute("select forget_entity('Canteen', 'took a tent', space => 2)")

    remember(owner, "lunch", "planned a trip to Oslo")
    for number in range(3):
        remember(owner, "default", f"something else {number}")
    remember(owner, "lunch", "took a tent")

    assert score(owner, reader, "trip Oslo tent") == beside


def explain(owner: psycopg.Connection, reader: bytes, query: str, spaces: Any) -> list[str]:
    rows = owner.execute(
        "select to_jsonb(e)::text from explain_search(%s, %s, max_rows => 50, more => 50,"
        " credential => %s) e",
        (query, spaces, reader),
    ).fetchall()
    return [row for (row,) in rows]


def test_an_explanation_is_the_same_whatever_another_space_holds(
    owner: psycopg.Connection, reader: bytes
) -> None:
    before = [explain(owner, reader, query, None) for query in QUERIES]
    for fact in FOREIGN:
        remember(owner, "vault", fact)
    owner.execute("select refresh_search_statistics(true)")

    assert [explain(owner, reader, query, None) for query in QUERIES] == before
    assert any(before)
    assert "vault" not in "".join(row for rows in before for row in rows)


def test_another_space_is_refused_like_one_that_does_not_exist(
    owner: psycopg.Connection, reader: bytes
) -> None:
    remember(owner, "vault", FOREIGN[0])
    [[vault]] = owner.execute("select id from space where name = 'vault'").fetchall()
    refusals = set[str]()

    for spaces in ([vault], [vault + 1000]):
        with pytest.raises(psycopg.DatabaseError) as refused:
            explain(owner, reader, "pizza", spaces)
        refusals.add(f"{refused.value.sqlstate} {refused.value}")

    assert len(refusals) == 1
