"""Facts with random periods: what an answer has at a time, in any order of storing, and undone."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sql.deeds import World
from tests.support.examples import EXAMPLES

START = datetime(2020, 1, 1, tzinfo=UTC)
FEW, MANY = (settings(max_examples=examples) for examples in (8, max(40, EXAMPLES // 8)))
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


@FEW
@given(st.lists(PERIODS, min_size=1, max_size=5))
def test_an_answer_as_of_a_time_has_the_facts_of_this_time_and_no_others(
    sql: psycopg.Connection, periods: list[Period]
) -> None:
    check_periods(sql, periods)


@FEW
@given(st.lists(PERIODS, min_size=1, max_size=4), st.data())
def test_the_order_of_storing_a_history_changes_no_answer(
    sql: psycopg.Connection, periods: list[Period], data: st.DataObject
) -> None:
    check_orders(sql, periods, data)


@FEW
@given(STEPS)
def test_each_step_undone_restores_the_state_before(
    sql: psycopg.Connection, steps: list[Step]
) -> None:
    check_undo(sql, steps)


@pytest.mark.slow
@MANY
@given(st.lists(PERIODS, min_size=1, max_size=5), STEPS, st.data())
def test_many_histories_hold_the_same(
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
