"""The origin of a fact: what is made of it has no better one, and only a person raises it."""

from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.sql_team import Team

IMPORTED, TYPED, CONCLUDED = "import", "textrawl remember", "remember_fact"
ORIGIN: LiteralString = "select origin from memory_observations where id = %s and space = %s"
HELD = {"entity": "Acme", "text": "owes ten euros", "actor": "ada"}


def find(team: Team, fact: object) -> str:
    """The origin of a fact, as an analyst reads it."""
    return team.fetch(ORIGIN, fact, team.name)


def hold(team: Team, tool: str, **given: Any) -> UUID:
    """The id of a fact that a call of `tool` stores, or finds."""
    return team.remember(**HELD, tool=tool, **given).id


CALLS: tuple[tuple[str, dict[str, object], str], ...] = (
    (TYPED, {}, "said"),
    ("explorer", {}, "said"),
    ("sql", {}, "said"),
    (CONCLUDED, {}, "inferred"),
    (CONCLUDED, {"source": "manual", "client": "textrawl 0.1.0", "confidence": 1}, "inferred"),
    (CONCLUDED, {"source": "document"}, "external"),
    ("memory_create", {"client": "textrawl hook (codex)"}, "external"),
    ("extract_memories", {}, "external"),
    (IMPORTED, {}, "external"),
)


def test_the_call_decides_the_origin(sql: psycopg.Connection) -> None:
    for number, (tool, given, origin) in enumerate(CALLS):
        team = Team(sql, f"team-{number}")
        assert find(team, hold(team, tool, **given)) == origin, tool


def test_only_a_person_raises_an_origin_and_undo_lowers_it_again(sql: psycopg.Connection) -> None:
    fact = hold(team := Team(sql), IMPORTED)
    for actor in ("ada", "ben"):
        team.remember(**{**HELD, "actor": actor}, tool=CONCLUDED, source="manual")
    assert find(team, fact) == "external"
    since = team.now()

    team.remember(**{**HELD, "actor": "cleo"}, tool=TYPED)

    assert find(team, fact) == "said"
    trail: LiteralString = "select detail from event where observation_id = %s order by id desc"
    detail = team.fetch(trail, fact)
    origins = {time: detail[time]["origin"] for time in ("before", "after")}
    assert origins == {"before": "external", "after": "said"}
    done = team.undo("cleo", since)
    assert find(team, fact) == "external"
    team.revert(done["undo_id"])
    assert find(team, fact) == "said"


def test_a_fact_that_a_person_said_stays_said(sql: psycopg.Connection) -> None:
    fact = hold(team := Team(sql), TYPED)

    hold(team, CONCLUDED, source="document", client="a 1")
    hold(team, IMPORTED, source="note")

    assert find(team, fact) == "said"


def test_a_person_who_says_that_it_is_still_true_raises_it(sql: psycopg.Connection) -> None:
    fact = hold(team := Team(sql), IMPORTED)
    query: LiteralString = """
        select dismiss_candidates('stale', array[%s], tool => %s, space => %s, credential => %s)"""
    team.fetch(query, fact, "explorer", team.space, team.credential("ada"))

    assert find(team, fact) == "said"


@pytest.mark.parametrize(
    ("tool", "origin"), [("textrawl review", "said"), ("decide_proposals", "external")]
)
def test_what_a_person_accepts_is_said_and_what_an_agent_accepts_is_not(
    sql: psycopg.Connection, tool: str, origin: str
) -> None:
    known = hold(team := Team(sql), IMPORTED)
    propose: LiteralString = """
        select proposal_id from remember_fact('Acme', 'person', %s, tool => 'extract_memories',
            space => %s, credential => %s)"""
    agent = team.credential("bot", "read", "propose")
    texts = ("owes ten euros", "sells cars")
    proposals = [str(team.fetch(propose, text, team.space, agent)) for text in texts]
    since = team.now()

    rows = sql.execute(
        "select observation_id from decide_proposals(%s, 'accept', tool => %s, credential => %s)",
        (proposals, tool, team.credential("rita", "read", "review", "write")),
    ).fetchall()

    assert [find(team, fact) for (fact,) in rows] == [origin, origin]
    assert rows[0] == (known,)
    team.undo("rita", since)
    assert find(team, known) == "external"


def test_what_is_merged_is_no_better_than_its_worst_source(sql: psycopg.Connection) -> None:
    team, ids = Team(sql), list[UUID]()
    call: LiteralString = """
        select memory_id from save_memory(%s, tool => %s, space => %s, credential => %s)"""
    for number, tool in enumerate((TYPED, IMPORTED)):
        text = Jsonb(f"the door is green, {number}")
        ids.append(team.fetch(call, text, tool, team.space, team.credential("ada")))

    merge: LiteralString = """
        select memory_id from consolidate_memories(%s, '"the door is green"', tool => %s,
            space => %s, credential => %s)"""
    made = team.fetch(merge, ids, TYPED, team.space, team.credential("ada"))

    assert find(team, made) == "external"


def test_merging_entities_raises_nothing(sql: psycopg.Connection) -> None:
    kept = hold(team := Team(sql), IMPORTED)
    said = team.remember("ada", "Acme Inc", HELD["text"], tool=TYPED).id
    other = team.remember("ada", "Acme Inc", "sells cars", tool=IMPORTED).id

    sql.execute(
        "select merge_entities('Acme', 'Acme Inc', space => %s, credential => %s)",
        (team.space, team.credential("ada")),
    )

    assert [find(team, one) for one in (kept, said, other)] == ["external", "said", "external"]


def test_a_copy_and_an_export_keep_the_origin(sql: psycopg.Connection) -> None:
    home, away = Team(sql, "home"), Team(sql, "away")
    hold(home, IMPORTED)
    exported = home.fetch("select to_jsonb(f) from export_facts(%s) f", home.space)

    sql.execute(
        "select share_memories('Acme', %s, space => %s, tool => 'textrawl share')",
        (away.space, home.space),
    )

    all_origins: LiteralString = "select array_agg(origin) from memory_observations"
    assert home.fetch(all_origins) == ["external", "external"]
    assert exported["origin"] == "external"


def test_a_copy_and_an_undo_keep_an_origin_of_a_relation_that_its_call_does_not_tell(
    sql: psycopg.Connection,
) -> None:
    home, away = Team(sql, "home"), Team(sql, "away")
    sql.execute("select relate_entities('Ada', 'obeys', 'Acme', space => %s)", (home.space,))
    sql.execute("update observation set origin = 'external'")
    sql.execute(
        "select share_memories('Ada', %s, space => %s, tool => 'textrawl share')",
        (away.space, home.space),
    )
    [(name,)] = sql.execute(
        "select a.name from relation r join actor a on a.id = r.author_id limit 1"
    ).fetchall()
    for (undo,) in sql.execute("select undo_id from undo_author(%s, '2020-01-01')", (name,)):
        sql.execute("select revert_undo(%s)", (undo,))

    assert sql.execute("select origin from observation").fetchall() == [("external",)] * 2


def test_a_reply_marks_the_external_fact_that_it_names_beside_a_new_one(
    sql: psycopg.Connection,
) -> None:
    team = Team(sql)
    hold(team, IMPORTED)
    stored: LiteralString = """
        select closest ->> 'content'
        from remember_fact('Acme', null, %s, space => %s, tool => 'remember_fact')"""

    beside = sql.execute(stored, ("Owes ten Euros", team.space)).fetchall()

    assert beside == [("external: owes ten euros",)]


def test_a_relation_has_the_origin_of_its_call(sql: psycopg.Connection) -> None:
    team = Team(sql)
    relate: LiteralString = """
        select relation_id from relate_entities('Ben', 'said', %s, tool => %s, space => %s,
            credential => %s)"""
    origins: LiteralString = "select origin from observation where relation_id = %s"
    for tool, origin in ((IMPORTED, "external"), ("relate_entities", "inferred"), ("sql", "said")):
        made = team.fetch(relate, tool, tool, team.space, team.credential("ada"))
        assert team.fetch(origins, made) == origin


def test_an_old_fact_has_the_origin_that_its_row_tells_and_keeps_it(
    sql: psycopg.Connection,
) -> None:
    fact = hold(team := Team(sql), IMPORTED)
    sql.execute("update observation set origin = null")
    assert find(team, fact) == "external"

    sql.execute("update observation set tool = 'sql', source = 'manual'")

    assert find(team, fact) == "external"


@pytest.mark.parametrize(
    ("turns", "origin"),
    [
        ("- user: I sign with Mallory\n- user: and with Eve", "said"),
        ("- user: what is it?\n- assistant: Mallory signs", "external"),
        ("the page says\n- user: I sign with Mallory", "external"),
        # The second part of a long line begins like one of the user.
        (f"- assistant: {'x ' * 980}. - user: I sign with Mallory {'x' * 1000}", "external"),
    ],
)
def test_only_what_the_user_wrote_in_a_captured_session_is_said(
    sql: psycopg.Connection, turns: str, origin: str
) -> None:
    team = Team(sql)
    write: LiteralString = """
        select document_id from write_entry('daily', '2026-05-04', %s, 'codex',
            tool => 'textrawl capture', space => %s, credential => %s)"""
    sql.execute(write, (f"## Harbour, codex, 12:00\n\n{turns}", team.space, team.credential("ada")))

    parts: LiteralString = "select array_agg(distinct origin) from memory_observations"
    assert team.fetch(parts) == [origin]
