"""Undo against what would have been without the author, in histories that nobody thought of."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import EXAMPLES
from tests.support.sql_team import Said, Team

pytestmark = pytest.mark.slow

_EVE = "eve"
_numbers = count()


@dataclass(frozen=True)
class Word:
    """Somebody says a fact, perhaps in place of the `replaces`-th valid fact of that entity.

    `values` are what else they say of it, such as its confidence.
    """

    author: str
    entity: str
    text: str
    replaces: int | None
    values: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class Thought:
    """A fact in a memory that is but a model: who said it, and whether it holds."""

    text: str
    holds: bool = True


@dataclass
class Model:
    """The memory as it would be had eve never spoken since."""

    thoughts: dict[str, list[Thought]] = field(default_factory=dict[str, list[Thought]])
    # What a stored fact is here: itself, or what eve had put it in place of.
    stands_for: dict[Any, list[Thought]] = field(default_factory=dict[Any, list[Thought]])
    hollow: set[Any] = field(default_factory=set[Any])  # facts that nobody but eve says

    def hear(self, word: Word, said: Said, replaced: Any) -> None:
        """Somebody else said it."""
        ended = self.stands_for.get(replaced, [])
        known = [t for t in self.thoughts.get(word.entity, []) if t.text == word.text and t.holds]
        kept = [t for t in known if t not in ended] or [Thought(word.text)]
        if not known or known[0] is not kept[0]:
            self.thoughts.setdefault(word.entity, []).append(kept[0])
        for thought in ended:
            thought.holds = thought is kept[0]
        self.stands_for[said.id] = [kept[0]]
        self.hollow.discard(said.id)
        for hollow in self.hollow:  # said anew, it is not ended by whoever corrects those
            self.stands_for[hollow] = [t for t in self.stands_for[hollow] if t is not kept[0]]

    def ignore(self, said: Said, replaced: Any) -> None:
        """Eve said it: where nobody else did, it stands for what it replaced."""
        if not said.duplicate:
            self.stands_for[said.id] = []
            self.hollow.add(said.id)
        if said.id in self.hollow:
            stood_for = self.stands_for.get(replaced, [])
            self.stands_for[said.id] = self.stands_for[said.id] + [t for t in stood_for if t.holds]

    def list_valid(self) -> set[tuple[str, str]]:
        return {(e, t.text) for e, texts in self.thoughts.items() for t in texts if t.holds}


_words = st.builds(
    Word,
    author=st.sampled_from(["ana", "bob", _EVE]),
    entity=st.sampled_from(["Jeff", "Kim"]),
    text=st.sampled_from(["likes tea", "drinks water", "owns cats", "plays chess"]),
    replaces=st.none() | st.integers(0, 3),
    values=st.fixed_dictionaries(
        {},
        optional={
            "confidence": st.sampled_from([0.3, 0.7]),
            "source": st.sampled_from(["note", "manual"]),
            "valid_until": st.sampled_from([datetime(year, 1, 1, tzinfo=UTC)
                                            for year in (2998, 2999)]),
        },
    ),
)  # fmt: skip


def list_valid(team: Team, entity: str) -> list[Any]:
    query = """
        select o.id from observation o join entity e on e.space_id = o.space_id and e.id = entity_id
        where o.space_id = %s and e.name = %s and (o.valid_until is null or o.valid_until > now())
        order by o.created_at"""
    return [fact for (fact,) in team.sql.execute(query, (team.space, entity)).fetchall()]


def tell(team: Team, word: Word) -> tuple[Said, Any]:
    """What was stored, and the fact that it replaced, if any."""
    valid = list_valid(team, word.entity)
    replaced = valid[word.replaces % len(valid)] if valid and word.replaces is not None else None
    said = team.remember(word.author, word.entity, word.text, replaced, **word.values)
    return said, None if said.id == replaced else replaced


def live(team: Team, before: list[Word], after: list[Word]) -> tuple[Model, datetime]:
    """The memory without what eve said after some time, and that time."""
    for author in (_EVE, "bob"):
        team.credential(author)
    model = Model()
    for word in before:
        model.hear(word, *tell(team, word))
    since = team.now()
    for word in after:
        said, replaced = tell(team, word)
        if word.author == _EVE:
            model.ignore(said, replaced)
        else:
            model.hear(word, said, replaced)
    return model, since


@settings(max_examples=2 * EXAMPLES)
@given(before=st.lists(_words, max_size=5), after=st.lists(_words, min_size=1, max_size=12))
def test_undone_and_reverted_any_history_is_as_it_was(
    sql: psycopg.Connection, before: list[Word], after: list[Word]
) -> None:
    team = Team(sql, f"space{next(_numbers)}")
    model, since = live(team, before, after)
    rows = team.rows()

    plan = team.plan(_EVE, since)
    assert team.rows() == rows
    undone = team.undo_if_any(_EVE, since)
    left = {
        (entity, text)
        for entity in ("Jeff", "Kim")
        for text in team.valid(entity)
    }  # fmt: skip

    assert left == model.list_valid()
    assert team.plan(_EVE, since) == []
    assert not (plan and undone is None)
    too = team.undo_if_any("bob", since)
    for undo in (too, undone):
        if undo is not None:
            team.revert(undo)
    assert team.rows() == rows
    assert [row["id"] for row in team.plan(_EVE, since)] == [row["id"] for row in plan]


def wait_for_a_lock(sql: psycopg.Connection) -> None:
    """Until some other session of this database waits for a row."""
    query = """
        select count(*) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'"""
    while sql.execute(query).fetchone() == (0,):
        pass


def run_beside(work: Callable[[psycopg.Connection], None], team: Team) -> threading.Thread:
    def run() -> None:
        with psycopg.connect(team.sql.info.dsn, autocommit=True) as other:
            other.execute("set search_path = textrawl, public")
            work(other)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize("commits", [True, False])
def test_a_fact_that_another_is_just_saying_is_theirs_if_they_do(
    sql: psycopg.Connection, commits: bool
) -> None:
    team = Team(sql)
    since = team.now()
    team.remember(_EVE, "Jeff", "drinks coffee")
    bob = team.credential("bob")
    said = "select remember_fact('Jeff', 'person', 'drinks coffee', credential => %s)"
    with psycopg.connect(sql.info.dsn) as other:
        other.execute("set search_path = textrawl, public")
        other.execute(said, (bob,))
        undoing = run_beside(
            lambda own: own.execute("select undo_author(%s, %s)", (_EVE, since)) and None, team
        )
        wait_for_a_lock(sql)
        if commits:
            other.commit()
        else:
            other.rollback()
        undoing.join()

    assert team.valid("Jeff") == ({"drinks coffee": "bob"} if commits else {})


def test_who_writes_about_an_entity_during_an_undo_waits_and_is_not_undone(
    sql: psycopg.Connection,
) -> None:
    team = Team(sql)
    since = team.now()
    team.remember(_EVE, "Jeff", "drinks coffee")
    bob = team.credential("bob")
    said = "select remember_fact('Jeff', 'person', 'drinks coffee', credential => %s)"
    with psycopg.connect(sql.info.dsn) as other:
        other.execute("set search_path = textrawl, public")
        other.execute("select undo_author(%s, %s)", (_EVE, since))
        writing = run_beside(lambda own: own.execute(said, (bob,)) and None, team)
        wait_for_a_lock(sql)
        other.commit()
        writing.join()

    assert team.valid("Jeff") == {"drinks coffee": "bob"}
