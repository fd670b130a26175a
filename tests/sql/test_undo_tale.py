"""A thousand facts by five authors: what undo plans, does, leaves behind and puts back."""

import random
from datetime import datetime

import psycopg
import pytest

from tests.support.sql_team import Said, Team

pytestmark = pytest.mark.slow


@pytest.fixture
def team(sql: psycopg.Connection) -> Team:
    return Team(sql)


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
