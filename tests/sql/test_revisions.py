"""Revisions: a fact that was wrong, why, and what is right; undone and reverted exactly."""

from datetime import datetime
from itertools import product
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.support.sql_team import Said, Team


def revise(
    team: Team, actor: str, fact: object, successor: str | None = None, reason: str = "a mistake"
) -> dict[str, Any]:
    """Revises a fact of Jeff as `actor`."""
    query = """
        select * from revise_fact('Jeff', %s, %s, %s, credential => %s, space => %s)"""
    given = (str(fact), reason, successor, team.credential(actor), team.space)
    with team.sql.cursor(row_factory=dict_row) as cursor:
        [row] = cursor.execute(query, given).fetchall()
    return row


def find_as_of(team: Team, moment: datetime) -> list[str]:
    rows = team.sql.execute("select content from as_of(%s) order by 1", (moment,)).fetchall()
    return [content for (content,) in rows]


def end(team: Team, fact: UUID | None) -> tuple[Any, ...] | None:
    query = "select valid_from, valid_until, replaced_by, said_at from observation where id = %s"
    return team.sql.execute(query, (fact,)).fetchone()


def test_a_wrong_fact_was_valid_at_no_time_and_its_successor_has_its_times(team: Team) -> None:
    wrong = team.remember("ana", "Jeff", "lives in Oslo", said_at=datetime(2020, 5, 1).astimezone())
    after = team.now()
    before = end(team, wrong.id)
    assert before is not None

    row = revise(team, "bob", wrong.id, "lives in Bergen", "he said Bergen")

    assert (row["content"], row["duplicate"], row["repeated"]) == ("lives in Oslo", False, False)
    assert find_as_of(team, after) == ["lives in Bergen"]
    begin, _, _, said = before
    assert end(team, wrong.id) == (begin, begin, row["successor_id"], said)
    assert end(team, row["successor_id"]) == (begin, None, None, said)
    assert team.valid("Jeff") == {"lives in Bergen": "bob"}


def test_a_fact_that_is_no_longer_so_is_told_from_one_that_was_wrong(team: Team) -> None:
    oslo = team.remember("ana", "Jeff", "lives in Oslo")
    tea = team.remember("ana", "Jeff", "drinks tea")
    early = team.now()

    team.remember("ana", "Jeff", "lives in Bergen", oslo.id)
    revise(team, "ana", tea.id, "drinks coffee", "misheard")

    assert find_as_of(team, early) == ["drinks coffee", "lives in Oslo"]
    reasons = "select content, reason from memory_timeline where not became order by 1"
    assert team.sql.execute(reasons).fetchall() == [
        ("drinks tea", "revised"), ("lives in Oslo", "replaced"),
    ]  # fmt: skip
    changes = "select change, content, instead from memory_diff(%s) order by 1, 2"
    assert team.sql.execute(changes, (early,)).fetchall() == [
        ("!", "drinks tea", "drinks coffee"),
        ("+", "lives in Bergen", None),
        ("-", "lives in Oslo", "lives in Bergen"),
    ]
    rows = "select wrong, reason, instead, revised_by from memory_revisions"
    assert team.sql.execute(rows).fetchall() == [("drinks tea", "misheard", "drinks coffee", "ana")]


def test_a_fact_that_was_replaced_was_wrong_while_it_was_valid(team: Team) -> None:
    oslo = team.remember("ana", "Jeff", "lives in Oslo")
    early = team.now()
    bergen = team.remember("ana", "Jeff", "lives in Bergen", oslo.id)
    ended = end(team, oslo.id)
    assert ended is not None

    row = revise(team, "bob", oslo.id, "lives in Riga")

    assert find_as_of(team, early) == ["lives in Riga"]
    assert end(team, row["successor_id"]) == (ended[0], ended[1], bergen.id, ended[3])
    assert team.valid("Jeff") == {"lives in Bergen": "ana"}


def test_a_revision_that_comes_again_changes_nothing_and_another_one_is_refused(team: Team) -> None:
    wrong = team.remember("ana", "Jeff", "lives in Oslo")
    first = revise(team, "bob", wrong.id, "lives in Bergen")
    rows = team.rows()

    again = revise(team, "bob", wrong.id, "Lives in Bergen.")

    assert (again["successor_id"], again["repeated"]) == (first["successor_id"], True)
    assert team.rows() == rows
    for successor, reason in (("lives in Riga", "a mistake"), ("lives in Bergen", "another")):
        with pytest.raises(psycopg.Error) as refused:
            revise(team, "bob", wrong.id, successor, reason)
        assert refused.value.sqlstate == "TR018"


def test_a_revision_has_a_reason_and_another_text(team: Team) -> None:
    team.remember("ana", "Jeff", "lives in Oslo")
    rows = team.rows()
    for successor, reason in (("lives in Oslo", "x"), ("lives in Riga", ""), (None, "x" * 501)):
        with pytest.raises(psycopg.Error) as refused:
            revise(team, "bob", "lives in Oslo", successor, reason)

        assert refused.value.sqlstate == "TR019"
        assert team.rows() == rows


def test_a_successor_that_is_known_already_keeps_its_author_and_times(team: Team) -> None:
    wrong = team.remember("ana", "Jeff", "lives in Oslo")
    known = team.remember("ana", "Jeff", "lives in Bergen")
    before = end(team, known.id)

    row = revise(team, "bob", wrong.id, "lives in Bergen")

    assert (row["successor_id"], row["duplicate"]) == (known.id, True)
    assert end(team, known.id) == before
    assert team.valid("Jeff") == {"lives in Bergen": "ana"}


def test_a_revision_is_undone_and_reverted_exactly(sql: psycopg.Connection) -> None:
    later = datetime.fromisoformat("2999-01-01T00:00Z")
    cases = product(("lives in Bergen", "lives in Riga", None), (False, True))
    for number, (successor, replaced) in enumerate(cases):
        team = Team(sql, f"team-{number}")
        wrong = team.remember("ana", "Jeff", "lives in Oslo", valid_until=later)
        if replaced:
            team.remember("ana", "Jeff", "lives in Riga", wrong.id)
        before, since, former = team.rows(), team.now(), list_reasons(team)
        revise(team, "eve", wrong.id, successor)
        after, reasons = team.rows(), list_reasons(team)

        done = team.undo("eve", since)

        assert team.rows() == before, (successor, replaced)
        assert list_reasons(team) == former
        team.revert(done["undo_id"])
        assert team.rows() == after, (successor, replaced)
        assert list_reasons(team) == reasons


def test_what_was_replaced_and_then_revised_by_one_author_is_as_it_was(team: Team) -> None:
    oslo = team.remember("ana", "Jeff", "lives in Oslo")
    before, since = team.rows(), team.now()
    bergen = team.remember("eve", "Jeff", "lives in Bergen", oslo.id)
    riga = revise(team, "eve", oslo.id, "lives in Riga")["successor_id"]
    revise(team, "eve", riga, "lives in Turku")
    revise(team, "eve", bergen.id, "lives in Bodø")
    team.remember("eve", "Jeff", "lives in Oslo")

    team.check_undo("eve", since, before)


def test_a_fact_that_two_revised_alike_is_wrong_until_both_are_undone(team: Team) -> None:
    wrong = team.remember("ana", "Jeff", "lives in Oslo")
    before, since = team.rows(), team.now()
    revise(team, "eve", wrong.id, "lives in Bergen")
    revise(team, "bob", wrong.id, "lives in Bergen")

    team.undo_if_any("eve", since)

    assert team.valid("Jeff") == {"lives in Bergen": "eve"}
    team.undo("bob", since)
    team.undo("eve", since)
    assert team.rows() == before


def test_what_somebody_revised_since_stays_as_it_is(team: Team) -> None:
    oslo = team.remember("ana", "Jeff", "lives in Oslo")
    since = team.now()
    team.remember("eve", "Jeff", "lives in Bergen", oslo.id)
    revise(team, "bob", oslo.id, "lives in Riga")
    before = team.rows()

    assert team.undo_if_any("eve", since) is None

    assert team.rows() == before


def test_a_revised_fact_stays_and_so_does_what_it_replaced(team: Team) -> None:
    oslo = team.remember("ana", "Jeff", "lives in Oslo")
    since = team.now()
    bergen: Said = team.remember("eve", "Jeff", "lives in Bergen", oslo.id)
    revise(team, "bob", bergen.id, "lives in Riga")

    assert team.undo_if_any("eve", since) is None

    assert team.valid("Jeff") == {"lives in Riga": "bob"}


def test_forgetting_a_wrong_fact_deletes_its_reason_too(team: Team) -> None:
    wrong = team.remember("ana", "Jeff", "lives in Oslo")
    revise(team, "bob", wrong.id, "lives in Bergen", "a secret")

    team.forget("Jeff", wrong.id)

    assert list_reasons(team) == []
    assert team.valid("Jeff") == {"lives in Bergen": "bob"}


def test_a_caller_that_cannot_read_learns_no_text(team: Team) -> None:
    wrong = team.remember("ana", "Jeff", "lives in Oslo")
    blind = team.credential("mute", "write")

    row = team.sql.execute(
        "select entity_name, content from revise_fact('JEFF', %s, 'wrong', credential => %s)",
        (str(wrong.id)[:8], blind),
    ).fetchone()

    assert row == ("JEFF", None)


def list_reasons(team: Team) -> list[tuple[Any, ...]]:
    return team.sql.execute("select * from revision order by observation_id").fetchall()
