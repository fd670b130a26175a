"""Random histories of everything that a team does to keep its memory in order."""

from collections import Counter
from datetime import datetime
from itertools import count
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sql.deeds import Deed, State, World, list_changes

pytestmark = pytest.mark.slow

_numbers = count()
_places = st.integers(0, 7)
_WRITES = (
    "remember", "remember", "replace", "update", "relate", "name", "unname",
    "merge", "merge", "split", "share", "revise", "tidy",
)  # fmt: skip


def deeds(actors: tuple[str, ...], verbs: tuple[str, ...]) -> st.SearchStrategy[Deed]:
    return st.builds(
        Deed,
        st.sampled_from(verbs),
        st.sampled_from(actors),
        _places,
        _places,
        _places,
        st.integers(0, 1),
    )


_writes = deeds(("ana", "bob"), _WRITES)
_decisions = deeds(("bob",), ("accept", "reject"))
_proposals = deeds(("pip",), ("remember", "relate", "remember", "replace"))
removals = deeds(("ana", "bob"), ("forget",))
any_deeds = _writes | _decisions | _proposals | deeds(("ana", "bob"), ("move",))


def live(world: World, history: list[Deed]) -> None:
    """Do all deeds, each of which the memory does or refuses as a whole."""
    for deed in history:
        before = None if deed.verb in ("remember", "relate") else world.read_state()
        if not world.do(deed) and before is not None:
            assert list_changes(before, world.read_state()) == []


def list_doubled(world: World) -> list[Any]:
    """Facts that are valid twice."""
    counted = Counter((space, entity, text) for space, entity, text, _ in world.list_valid())
    return [fact for fact, times in counted.items() if times > 1]


def list_steps(world: World, actor: str, since: datetime) -> list[Any]:
    """Return the changes of a plan, without what stays."""
    return [step for step in world.plan(actor, since) if step["action"] not in ("kept", "lost")]


def list_authors(state: State) -> dict[str, Any]:
    return {key: row["author_id"] for key, row in state.items() if "author_id" in row}


def undo_and_revert(world: World, before: list[Deed], actor: str, own: list[Deed]) -> None:
    """Undo and revert what one did after the deeds of all: each time, the rows are as before."""
    live(world, before)
    since, earlier = world.now(), world.read_state()
    live(world, own)
    later = world.read_state()
    assert list_doubled(world) == []

    planned = list_steps(world, actor, since)
    assert list_changes(later, world.read_state()) == []
    undos = world.undo(actor, since)

    # Merges and splits stay, and with them what they are about.
    if not {"merge", "split"} & {deed.verb for deed in own}:
        assert list_changes(earlier, world.read_state()) == []
    assert undos or not planned
    assert list_steps(world, actor, since) == []
    world.revert(undos)
    assert list_changes(later, world.read_state()) == []


@given(
    before=st.lists(any_deeds, max_size=8),
    actor=st.sampled_from(["ana", "bob", "pip"]),
    data=st.data(),
)
def test_what_one_did_is_undone_to_the_row_and_reverted_to_the_row(
    owner: psycopg.Connection, before: list[Deed], actor: str, data: st.DataObject
) -> None:
    own = {"pip": _proposals}.get(actor, deeds((actor,), (*_WRITES, "accept", "reject")))
    after = data.draw(st.lists(own, min_size=1, max_size=7))
    undo_and_revert(World(owner, f"world{next(_numbers)}"), before, actor, after)


def test_repeated_undos_of_two_authors_are_reverted_in_either_order(
    owner: psycopg.Connection,
) -> None:
    # A merge ends bob's relation of both entities, as it ends one that equals ana's.
    looped = [Deed("relate", "ana"), Deed("relate", "bob", 0, 1), Deed("merge", "bob", 0, 1)]
    # After the split, ana's relation is one of an entity that she never named.
    moved = [*looped, Deed("relate", "ana", 1, 2)]
    split = [*looped[:2], Deed("merge", "ana", 0, 1), Deed("split", "bob")]
    for history in (looped, moved, split):
        for authors in (("ana", "bob", "ana"), ("bob", "ana", "bob")):
            world, states = World(owner, f"two{next(_numbers)}"), list[State]()
            since = world.now()
            live(world, history)
            undos = list[list[int]]()
            for author in authors:
                states.append(world.read_state())
                undos.append(world.undo(author, since))
            while undos:
                world.revert(undos.pop())
                assert list_changes(states.pop(), world.read_state()) == []


@given(
    before=st.lists(any_deeds, max_size=5),
    after=st.lists(any_deeds | removals, min_size=2, max_size=12),
    actor=st.sampled_from(["ana", "bob", "pip"]),
)
def test_no_fact_of_others_is_lost_or_doubled_by_an_undo_in_the_middle(
    owner: psycopg.Connection, before: list[Deed], after: list[Deed], actor: str
) -> None:
    world = World(owner, f"middle{next(_numbers)}")
    live(world, before)
    since = world.now()
    live(world, after)
    later, valid = world.read_state(), world.list_valid()
    given_back = {deed.verb for deed in after if deed.actor == actor} & {"accept", "share"}

    undos = world.undo(actor, since)

    assert list_doubled(world) == []
    if not given_back:
        kept = {(space, text) for space, _, text, author in valid if author != world.say(actor)}
        assert kept <= {(space, text) for space, _, text, _ in world.list_valid()}
    authors, left = list_authors(later), list_authors(world.read_state())
    assert {row: authors[row] for row in authors.keys() & left.keys()}.items() <= left.items()
    assert list_steps(world, actor, since) == []
    world.revert(undos)
    assert list_doubled(world) == []
    if not any(deed.verb == "forget" for deed in after):
        assert list_changes(later, world.read_state()) == []


@given(history=st.lists(_writes | _proposals, min_size=2, max_size=14))
def test_proposals_change_no_answer_count_or_score_of_anybody_else(
    owner: psycopg.Connection, history: list[Deed]
) -> None:
    number = next(_numbers)
    world, twin = (World(owner, f"{name}{number}") for name in ("told", "untold"))
    for deed in history:
        world.do(deed)
        if deed.actor != "pip":
            twin.do(deed)

    # The names of authors differ between the two worlds, and nothing else.
    told = [repr(row).replace(world.name, "") for row in world.read_answers()]
    assert told == [repr(row).replace(twin.name, "") for row in twin.read_answers()]


@given(before=st.lists(any_deeds | removals, max_size=12))
def test_all_that_tidying_finds_is_accepted_at_once_and_deletes_no_fact(
    owner: psycopg.Connection, before: list[Deed]
) -> None:
    world = World(owner, f"tidy{next(_numbers)}")
    live(world, before)
    space, bob = world.spaces[0], world.tokens["bob"]
    facts = "select id::text from fact where space_id = any(%s) order by id"
    tidy = "select proposal_id::text from tidy_memory(credential => %s, space => %s)"
    since, earlier, kept = world.now(), world.read_state(), world.column(facts, world.spaces)

    rounds = 0
    while found := world.column(tidy, bob, space):
        assert world.column(tidy, bob, space) == []
        accept = "select count(*) from decide_proposals(%s, 'accept', credential => %s)"
        assert world.fetch(accept, found, bob) == len(found)
        rounds += 1
        assert rounds < 10

    assert world.column(facts, world.spaces) == kept
    world.undo("bob", since)
    split = "select split_entity(%s, credential => %s, space => %s)::text"
    for merged in world.column("select entity ->> 'name' from merge where at > %s", since):
        world.fetch(split, merged, bob, space)
    world.undo("bob", since)
    assert list_changes(earlier, world.read_state()) == []
