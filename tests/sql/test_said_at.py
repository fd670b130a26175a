"""The instant at which a fact was said: stored, searched by day and period, and asked for."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_the_words_of_a_day_are_those_of_utc_in_any_session(team: Team) -> None:
    late = datetime(2023, 5, 8, 23, 59, tzinfo=UTC).astimezone(timezone(timedelta(hours=14)))
    for zone in ("UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"):
        for style in ("ISO, MDY", "German", "SQL, DMY"):
            team.fetch("select set_config('timezone', %s, false)", zone)
            team.fetch("select set_config('datestyle', %s, false)", style)

            assert team.fetch("select date_words(%s)", late) == "8 May 2023 2023-05-08"


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


def test_an_endless_instant_is_refused(team: Team) -> None:
    for instant in ("infinity", "-infinity"):
        with pytest.raises(psycopg.errors.CheckViolation):
            team.remember("ana", "Jeff", "drinks tea", said_at=instant)
    assert team.rows() == {}


Sql = psycopg.Connection[Any]

_FIRST = datetime(2020, 1, 1, tzinfo=UTC)
_DAYS = 400
_TYPES = ("person", "project", "location")
_FACTS = 120
_FILL = """
    with said as (
        select remember_fact(
            'name' || mod(n, 17), (%(types)s::text[])[1 + mod(mod(n, 17), 3)],
            'tea ' || n || ' word' || mod(n, 5),
            said_at => case when mod(n, 10) > 0
                then %(first)s + mod(n * 37, %(days)s) * interval '1 day' end,
            model => 1, embedding => array[1, mod(n, 7), mod(n, 3)]::real[]::vector::halfvec)
        from generate_series(1, %(facts)s) n)
    select count(*) from said
"""
_SEARCH = """
    select observation_id from search_memory(%(query)s, since => %(since)s, until => %(until)s,
        entity_types => %(types)s, max_rows => %(rows)s, model => %(model)s, vector => %(vector)s,
        semantic => %(semantic)s, around => tstzrange(%(since)s, null))
"""
_OUTSIDE = """
    select content, said_at from observation
    where id = any(%s) and not (said_at >= coalesce(%s, '-infinity'::timestamptz)
                                and said_at <= coalesce(%s, 'infinity'::timestamptz))
"""
_INSIDE = """
    select {} from fact
    where said_at >= coalesce(%(since)s, '-infinity'::timestamptz)
      and said_at <= coalesce(%(until)s, 'infinity'::timestamptz)
"""
_bounds = st.none() | st.integers(-5, _DAYS + 5).map(lambda day: _FIRST + timedelta(days=day))


@pytest.fixture
def filled(sql: Sql) -> Sql:
    sql.execute("select register_embedding_model('test:model', 3)")
    values = {"types": list(_TYPES), "first": _FIRST, "days": _DAYS, "facts": _FACTS}
    assert sql.execute(_FILL, values).fetchone() == (_FACTS,)
    sql.execute("select relate_entities('name1', 'drinks', 'tea')")
    sql.execute("select refresh_search_statistics(true)")
    return sql


@st.composite
def write_search(draw: st.DrawFn) -> dict[str, Any]:
    """Return the arguments of a search in a period, with or without vectors."""
    since, until = draw(_bounds), draw(_bounds)
    if since and until:
        since, until = min(since, until), max(since, until)
    queries = ["tea", "word3", "tea word1", "tea 7", "name3", "nothing of this"]
    mode = draw(st.sampled_from(["words", "hybrid", "semantic"]))
    return {
        "since": since,
        "until": until,
        "query": draw(st.sampled_from(queries)),
        "types": draw(st.none() | st.lists(st.sampled_from(_TYPES), min_size=1, max_size=2)),
        "rows": draw(st.integers(1, 50)),
        "model": None if mode == "words" else 1,
        "vector": None if mode == "words" else "[1,2,1]",
        "semantic": mode == "semantic",
    }


@given(search=write_search())
def test_no_search_returns_what_was_said_outside_the_period(
    filled: Sql, search: dict[str, Any]
) -> None:
    found = [row for (row,) in filled.execute(_SEARCH, search).fetchall()]

    outside = filled.execute(_OUTSIDE, (found, search["since"], search["until"]))
    assert outside.fetchall() == []
    if search["query"] == "tea" and search["types"] is None and search["model"] is None:
        [expected] = filled.execute(_INSIDE.format("count(*)"), search).fetchone() or [0]
        assert min(expected, search["rows"]) <= len(found) <= search["rows"]


@given(since=_bounds, until=_bounds)
def test_look_ups_and_lists_return_exactly_what_was_said_in_the_period(
    filled: Sql, since: datetime | None, until: datetime | None
) -> None:
    period = {"since": since, "until": until}
    listed = """
        select entity ->> 'id' from list_entities(max_rows => 100, since => %(since)s,
            until => %(until)s), jsonb_array_elements(entities) entity"""
    names = {name for (name,) in filled.execute(listed, period).fetchall()}
    inside = filled.execute(_INSIDE.format("entity_id::text, id::text"), period).fetchall()

    if since or until:
        assert names == {entity for entity, _ in inside}
    described = """
        select observations, total_observations from describe_entity('name3',
            max_observations => 100, since => %(since)s, until => %(until)s)"""
    row: Any = filled.execute(described, period).fetchone()
    facts: list[dict[str, Any]] = row[0]
    [owner] = filled.execute("select id::text from entity where name = 'name3'").fetchall()
    mine = {fact for entity, fact in inside if (entity,) == owner}
    assert {fact["id"] for fact in facts} == mine
    assert row[1] == len(mine)


def test_a_period_that_ends_before_it_begins_is_empty(filled: Sql) -> None:
    period = {"since": _FIRST + timedelta(days=9), "until": _FIRST}
    values = dict.fromkeys(("types", "model", "vector"), None)
    search = {"query": "tea", "rows": 50, "semantic": False, **values, **period}
    assert filled.execute(_SEARCH, search).fetchall() == []


def test_a_lifted_score_stays_in_its_range_and_order(sql: Sql) -> None:
    rows = sql.execute(
        "select n / 1000.0, lift_score(n / 1000.0, true) from generate_series(0, 1000) n order by n"
    ).fetchall()
    lifted = [lift for _, lift in rows]

    assert all(float(score) <= lift <= min(1, 1.4 * float(score) + 1e-9) for score, lift in rows)
    assert lifted == sorted(lifted)


def test_without_a_time_a_score_stays_as_it_is(sql: Sql) -> None:
    for flag in (False, None):
        assert sql.execute("select lift_score(0.3, %s)", (flag,)).fetchone() == (0.3,)


def test_facts_of_the_period_are_lifted_and_no_other_fact_is_lost(sql: Sql) -> None:
    for day in ("2023-05-08", "2024-05-08", "2025-05-08"):
        sql.execute(
            "select remember_fact('Jeff', 'person', 'likes tea of ' || %s, said_at => %s)",
            (day, day),
        )
    query = """
        select said_at::date::text, score from search_memory('tea', around => %s::tstzrange)"""
    sql.execute("set timezone = 'UTC'")
    plain = dict(sql.execute(query, (None,)).fetchall())
    lifted = dict(sql.execute(query, ("[2024-01-01,2025-01-01)",)).fetchall())

    assert lifted.keys() == plain.keys()
    assert next(iter(lifted)) == "2024-05-08"
    assert plain["2024-05-08"] < lifted["2024-05-08"] <= 1
