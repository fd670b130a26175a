"""Undo in histories that nobody thought of, and in a tale of a thousand facts by five authors."""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import EXAMPLES
from tests.support.sql_team import Said, Team

_EVE = "eve"
_numbers = count()


@dataclass(frozen=True)
class Word:
    """Somebody says a fact, perhaps in place of the `replaces`-th valid fact of that entity."""

    author: str
    entity: str
    text: str
    replaces: int | None
    confidence: float


@dataclass(frozen=True)
class Act:
    """A call: what it changed, with the rows before it, and what it only repeated."""

    author: str
    before: dict[str, dict[str, Any] | None]  # None: the call made the row
    repeated: set[str]


_words = st.builds(
    Word,
    author=st.sampled_from(["ana", "bob", _EVE]),
    entity=st.sampled_from(["Jeff", "Kim"]),
    text=st.sampled_from(["likes tea", "drinks water", "owns cats", "plays chess"]),
    replaces=st.none() | st.integers(0, 3),
    confidence=st.sampled_from([0.3, 0.7, 1.0]),
)
_IGNORED = ("confirmed_at", "closed_at")  # a repetition confirms a fact, and is no change of it


def read_facts(team: Team) -> dict[str, dict[str, Any]]:
    found = team.sql.execute("select to_jsonb(f) from fact f where space_id = %s", (team.space,))
    return {
        row["id"]: {key: value for key, value in row.items() if key not in _IGNORED}
        for (row,) in found
    }


def say(team: Team, word: Word) -> Act:
    valid = """
        select o.id from fact o join entity e on e.space_id = o.space_id and e.id = o.entity_id
        where o.space_id = %s and e.name = %s and (o.valid_until is null or o.valid_until > now())
        order by o.created_at"""
    facts = [fact for (fact,) in team.sql.execute(valid, (team.space, word.entity)).fetchall()]
    replaced = facts[word.replaces % len(facts)] if facts and word.replaces is not None else None
    before = read_facts(team)
    # A correction says nothing else of its fact.
    values: dict[str, Any] = {} if replaced else {"confidence": word.confidence}
    said = team.remember(word.author, word.entity, word.text, replaced, **values)
    after = read_facts(team)
    changed = {key: before.get(key) for key in after if before.get(key) != after[key]}
    return Act(word.author, changed, {str(said.id), *([str(replaced)] if replaced else [])})


def undo_by_rule(facts: dict[str, Any], acts: list[Act], author: str) -> dict[str, Any]:
    """Take back the acts of an author, the newest first, as the page says."""
    facts, kept = dict(facts), list[Act]()
    for act in reversed(acts):
        built_on = any(act.before.keys() & (one.before.keys() | one.repeated) for one in kept)
        if act.author != author or built_on:
            kept.append(act)
            continue
        made = [key for key, row in act.before.items() if row is None]
        for key in made:
            del facts[key]
        for key, row in act.before.items():
            if row is not None and not has_equal(facts, row):
                facts[key] = row
            elif row is not None and facts[key]["replaced_by"] in made:
                facts[key] = facts[key] | {"replaced_by": find_equal(facts, row)}
    return facts


def find_equal(facts: dict[str, Any], row: dict[str, Any]) -> str | None:
    """Return a valid fact with the same text."""
    same = [
        key for key, one in sorted(facts.items(), key=lambda item: item[1]["created_at"])
        if (one["entity_id"], one["content"]) == (row["entity_id"], row["content"])
        and key != row["id"] and one["valid_until"] is None
    ]  # fmt: skip
    return same[0] if same else None


def has_equal(facts: dict[str, Any], row: dict[str, Any]) -> bool:
    return row["valid_until"] is None and find_equal(facts, row) is not None


def check_rule(team: Team, before: list[Word], after: list[Word]) -> None:
    for author in (_EVE, "bob"):
        team.credential(author)
    for word in before:
        say(team, word)
    since = team.now()
    acts = [say(team, word) for word in after]
    facts, rows = read_facts(team), team.rows()

    plan = team.plan(_EVE, since)
    assert team.rows() == rows
    undone = team.undo_if_any(_EVE, since)

    left = read_facts(team)
    assert left == undo_by_rule(facts, acts, _EVE)
    changed = {key for key in facts if facts[key] != left.get(key)}
    named = {str(row["id"]) for row in plan if row["action"] != "kept"}
    assert changed <= named
    assert all(row["later_author"] for row in plan if row["action"] == "kept")
    assert {row["action"] for row in team.plan(_EVE, since)} <= {"kept"}
    too = team.undo_if_any("bob", since)
    for undo in (too, undone):
        if undo is not None:
            team.revert(undo)
    assert team.rows() == rows
    assert team.plan(_EVE, since) == plan


_histories = given(
    before=st.lists(_words, max_size=5), after=st.lists(_words, min_size=1, max_size=12)
)


@settings(max_examples=15)
@_histories
def test_an_undo_leaves_what_the_rule_says(
    sql: psycopg.Connection, before: list[Word], after: list[Word]
) -> None:
    check_rule(Team(sql, f"rule{next(_numbers)}"), before, after)


@pytest.mark.slow
@settings(max_examples=4 * EXAMPLES)
@_histories
def test_an_undo_leaves_what_the_rule_says_in_many_histories(
    sql: psycopg.Connection, before: list[Word], after: list[Word]
) -> None:
    check_rule(Team(sql, f"space{next(_numbers)}"), before, after)


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


@pytest.mark.slow
@pytest.mark.parametrize("commits", [True, False])
def test_a_fact_that_another_is_just_saying_stays_if_they_do(
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

    assert team.valid("Jeff") == ({"drinks coffee": _EVE} if commits else {})


@pytest.mark.slow
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

    def list_gone(self) -> set[Said]:
        """Facts that eve was the first to say since, and on which nobody has built."""
        gone = {
            fact for fact, said in self.said.items()
            if said[0] == ("eve", True) and all(author == "eve" for author, _ in said)
        }  # fmt: skip
        # Whoever corrected a fact builds on it, unless the correction goes too.
        return {fact for fact in gone if self.replaced.get(fact, fact) in gone}


@pytest.mark.slow
def test_of_a_thousand_facts_by_five_authors_exactly_the_planned_ones_go(team: Team) -> None:
    tale = Tale(team)
    tale.tell(1000)
    gone = tale.list_gone()
    revived = {a for a, b in tale.replaced.items() if b in gone and a not in gone}
    before = team.rows()

    plan = team.plan("eve", tale.since)
    assert team.rows() == before
    done = team.undo("eve", tale.since)

    assert min(len(gone), len(revived)) > 3
    for action, facts in (("remove", gone), ("revive", revived)):
        kind = (action, "observation")
        planned = {row["id"] for row in plan if (row["action"], row["kind"]) == kind}
        assert planned == {fact.id for fact in facts}, action
    changes = [row for row in plan if row["action"] != "kept"]
    after, touched = team.rows(), {str(row["id"]) for row in changes}
    vanished = {str(row["id"]) for row in changes if row["action"] in ("remove", "drop entity")}
    assert before.keys() - after.keys() == vanished
    # Of all others not a byte has changed.
    assert {k: v for k, v in before.items() if k not in touched} == {
        k: v for k, v in after.items() if k not in touched
    }
    assert sum(done[key] for key in ("removed", "revived", "dropped")) == len(changes)
    assert done["kept"] == len(plan) - len(changes)


@pytest.mark.slow
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
    gone = [fact.id for fact in tale.list_gone()]
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
