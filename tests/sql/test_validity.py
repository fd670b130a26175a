"""The times of facts: when they were said and valid, asked for in any order, and undone."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sql.deeds import World
from tests.support.examples import EXAMPLES
from tests.support.sql_team import Said, Team

START = datetime(2020, 1, 1, tzinfo=UTC)
MANY = settings(max_examples=max(40, EXAMPLES // 8))
_numbers = count()

Period = tuple[int, int | None]
"""The first day of a fact, counted from START, and the day on which it is no longer valid."""
PERIODS = st.tuples(st.integers(0, 20), st.none() | st.integers(1, 9)).map(
    lambda drawn: (drawn[0], None if drawn[1] is None else drawn[0] + drawn[1])
)


def at(day: int | None, **more: int) -> datetime | None:
    """The beginning of a day, or None."""
    return None if day is None else START + timedelta(days=day, **more)


_GIVEN = dict.fromkeys(("valid_from", "valid_until", "said_at", "replaces", "credential", "space"))


def remember(sql: psycopg.Connection, entity: str, text: str, **given: object) -> None:
    """Store a fact, with the given parameters of remember_fact()."""
    sql.execute(
        """
        select remember_fact(
            %(entity)s, 'person', %(text)s, valid_from => %(valid_from)s, said_at => %(said_at)s,
            valid_until => %(valid_until)s, replaces => %(replaces)s,
            credential => %(credential)s, space => %(space)s)""",
        {"entity": entity, "text": text} | _GIVEN | given,
    )


def look_up(sql: psycopg.Connection, entity: str, as_of: datetime | str | None) -> list[str]:
    """The texts and ends of the facts that a look-up finds, in its order."""
    query = """
        select o ->> 'content' || coalesce(' ' || (o ->> 'valid_until'), '')
        from describe_entity(%s, as_of => %s) d, jsonb_array_elements(d.observations) o"""
    return [text for (text,) in sql.execute(query, (entity, as_of)).fetchall()]


def search(sql: psycopg.Connection, entity: str, as_of: datetime | str) -> set[str]:
    """The texts that a search for the entity finds."""
    query = "select content from search_memory(%s, as_of => %s, max_rows => 50, least_score => 0)"
    found = sql.execute(query, (f"{entity} value", as_of)).fetchall()
    return {text for (text,) in found if text.startswith(entity)}


def check_periods(sql: psycopg.Connection, periods: list[Period]) -> None:
    entity = f"Eve{next(_numbers)}"
    for number, (start, end) in enumerate(periods):
        text = f"{entity} value {number}"
        remember(sql, entity, text, valid_from=at(start), valid_until=at(end))
    for day in range(0, 31, 3):
        for moment in (at(day), at(day, microseconds=-1)):
            expected = {
                f"{entity} value {number}"
                for number, (start, end) in enumerate(periods)
                if at(start) <= moment and (end is None or moment < at(end))  # pyright: ignore
            }
            found = {" ".join(text.split()[:3]) for text in look_up(sql, entity, moment)}
            assert found == expected
            assert search(sql, entity, moment) == expected  # pyright: ignore
    assert len(look_up(sql, entity, "infinity")) == len(periods)
    assert len(search(sql, entity, "infinity")) == len(periods)


def check_orders(sql: psycopg.Connection, periods: list[Period], data: st.DataObject) -> None:
    # A value is said once, and the next value replaces it, whichever of the two is stored first.
    pairs = [(start, start + 1 + (end or 3)) for start, end in periods]
    answers: list[Any] = []
    for turn in range(2):
        entity = f"Kim{next(_numbers)}"
        for place in data.draw(st.permutations(range(len(pairs)))):
            values = [(f"{place} then", pairs[place][0]), (f"{place} next", pairs[place][1])]
            (first, first_day), (last, last_day) = values[::-1] if turn else values
            remember(sql, entity, first, said_at=at(first_day))
            remember(sql, entity, last, said_at=at(last_day), replaces=first)
        days = [at(day) for day in range(0, 40, 3)]
        answers.append([sorted(look_up(sql, entity, day)) for day in [*days, None, "infinity"]])
    assert answers[0] == answers[1]


@dataclass(frozen=True)
class Step:
    """A call of remember_fact or relate_entities with some of the times."""

    text: int
    relation: bool
    said: int | None
    start: int | None
    end: int | None
    replaces: int | None


TIMES = st.none() | st.integers(0, 9)
CHOICES = st.none() | st.integers(0, 2)
STEPS = st.lists(
    st.builds(Step, st.integers(0, 2), st.booleans(), TIMES, TIMES, TIMES, CHOICES),
    min_size=1,
    max_size=6,
)


def take(world: World, step: Step) -> None:
    """Make the call of a step. The memory may refuse it."""
    given: dict[str, Any] = {"valid_from": at(step.start), "valid_until": at(step.end)}
    given |= {"credential": world.tokens["ana"], "space": world.spaces[0]}
    try:
        with world.sql.transaction():
            if step.relation:
                given |= {"to": f"Acme {step.text}", "replaces": step.replaces is not None}
                world.sql.execute(
                    "select relate_entities('Ada', 'works_at', %(to)s, replaces => %(replaces)s,"
                    " valid_from => %(valid_from)s, valid_until => %(valid_until)s,"
                    " credential => %(credential)s, space => %(space)s)",
                    given,
                )
            else:
                other = None if step.replaces is None else f"value {step.replaces}"
                given |= {"said_at": at(step.said), "replaces": other}
                remember(world.sql, "Ada", f"value {step.text}", **given)
    except psycopg.errors.Error as error:
        if not (error.sqlstate or "").startswith("TR"):
            raise


def read_rows(world: World) -> list[Any]:
    """All facts and relations. An undo keeps a past end in closed_at, which then says nothing."""
    return world.column(
        "select to_jsonb(o) - 'closed_at' || jsonb_build_object('closed', closed_at = valid_until)"
        " from observation o where space_id = any(%s) order by id",
        world.spaces,
    )


def check_undo(sql: psycopg.Connection, steps: list[Step]) -> None:
    world = World(sql, f"valid{next(_numbers)}")
    states: list[tuple[datetime, list[Any]]] = []
    for step in steps:
        states.append((world.now(), read_rows(world)))
        take(world, step)
    for moment, before in reversed(states):
        after = read_rows(world)
        undos = world.undo("ana", moment)
        assert read_rows(world) == before
        world.revert(undos)
        assert read_rows(world) == after
        world.undo("ana", moment)


@pytest.mark.slow
@MANY
@given(st.lists(PERIODS, min_size=1, max_size=5), STEPS, st.data())
def test_in_many_histories_answers_have_the_facts_of_a_time_in_any_order_and_undos_restore_them(
    sql: psycopg.Connection, periods: list[Period], steps: list[Step], data: st.DataObject
) -> None:
    check_periods(sql, periods)
    check_orders(sql, periods, data)
    check_undo(sql, steps)


def test_the_memory_says_what_it_knew_at_a_time(sql: psycopg.Connection) -> None:
    remember(sql, "Ada", "lives in Oslo", valid_from=at(0))
    [[before]] = sql.execute("select clock_timestamp()").fetchall()
    remember(sql, "Ada", "lives in Riga", valid_from=at(30), replaces="lives in Oslo")
    remember(sql, "Ada", "owns a cat", valid_from=at(0))

    known = "select content from as_of(%s, known_at => %s) order by content"
    shown = """
        select o ->> 'content' from describe_entity('Ada', known_at => %s) d,
            jsonb_array_elements(d.observations) o order by 1"""
    listed = "select content from entity_history('Ada', known_at => %s) where valid order by 1"
    assert sql.execute(known, (at(60), before)).fetchall() == [("lives in Oslo",)]
    assert sql.execute(shown, (before,)).fetchall() == [("lives in Oslo",)]
    assert sql.execute(listed, (before,)).fetchall() == [("lives in Oslo",)]
    now = [("lives in Riga",), ("owns a cat",)]
    assert sql.execute(known, (at(60), None)).fetchall() == now
    assert sql.execute(shown, (None,)).fetchall() == now
    assert sql.execute(listed, (None,)).fetchall() == now
    assert sql.execute(known, (at(9), None)).fetchall() == [("lives in Oslo",), ("owns a cat",)]


_MAY = datetime(2023, 5, 8, 9, 30, tzinfo=UTC)


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
