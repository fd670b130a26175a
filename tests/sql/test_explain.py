"""explain_search says why a fact was returned or left out."""

from typing import Any

import psycopg

from tests.sql.story import ask, tell

Sql = psycopg.Connection[Any]


def explain(sql: Sql, columns: str, query: str, **more: object) -> list[Any]:
    names = "".join(f", {name} => %({name})s" for name in more)
    statement = f"select {columns} from explain_search(%(query)s{names})"  # noqa: S608
    return sql.execute(statement.encode(), {"query": query, **more}).fetchall()


def test_each_fact_shows_the_words_that_it_has_with_their_weights(sql: Sql) -> None:
    tell(sql, "Ada", "drinks green tea")
    tell(sql, "Bo", "drinks coffee")

    found = dict(explain(sql, "content, words", "who drinks tea"))

    words = {row["word"]: row["found"] for row in found["drinks green tea"]}
    assert words == {"tea": True, "drink": True}
    assert {row["word"]: row["found"] for row in found["drinks coffee"]} == {
        "tea": False, "drink": True,
    }  # fmt: skip
    assert abs(sum(row["weight"] for row in found["drinks coffee"]) - 1) < 0.01


def test_the_score_is_the_score_of_the_search(sql: Sql) -> None:
    for number in range(30):
        tell(sql, f"Person {number}", f"drinks tea number {number}")

    searched = ask(sql, "select observation_id, score from search_memory('tea number 7')")
    explained = explain(sql, "observation_id, score, outcome, place", "tea number 7", more=5)

    returned = [(fact, score) for fact, score, outcome, _ in explained if outcome == "returned"]
    assert returned == searched
    assert [place for *_, place in explained] == list(range(1, len(explained) + 1))


def test_what_was_left_out_says_why(sql: Sql) -> None:
    oslo = tell(sql, "Ada", "lives in Oslo")
    tell(sql, "Ada", "lives in Riga", replaces=oslo)
    for number in range(12):
        tell(sql, f"Person {number}", f"lives in town {number}")

    outcomes = dict(explain(sql, "content, outcome", "who lives in Riga or Oslo", max_rows=1))

    assert outcomes["lives in Riga"] == "returned"
    assert outcomes["lives in Oslo"] == "ended"
    assert outcomes["lives in town 0"] == "over the limit"
    assert outcomes["lives in town 9"] == "below the least score"


def test_facts_below_the_bar_are_shown_with_their_score(sql: Sql) -> None:
    for number in range(8):
        tell(sql, f"Person {number}", f"likes fish {number}")
    tell(sql, "Ada", "likes fish with rye bread and dill")

    found = explain(sql, "outcome, score", "rye bread dill fish", least_score=0.6)

    assert found[0][0] == "returned"
    assert {outcome for outcome, score in found if score < 0.6} == {"below the least score"}
    cut = explain(sql, "outcome, score", "rye bread dill fish", least_score=0.6, max_rows=1)
    assert {outcome for outcome, score in cut if score < 0.6} == {"below the least score"}


def test_found_by_names_words_and_vectors(sql: Sql, vectors: dict[str, str]) -> None:
    found = dict(explain(sql, "content, found_by", "tea", model=1, vector="[1,0,0]"))

    assert found["drinks tea"] == ["words", "vector"]
    assert found["lives in Riga since 2024"] == ["vector"]
    assert vectors
