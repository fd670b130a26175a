"""Taking back what somebody said of a fact that was known: its source, confidence and end."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import psycopg
import pytest

from tests.support.clock import set_back
from tests.support.sql_team import Said, Team

_numbers = count()
_END = datetime(2999, 1, 1, tzinfo=UTC)
_DEFAULTS = {"source": "conversation", "confidence": 1.0, "valid_until": None, "said_at": None}
_SAID = datetime(2023, 5, 8, tzinfo=UTC)


def read_values(team: Team, fact: Said) -> dict[str, Any] | None:
    """Source, confidence, end and day of a fact; None when it is gone."""
    query = """
        select source, confidence::numeric(3, 2)::float, valid_until, nullif(said_at, created_at)
        from observation where id = %s"""
    row = team.sql.execute(query, (fact.id,)).fetchone()
    return dict(zip(_DEFAULTS, row, strict=True)) if row else None


def read_trail(team: Team) -> list[tuple[str, dict[str, Any]]]:
    """Action and detail of every event of a fact."""
    query = """
        select action, detail from event where space_id = %s and observation_id is not null
        order by id"""
    return team.sql.execute(query, (team.space,)).fetchall()


def test_an_update_is_an_event_that_keeps_the_former_values(team: Team) -> None:
    team.remember("ana", "Jeff", "drinks tea", confidence=0.5)
    team.remember("bob", "Jeff", "drinks tea.", confidence=0.7, source="note")
    team.remember("bob", "Jeff", "drinks tea", confidence=0.7)

    assert read_trail(team) == [
        ("remembered", {}),
        ("updated", {"before": {"confidence": 0.5, "source": "conversation"},
                     "after": {"confidence": 0.7, "source": "note"}}),
        ("repeated", {"before": {"confidence": 0.7}, "after": {"confidence": 0.7}}),
    ]  # fmt: skip


def test_an_update_is_taken_back_and_put_back(team: Team) -> None:
    fact = team.remember("ana", "Jeff", "drinks tea", confidence=0.5)
    former, since = team.rows(), team.now()
    team.remember("eve", "Jeff", "drinks tea", confidence=0.9, source="note", valid_until=_END)
    updated = team.rows()

    [planned] = team.plan("eve", since)
    done = team.undo("eve", since)

    assert (planned["action"], planned["content"]) == ("reset", "drinks tea")
    assert (done["reset"], done["removed"]) == (1, 0)
    assert team.rows() == former
    assert team.plan("eve", since) == []
    team.revert(done["undo_id"])
    assert team.rows() == updated
    expected = {"source": "note", "confidence": 0.9, "valid_until": _END}
    assert read_values(team, fact) == _DEFAULTS | expected


def test_what_another_said_later_stays(team: Team) -> None:
    fact = team.remember("ana", "Jeff", "drinks tea", confidence=0.5)
    since = team.now()
    team.remember("eve", "Jeff", "drinks tea", confidence=0.9, source="note")
    team.remember("bob", "Jeff", "drinks tea", confidence=0.8)
    before = team.rows()

    [kept] = team.plan("eve", since)
    assert team.undo_if_any("eve", since) is None

    assert (kept["action"], kept["id"], kept["later_author"]) == ("kept", fact.id, "bob")
    assert team.rows() == before


def test_updates_are_undone_from_the_newest_and_reverted_from_the_last(team: Team) -> None:
    fact = team.remember("ana", "Jeff", "drinks tea", confidence=0.1)
    since = team.now()
    team.remember("eve", "Jeff", "drinks tea", confidence=0.2)
    team.remember("bob", "Jeff", "drinks tea", confidence=0.3)
    before = team.rows()
    first, second = (team.undo(author, since)["undo_id"] for author in ("bob", "eve"))
    assert read_values(team, fact) == _DEFAULTS | {"confidence": 0.1}

    with pytest.raises(psycopg.Error) as refused:
        team.revert(first)
    assert refused.value.sqlstate == "TR032"
    team.revert(second)
    team.revert(first)
    assert team.rows() == before


def test_a_fact_that_was_replaced_comes_back_with_the_end_that_it_had_before_both(
    team: Team,
) -> None:
    tea = team.remember("ana", "Jeff", "drinks tea")
    before, since = team.rows(), team.now()
    team.remember("eve", "Jeff", "drinks tea", valid_until=_END)
    team.remember("eve", "Jeff", "drinks coffee", tea.id)

    team.check_undo("eve", since, before)


def test_an_update_of_a_fact_that_another_replaced_since_is_taken_back_after_that(
    team: Team,
) -> None:
    tea = team.remember("ana", "Jeff", "drinks tea")
    since = team.now()
    team.remember("eve", "Jeff", "drinks tea", valid_until=_END)
    team.remember("bob", "Jeff", "drinks coffee", tea.id)

    assert team.undo_if_any("eve", since) is None
    assert team.valid("Jeff") == {"drinks coffee": "bob"}
    team.undo("bob", since)
    team.undo("eve", since)

    assert team.valid("Jeff") == {"drinks tea": "ana"}
    assert read_values(team, tea) == _DEFAULTS


def expire(team: Team, fact: Said) -> None:
    """Lets the end that an update gave a fact pass."""
    ended = datetime.now(UTC) - timedelta(seconds=1)
    with team.sql.transaction():
        team.sql.execute("alter table event disable trigger event_is_kept")
        team.sql.execute(
            """update event
               set detail = jsonb_set(detail, '{after,valid_until}', to_jsonb(%s::timestamptz))
               where observation_id = %s and detail -> 'after' ? 'valid_until'""",
            (ended, fact.id),
        )
        team.sql.execute("alter table event enable trigger event_is_kept")
    team.sql.execute("update observation set valid_until = %s where id = %s", (ended, fact.id))


def test_a_fact_whose_end_is_taken_back_is_valid_again(team: Team) -> None:
    tea = team.remember("ana", "Jeff", "drinks tea")
    since = team.now()
    team.remember("eve", "Jeff", "drinks tea", valid_until=_END)
    expire(team, tea)
    assert team.valid("Jeff") == {}

    team.undo("eve", since)

    assert team.valid("Jeff") == {"drinks tea": "ana"}


def test_a_fact_that_was_told_anew_after_its_end_does_not_come_back_beside_that(
    team: Team,
) -> None:
    tea = team.remember("ana", "Jeff", "drinks tea")
    since = team.now()
    team.remember("eve", "Jeff", "drinks tea", valid_until=_END)
    expire(team, tea)
    assert not team.remember("bob", "Jeff", "drinks tea").duplicate
    before = team.rows()

    done = team.undo_if_any("eve", since)

    assert team.rows() == before
    assert team.valid("Jeff") == {"drinks tea": "bob"}
    if done:
        team.revert(done)
    assert team.rows() == before


def test_a_fact_that_was_told_while_an_update_kept_it_valid_does_not_end(team: Team) -> None:
    tea = team.remember("ana", "Jeff", "drinks tea", valid_until=_END)
    since = team.now()
    team.remember("eve", "Jeff", "drinks tea", valid_until=_END + timedelta(days=1))
    with team.sql.transaction():
        team.sql.execute("alter table event disable trigger event_is_kept")
        team.sql.execute(
            """update event
               set detail = jsonb_set(detail, '{before,valid_until}', to_jsonb(clock_timestamp()))
               where observation_id = %s and detail -> 'before' ? 'valid_until'""",
            (tea.id,),
        )
        team.sql.execute("alter table event enable trigger event_is_kept")
    assert team.remember("bob", "Jeff", "drinks tea").duplicate

    team.undo_if_any("eve", since)

    assert team.valid("Jeff") == {"drinks tea": "ana"}


def test_an_end_that_has_passed_and_is_undone_and_put_back_stays_passed(team: Team) -> None:
    """The clock goes forth beyond the end, and back between the undo and its revert."""
    days = timedelta(days=20)
    team.remember("ana", "Jeff", "drinks tea")
    since = team.now() - 2 * days
    soon = team.now() + days / 2
    team.remember("eve", "Jeff", "drinks tea", valid_until=soon)
    set_back(team.sql, -days)
    assert team.valid("Jeff") == {}
    undo = team.undo("eve", since)["undo_id"]
    assert team.valid("Jeff") == {"drinks tea": "ana"}

    set_back(team.sql, days)
    assert team.valid("Jeff") == {"drinks tea": "ana"}
    team.revert(undo)

    assert team.valid("Jeff") == {}
