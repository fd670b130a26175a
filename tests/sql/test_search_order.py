"""The order in which a search finds facts, and how it explains their scores."""

from typing import Any

import psycopg
import pytest

from tests.sql.story import ask, tell
from tests.support.sql_team import Team

Sql = psycopg.Connection[Any]

TRIP = "planned a trip to Oslo"


def remember(sql: Sql, *facts: str, space: int = 1) -> None:
    for fact in facts:
        sql.execute(
            "select remember_fact('Ana', 'person', %s, space => %s::integer)", (fact, space)
        )


def search(sql: Sql, query: str = "trip Oslo tent") -> dict[str, float]:
    """Scores by content, best first."""
    rows = sql.execute("select content, score from search_memory(%s)", (query,)).fetchall()
    return {content: round(score, 5) for content, score in rows}


def test_what_was_told_beside_a_good_fact_comes_before_what_was_not(sql: Sql) -> None:
    remember(sql, "took a tent", "and a stove", TRIP, "sings", "reads", "sold a tent", "swims")
    found = search(sql)
    assert list(found)[:2] == [TRIP, "took a tent"]
    assert found["took a tent"] > found["sold a tent"]


def test_a_fact_without_evidence_is_not_found_beside_one_that_has_it(sql: Sql) -> None:
    remember(sql, "keeps bees", "sings", TRIP, "in the last week of May", "reads", "swims")
    assert set(search(sql)) == {TRIP}


def test_neighbours_lift_what_is_worse_more_than_the_best(sql: Sql) -> None:
    remember(sql, "took a tent", TRIP)
    beside = search(sql)
    sql.execute("update observation set ordinal = 10 * ordinal")
    apart = search(sql)
    assert beside[TRIP] - apart[TRIP] < 0.08
    assert beside["took a tent"] - apart["took a tent"] > 0.13


def test_a_fact_of_another_space_is_no_neighbour(sql: Sql) -> None:
    row = sql.execute("insert into space (name) values ('team') returning id").fetchone()
    assert row
    remember(sql, "took a tent", space=row[0])
    remember(sql, TRIP)
    beside = search(sql)
    sql.execute("update observation set ordinal = 10 * ordinal")
    assert search(sql) == beside


def test_an_undo_that_is_reverted_gives_facts_their_place_again(sql: Sql) -> None:
    team = Team(sql)
    since = team.now()
    for fact in (TRIP, "took a tent"):
        team.remember("eve", "Ana", fact)
    order = "select content from observation order by ordinal"
    before = sql.execute(order).fetchall()
    assert before == [(TRIP,), ("took a tent",)]
    undone = team.undo("eve", since)
    assert sql.execute(order).fetchall() == []
    team.revert(undone["undo_id"])
    assert sql.execute(order).fetchall() == before


def test_a_long_text_does_not_come_before_a_short_one_with_the_same_words(sql: Sql) -> None:
    long = "the trip to Oslo " + " ".join(f"word{n}" for n in range(200))
    remember(sql, "bees", long, "wasps", "ants", "a trip to Oslo", "moths")
    sql.execute(
        "update observation set created_at = now() + interval '1 hour' where content = %s", (long,)
    )
    found = search(sql, "trip Oslo")
    assert found["a trip to Oslo"] > 0.2 + found[long]


@pytest.mark.parametrize("name", ["Ana", "田中"])
def test_facts_of_the_entity_that_the_query_names_come_first(sql: Sql, name: str) -> None:
    sql.execute("select remember_fact(%s, 'person', 'plays chess')", (name,))
    sql.execute("select remember_fact('Tom', 'person', 'plays chess with ' || %s)", (name,))
    sql.execute("update observation set ordinal = 10 * ordinal, created_at = '2026-01-01'")
    found = search(sql, f"{name} chess")
    assert found["plays chess"] > found[f"plays chess with {name}"]
    assert set(search(sql, "chess").values()) == {search(sql, "chess")["plays chess"]}


def test_facts_below_the_least_score_are_left_out(sql: Sql) -> None:
    remember(sql, *(f"tea {n}" for n in range(60)), "a ship in the harbour of Oslo")
    sql.execute("update observation set ordinal = 10 * ordinal")
    sql.execute("select refresh_search_statistics(true)")
    query = "tea harbour Oslo ship crane quay"
    bounded = "select count(*) from search_memory(%s, least_score => %s)"

    assert list(search(sql, query)) == ["a ship in the harbour of Oslo"]
    assert sql.execute(bounded, (query, 0)).fetchone() == (10,)
    assert sql.execute(bounded, (query, 0.5)).fetchone() == (1,)
    assert sql.execute(bounded, (query, 1)).fetchone() == (0,)


def test_without_neighbours_a_fact_counts_alone(sql: Sql) -> None:
    remember(sql, "took a tent", TRIP, "sings")
    rows = sql.execute(
        "select content, score from search_memory('trip Oslo tent', neighbours => false)"
    ).fetchall()
    alone = {content: round(score, 5) for content, score in rows}
    found = search(sql)
    assert alone[TRIP] < found[TRIP]
    assert alone["took a tent"] < found["took a tent"]


def test_neighbours_do_not_count_in_a_space_whose_facts_have_no_meaningful_order(sql: Sql) -> None:
    for number in range(200):
        # Each subject comes once in ten facts, so no fact shares a word with the next fact.
        remember(sql, f"visited station{number % 10} on day {number}")
    remember(sql, "sold a tent", "reads", "sings", "took a tent", TRIP)
    before = search(sql)
    assert before["took a tent"] > before["sold a tent"]

    sql.execute("select refresh_search_statistics(force => true)")

    found = search(sql)
    assert found["took a tent"] == found["sold a tent"]


def test_neighbours_count_in_a_space_whose_facts_follow_their_subjects(sql: Sql) -> None:
    for number in range(200):
        remember(sql, f"visited station{number // 10} on day {number}")
    remember(sql, "sold a tent", "reads", "sings", "took a tent", TRIP)

    sql.execute("select refresh_search_statistics(force => true)")

    found = search(sql)
    assert found["took a tent"] > found["sold a tent"]
    row = sql.execute("select coherence from space_statistics").fetchone()
    assert row
    assert row[0] > 1.2


def test_the_order_of_fewer_than_two_hundred_facts_is_not_judged(sql: Sql) -> None:
    remember(sql, *(f"visited station{number}" for number in range(199)))

    assert sql.execute("select order_coherence(1)").fetchone() == (None,)


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

    told = {"max_rows": 1, "least_score": 0.5}
    outcomes = dict(explain(sql, "content, outcome", "who lives in Riga or Oslo", **told))

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
