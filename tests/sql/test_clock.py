"""The clock of the database goes back or forth: what somebody ended stays ended."""

from datetime import timedelta
from itertools import count

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.sql.deeds import Deed, Rows, World
from tests.sql.test_curation_histories import any_deeds, deeds, removals
from tests.support.clock import set_back
from tests.support.examples import EXAMPLES

pytestmark = pytest.mark.slow

_numbers = count()
_days = st.integers(-900, 900).filter(bool)
# Facts and relations end without a newer one, too.
_ends = deeds(("ana", "bob"), ("end fact", "end relation", "relate", "fade"))
_histories = st.lists(any_deeds | removals | _ends, min_size=1, max_size=12)


def list_valid(world: World) -> Rows:
    """What is valid in a world, in words that are the same in each world."""
    places = {space: side for side, space in enumerate(world.spaces)}
    return sorted(
        (places[space], entity, text, author.removeprefix(world.name))
        for space, entity, text, author in world.list_valid()
    )


@settings(max_examples=2 * EXAMPLES)
@given(history=_histories, days=_days)
def test_answers_are_the_same_before_and_after_the_clock_was_set(
    owner: psycopg.Connection, history: list[Deed], days: int
) -> None:
    world = World(owner, f"clock{next(_numbers)}")
    for deed in history:
        world.do(deed)
    valid, answers = world.list_valid(), world.read_answers()

    set_back(owner, timedelta(days=days), world.spaces)

    assert world.list_valid() == valid
    assert world.read_answers() == answers


@settings(max_examples=2 * EXAMPLES)
@given(
    before=_histories, days=_days, after=_histories, undone=st.sampled_from(["ana", "bob", "pip"])
)
# A fact of the future ends in the present.
@example(
    before=[Deed("remember", "ana"), Deed("remember", "pip"), Deed("accept", "bob")],
    days=1,
    after=[Deed("end fact", "bob", other=1), Deed("remember", "ana")],
    undone="ana",
)
def test_what_is_done_after_the_clock_was_set_leaves_what_it_leaves_without(
    owner: psycopg.Connection, before: list[Deed], days: int, after: list[Deed], undone: str
) -> None:
    worlds = [World(owner, f"{name}{next(_numbers)}") for name in ("set", "unset")]
    for world in worlds:
        for deed in before:
            world.do(deed)
    set_back(owner, timedelta(days=days), worlds[0].spaces)
    for world in worlds:
        for deed in after:
            world.do(deed)
    assert list_valid(worlds[0]) == list_valid(worlds[1])

    # An undo chooses events by their times, so it takes all events of the author here.
    begin = worlds[0].now() - timedelta(days=10_000)
    undos = [world.undo(undone, begin) for world in worlds]
    assert list_valid(worlds[0]) == list_valid(worlds[1])

    for world, numbers in zip(worlds, undos, strict=True):
        world.revert(numbers)
    assert list_valid(worlds[0]) == list_valid(worlds[1])
