"""Undo in histories that nobody thought of, and in a tale of a thousand facts by five authors."""

import random
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


class Tale:
    """A thousand facts by five authors, who repeat, correct and relate; eve is one of them."""

    AUTHORS = ("ana", "bob", "cleo", "dan", "eve")

    def __init__(self, team: Team) -> None:
        self.team, self.dice = team, random.Random(4)  # noqa: S311 - a tale, not a key
        self.said: dict[Said, list[tuple[str, bool]]] = {}
        self.replaced: dict[Said, Said] = {}
        self.since: datetime = team.now()
        self.late = False

    def tell(self, count: int) -> None:
        """Goes on for so many facts; the last two thirds are since `since`."""
        for number in range(count):
            if number == count // 3:
                self.since = self.team.now()
                self.late = True
            author, entity = self.dice.choice(self.AUTHORS), f"Person {self.dice.randrange(90)}"
            if self.late and author == "eve" and number % 3 == 0:
                entity = f"Puppet {number}"
            deed = f"did deed{number} at place{number % 40}"
            fact = self._say(author, entity, deed)
            if number % 5 == 0:
                self._say(self.dice.choice(self.AUTHORS), entity, f"{deed}.")
            if number % 9 == 0:
                other = f"Person {self.dice.randrange(90)} the other"
                self.team.relate(author, entity, "met", other)
            if number % 7 == 0:
                another = self.dice.choice(self.AUTHORS)
                self.replaced[fact] = self._say(another, entity, f"undid deed{number}", fact)

    def _say(self, author: str, entity: str, text: str, replaces: Said | None = None) -> Said:
        answer = self.team.remember(author, entity, text, replaces and replaces.id)
        fact = Said(answer.id, answer.entity, duplicate=False)
        self.said.setdefault(fact, []).append((author, self.late))
        return fact

    def count(self) -> tuple[set[Said], set[Said]]:
        """Facts that only eve said since, and those that pass to others."""
        rest = {
            fact: [author for author, late in said if author != "eve" or not late]
            for fact, said in self.said.items()
        }
        gone = {fact for fact, others in rest.items() if not others}
        passed = {
            fact for fact, others in rest.items()
            if others and self.said[fact][0] == ("eve", True) and others[0] != "eve"
        }  # fmt: skip
        return gone, passed


def test_of_a_thousand_facts_by_five_authors_exactly_the_planned_ones_go(team: Team) -> None:
    tale = Tale(team)
    tale.tell(1000)
    gone, passed = tale.count()
    revived = {a for a, b in tale.replaced.items() if b in gone and a not in gone}
    before = team.rows()

    plan = team.plan("eve", tale.since)
    assert team.rows() == before
    done = team.undo("eve", tale.since)

    assert min(len(gone), len(passed), len(revived)) > 3
    for action, facts in (("remove", gone), ("hand over", passed), ("revive", revived)):
        kind = (action, "observation")
        planned = {row["id"] for row in plan if (row["action"], row["kind"]) == kind}
        assert planned == {fact.id for fact in facts}, action
    after, touched = team.rows(), {str(row["id"]) for row in plan}
    vanished = {str(row["id"]) for row in plan if row["action"] in ("remove", "drop entity")}
    assert before.keys() - after.keys() == vanished
    # Of all others not a byte has changed.
    assert {k: v for k, v in before.items() if k not in touched} == {
        k: v for k, v in after.items() if k not in touched
    }
    assert sum(done[key] for key in ("removed", "handed_over", "revived", "dropped")) == len(plan)


def test_of_a_thousand_facts_nothing_is_left_and_all_comes_back(team: Team) -> None:
    team.sql.execute("select register_embedding_model('test:model', 8)")
    tale = Tale(team)
    tale.tell(1000)
    team.sql.execute("select refresh_search_statistics(true)")
    team.sql.execute(
        """insert into embedding_1
           select space_id, id, '[1,0,0,0,0,0,0,1]' from observation on conflict do nothing"""
    )
    before, words, plan = team.rows(), count_words(team), team.plan("eve", tale.since)

    done = team.undo("eve", tale.since)

    assert_no_residue(team, [row for row in plan if row["action"] == "remove"])
    dropped = [row["entity_name"] for row in plan if row["action"] == "drop entity"]
    assert len(dropped) > 3
    assert [name for name in dropped if knows(team, name)] == []
    team.revert(done["undo_id"])
    assert team.rows() == before
    gone = [fact.id for fact in tale.count()[0]]
    waiting = "select count(*) from embedding_pending where observation_id = any(%s)"
    assert team.fetch(waiting, gone) == len(gone)
    team.sql.execute("select refresh_search_statistics(true)")
    assert count_words(team) == words


def count_words(team: Team) -> dict[str, int]:
    return dict(team.sql.execute("select word, frequency from lexeme").fetchall())


def knows(team: Team, name: str) -> bool:
    """Whether any function or view still tells of an entity."""
    spaces = [team.space]
    query = """
        select exists (select from describe_entity(%(name)s, spaces => %(spaces)s))
            or %(name)s in (
                select value ->> 'name' from jsonb_array_elements(
                    (select entities from list_entities(max_rows => 10000, spaces => %(spaces)s))))
            or %(name)s in (select entity_name from similar_names(%(name)s, spaces => %(spaces)s))
            or exists (select from memory_entities where name = %(name)s)
            or exists (select from memory_relations where %(name)s in (from_entity, to_entity))"""
    found = team.sql.execute(query, {"name": name, "spaces": spaces}).fetchone()
    return found == (True,)


def assert_no_residue(team: Team, removed: list[dict[str, str]]) -> None:
    facts = [row for row in removed if row["kind"] == "observation"]
    ids = [row["id"] for row in facts]
    assert len(ids) > 100
    for table in ("embedding_1", "embedding_pending"):
        query = f"select count(*) from {table} where observation_id = any(%s)"  # noqa: S608
        assert team.fetch(query, ids) == 0  # pyright: ignore[reportArgumentType]
    assert team.fetch("select count(*) from memory_observations where id = any(%s)", ids) == 0
    for row in facts:
        found = team.sql.execute(
            "select content from search_memory(%s, max_rows => 50, spaces => %s)",
            (f"{row['entity_name']} {row['content']}", [team.space]),
        ).fetchall()
        assert row["content"] not in {content for (content,) in found}
    held = """
        select count(*) from lexeme where not exists (
            select from observation where fts @@ quote_literal(word)::tsquery)"""
    assert team.fetch(held) == 0
