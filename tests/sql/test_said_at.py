"""The instant at which a fact was said: stored beside the time of storing, and searched by day."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import psycopg
import pytest

from tests.support.sql_team import Said, Team

_MAY = datetime(2023, 5, 8, 9, 30, tzinfo=UTC)


@pytest.fixture
def team(sql: psycopg.Connection) -> Team:
    return Team(sql)


def read_said(team: Team, fact: Said) -> datetime | None:
    """Return the instant that the author gave, or None."""
    return team.fetch("select nullif(said_at, created_at) from observation where id = %s", fact.id)


def has_words(team: Team, fact: Said, *queries: str) -> bool:
    """True if the search document of `fact` has all the words of each query."""
    return all(
        team.fetch(
            "select fts @@ plainto_tsquery('english', %s) from observation where id = %s",
            query,
            fact.id,
        )
        for query in queries
    )


def test_a_fact_without_an_instant_was_said_when_it_was_stored(team: Team) -> None:
    fact = team.remember("ana", "Jeff", "drinks tea")

    assert read_said(team, fact) is None
    assert not has_words(team, fact, str(datetime.now(UTC).year))


def test_a_row_written_by_hand_was_said_when_it_was_stored(team: Team) -> None:
    team.remember("ana", "Jeff", "drinks tea")
    copied: Any = """
        insert into observation (space_id, entity_id, entity_type, content, content_hash, source,
                                 author_id, tool, fts, created_at)
        select space_id, entity_id, entity_type, 'copy', content_hash, source, author_id, tool, fts,
            '2020-01-02' from observation
        returning said_at = created_at"""
    assert team.fetch(copied)


def test_the_day_that_an_author_gave_belongs_to_the_words_of_the_fact(team: Team) -> None:
    fact = team.remember("ana", "Jeff", "drinks tea", said_at=_MAY)

    assert read_said(team, fact) == _MAY
    assert has_words(team, fact, "8 May 2023", "2023-05-08", "tea")
    assert not has_words(team, fact, "June")


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize("style", ["ISO, MDY", "German", "SQL, DMY"])
def test_the_words_of_a_day_are_those_of_utc_in_any_session(
    team: Team, zone: str, style: str
) -> None:
    team.fetch("select set_config('timezone', %s, false)", zone)
    team.fetch("select set_config('datestyle', %s, false)", style)
    late = datetime(2023, 5, 8, 23, 59, tzinfo=UTC).astimezone(timezone(timedelta(hours=14)))

    words = team.fetch("select date_words(%s)", late)

    assert words == "8 May 2023 2023-05-08"


def test_a_fact_said_again_on_its_day_takes_the_instant(team: Team) -> None:
    fact = team.remember("ana", "Jeff", "drinks tea", said_at=_MAY)
    rows, since = team.rows(), team.now()
    evening = _MAY + timedelta(hours=9)
    again = team.remember("eve", "Jeff", "drinks tea", said_at=evening)

    assert again.duplicate
    assert (read_said(team, fact), has_words(team, fact, "8 May 2023")) == (evening, True)
    undone = team.undo("eve", since)
    assert team.rows() == rows
    team.revert(undone["undo_id"])
    assert read_said(team, fact) == evening


def test_an_undo_of_the_only_instant_takes_its_words_away(team: Team) -> None:
    fact = team.remember("ana", "Jeff", "drinks tea")
    rows, since = team.rows(), team.now()
    month = f"{since:%B}"
    team.remember("eve", "Jeff", "drinks tea", said_at=since - timedelta(hours=1))
    assert has_words(team, fact, month)

    team.undo("eve", since)

    assert team.rows() == rows
    assert not has_words(team, fact, month)


def test_the_same_correction_again_with_its_instant_is_a_repetition(team: Team) -> None:
    tea = team.remember("ana", "Jeff", "drinks tea", said_at=_MAY - timedelta(days=9))
    coffee = team.remember("ana", "Jeff", "drinks coffee", tea.id, said_at=_MAY)
    again = team.remember("ana", "Jeff", "drinks coffee", tea.id, said_at=_MAY)

    assert again.id == coffee.id
    assert team.valid("Jeff") == {"drinks coffee": "ana"}


def test_a_fact_removed_by_an_undo_comes_back_with_its_instant(team: Team) -> None:
    since = team.now()
    fact = team.remember("eve", "Jeff", "drinks tea", said_at=_MAY)
    rows = team.rows()

    done = team.undo("eve", since)
    team.revert(done["undo_id"])

    assert team.rows() == rows
    assert has_words(team, fact, "8 May 2023")


def test_a_fact_keeps_its_instant_when_its_entity_is_split(team: Team) -> None:
    fact = team.remember("ana", "Jeff", "drinks tea", said_at=_MAY)
    since = team.now()
    team.sql.execute(
        "select split_node('Jeff', %s, credential => %s, space => %s)",
        (
            '[{"name": "Tea", "observations": ["drinks tea"]}]',
            team.credential("ben"),
            team.space,
        ),
    )
    assert team.fetch("select entity_name from memory_observations") == "Tea"
    assert (read_said(team, fact), has_words(team, fact, "8 May 2023")) == (_MAY, True)

    team.undo("ben", since)

    assert team.fetch("select entity_name from memory_observations") == "Jeff"
    assert (read_said(team, fact), has_words(team, fact, "8 May 2023")) == (_MAY, True)


def test_a_batch_stores_the_instant_of_each_fact(team: Team) -> None:
    facts = (
        '[{"entity": "Ada", "type": "person", "observation": "sings", "said_at": "2023-05-08"},'
        ' {"entity": "Ada", "type": "person", "observation": "dances"}]'
    )
    team.sql.execute("set timezone = 'UTC'")
    team.sql.execute(
        "select build_knowledge(%s::jsonb, credential => %s, space => %s)",
        (facts, team.credential("ana"), team.space),
    )

    given = dict(
        team.sql.execute(
            "select content, nullif(said_at, created_at) from memory_observations"
        ).fetchall()
    )
    assert given == {"sings": datetime(2023, 5, 8, tzinfo=UTC), "dances": None}


@pytest.mark.parametrize("instant", ["infinity", "-infinity"])
def test_an_endless_instant_is_refused(team: Team, instant: str) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        team.remember("ana", "Jeff", "drinks tea", said_at=instant)
    assert team.rows() == {}
