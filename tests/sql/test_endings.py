"""A fact that says in other words that something is over ends it; nobody else's words do."""

import json
from itertools import product
from typing import Any

import psycopg
import pytest

from benchmarks.disagreement import read_endings
from tests.sql.story import Ids, ask, tell
from tests.sql.test_search import add_space, fetch, search
from tests.support.sql_team import Team

Sql = psycopg.Connection[Any]

pytestmark = pytest.mark.follows

OVER = (
    ("sold the sailing boat", "owns a sailing boat"),
    ("no longer plays the oboe", "plays the oboe"),
    ("left Initech", "works at Initech"),
    ("now works at Globex", "works at Initech"),
    ("hat das Segelboot verkauft", "besitzt ein Segelboot"),
    ("a vendu le voilier", "possède un voilier"),
    ("ha dejado el bar Manolo", "trabaja en el bar Manolo"),
    ("desistiu do clube de ténis", "é sócio do clube de ténis"),
    ("ha estinto il mutuo", "paga un mutuo alla banca"),
    ("brought the ladder back", "borrowed the ladder"),
    ("The captain of the team is Zoe", "The captain of the team is Ann"),
    ("Le maire de la ville est Paul", "Le maire de la ville est Anne"),
)


def store(sql: Sql, entity: str, content: str, **more: Any) -> tuple[str, list[Ids]]:
    """The id of a new fact, and what it ended."""
    given = {"entity": entity, "type": "person", "observation": content, **more}
    names = ", ".join(f"{name} => %({name})s" for name in given)
    row = sql.execute(
        f"select observation_id::text, closed from remember_fact({names})".encode(),  # noqa: S608
        given,
    ).fetchone()
    assert row is not None
    return row[0], row[1] or []


def valid(sql: Sql) -> set[str]:
    return {
        content
        for (content,) in ask(
            sql,
            "select content from fact where is_valid(valid_from, valid_until, closed_at,"
            " present => clock_timestamp())",
        )
    }


def test_a_change_in_other_words_ends_what_was_so(sql: Sql) -> None:
    for place, (told, known) in enumerate(OVER):
        name = f"Person {place}"
        old = tell(sql, name, known, said_at="2025-01-10")

        new, closed = store(sql, name, told, said_at="2025-06-10")

        assert [(one["id"], one["content"]) for one in closed] == [(old, known)], told
        assert closed[0]["why"], told
        ending = "select replaced_by::text, valid_until::date::text from fact where id = %s"
        [row] = ask(sql, ending, old)
        assert row == (new, "2025-06-10")
    assert valid(sql) == {told for told, _ in OVER}
    assert "works at Initech" in search(sql, "Person 2 works", as_of="2025-02-01")


def test_what_kim_borrowed_ends_when_kim_brings_it_back(sql: Sql) -> None:
    tell(sql, "Gwen", "lent Kim the ladder", said_at="2025-01-10")
    tell(sql, "Pete", "lent Kim the drill", said_at="2025-01-10")

    assert store(sql, "Kim", "brought the ladder back", said_at="2025-03-01")[1]
    tell(sql, "Kim", "borrowed the drill of Pete", said_at="2025-02-01")
    assert store(sql, "Pete", "Kim brought the drill back", said_at="2025-03-01")[1]

    assert valid(sql) == {"brought the ladder back", "Kim brought the drill back"}


def test_another_value_without_a_word_for_the_change_is_only_named(sql: Sql) -> None:
    tell(sql, "Ada", "works at Initech", said_at="2025-01-10")

    new, closed = store(sql, "Ada", "works at Globex", said_at="2025-06-10")

    assert closed == []
    assert valid(sql) == {"works at Initech", "works at Globex"}
    why = "select closest ->> 'why' from remember_fact('Ada', 'person', 'works for Hooli')"
    assert fetch(sql, why) == "other value"
    assert new


def test_the_last_value_of_a_call_holds_where_there_is_one_at_a_time(
    sql: Sql,
) -> None:
    told = [
        "1. The capital of France is Lyon.",
        "2. depends on Redis",
        "3. Kim was born in 1990.",
        "4. The capital of France is Nice.",
        "5. depends on Postgres",
        "6. Kim was born in Rome.",
        "7. The capital of France is Paris.",
        "8. The capital of France is also Lille.",
    ]

    ended = tell_all(sql, [("the world", text) for text in told], "2025-01-10")

    assert [one["content"] for one in ended] == [told[0], told[3]]
    assert {one["why"] for one in ended} == {"other value"}
    assert valid(sql) == {told[number] for number in (1, 2, 4, 5, 6, 7)}


def test_an_earlier_or_an_equal_day_ends_nothing(sql: Sql) -> None:
    tell(sql, "Ada", "owns a sailing boat", said_at="2025-01-10")

    for day in ("2025-01-10", "2024-06-01"):
        assert store(sql, "Ada", "sold the sailing boat", said_at=day)[1] == []


def test_an_ending_is_undone_in_one_step_alone_or_with_its_fact(team: Team) -> None:
    owns = team.remember("ana", "Jeff", "owns a sailing boat", said_at="2025-01-10")
    before = team.state(owns)
    team.remember("ana", "Jeff", "sold the sailing boat", said_at="2025-06-10", request="one")
    ended = team.fetch("select id from event where action = 'replaced'")
    team.sql.execute("begin")
    team.sql.execute(
        "select undo_event(%s, credential => %s, space => %s)",
        (ended, team.credential("ana"), team.space),
    )
    assert set(team.valid("Jeff")) == {"owns a sailing boat", "sold the sailing boat"}
    assert team.state(owns) == before
    team.sql.execute("rollback")

    stored = team.fetch("select max(id) from event where action = 'remembered'")
    team.sql.execute(
        "select undo_event(%s, credential => %s, space => %s)",
        (stored, team.credential("ana"), team.space),
    )

    assert set(team.valid("Jeff")) == {"owns a sailing boat"}
    assert team.state(owns) == before


def test_no_hostile_ending_takes_effect(team: Team) -> None:
    sql = team.sql
    other = add_space(sql, "other")
    for place, (_, known) in enumerate(OVER):
        team.remember("ana", f"Person {place}", known, said_at="2025-01-10")
    writer = team.credential("eve", "propose", "read")
    blind = team.credential("mia", "write")
    for (place, (told, _)), way in product(enumerate(OVER), range(5)):
        person = f"Person {place}"
        given: dict[str, Any] = {"entity": person, "type": "person", "observation": told}
        given |= {"said_at": "2025-06-10", "space": team.space}
        given |= (
            {"credential": writer},
            {"credential": team.credential("ana"), "source": "document"},
            {"space": other},
            {"credential": blind, "said_at": "2025-06-11"},
            {"credential": team.credential("ana"), "valid_from": "2999-01-01"},
        )[way]
        names = ", ".join(f"{name} => %({name})s" for name in given)
        sql.execute(f"select remember_fact({names})".encode(), given)

    assert fetch(sql, "select count(*) from fact") == len(OVER) * 5
    ended = "select count(*) from fact where num_nonnulls(replaced_by, valid_until) > 0"
    assert fetch(sql, ended) == 0


def test_what_still_says_the_old_value_is_named(sql: Sql) -> None:
    port = tell(sql, "SSH", "listens on port 22 of the server")
    wall = tell(sql, "Firewall", "lets port 22 of the server through")
    tell(sql, "Mail", "has 22 folders")
    copies = """select copies::text[] from remember_fact('SSH', 'project',
        'listens on port 49222 of the server', replaces => %s)"""

    assert fetch(sql, copies, port) == [wall]


def tell_all(sql: Sql, facts: list[tuple[str, str]], day: str) -> list[Ids]:
    """Store facts (entity, text) in one call, and return what they ended."""
    items = [{"entity": name, "observation": text, "said_at": day} for name, text in facts]
    return fetch(sql, "select closed from build_knowledge(%s)", json.dumps(items)) or []


@pytest.mark.slow
def test_few_changes_end_nothing_and_no_compatible_fact_ends_another(sql: Sql) -> None:
    for kind, step, least, most in (("changes", 1, 11, 30), ("compatible", 7, 0, 0)):
        pairs = [
            (f"{name} {place}", one, other)
            for place, (name, one, other) in enumerate(read_endings("seen", kind)[::step])
        ]
        tell_all(sql, [(name, one) for name, one, _ in pairs], "2025-01-10")

        ended = tell_all(sql, [(name, other) for name, _, other in pairs], "2025-06-10")

        assert least <= len(ended) <= most, ended


def test_the_claims_are_a_view_of_analysts(sql: Sql) -> None:
    tell(sql, "Ada", "lives in Oslo")
    tell(sql, "Ada", "sold the red car")

    rows = ask(sql, "select topic, value, negative, kind, ends from memory_claims order by value")
    home, sale = ("home", "oslo", False, "state", None), (None, "red car", False, "event", "sold")
    assert rows == [home, sale]
