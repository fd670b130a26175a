"""Pins: facts that every session begins with, first and whole."""

import json

import psycopg
import pytest

from tests.conftest import TOKEN
from tests.support.commands import Run

NAMES = {"name": "Atlas", "type": "project"}
STANDING = "Deploys only from the branch main, after both reviewers said yes"


@pytest.fixture
def known(owner: psycopg.Connection, database_url: str) -> dict[str, str]:
    """The settings of a memory with a pinned fact and forty newer ones."""
    owner.execute("select remember_fact('Atlas', 'project', %s)", [STANDING])
    newer = "select remember_fact('Ada', 'person', 'task ' || n || ' is open')"
    owner.execute(f"{newer} from generate_series(1, 40) n")
    return {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}


def test_a_pinned_fact_is_first_and_whole_in_each_digest_until_it_is_unpinned(
    run: Run, known: dict[str, str]
) -> None:
    def read() -> str:
        return run("digest", "--project", "Ada", "--max-tokens", "50", **known).out

    before = read()
    pinned, again = (run("pin", "Atlas", STANDING, **known) for _ in range(2))
    short, listed = read(), run("pin", **known).out
    freed = run("unpin", "Atlas", STANDING, **known)

    assert STANDING not in before
    assert pinned.out == f"Pinned: Atlas: {STANDING}\n"
    assert again.out == f"Already pinned: Atlas: {STANDING}\n"
    assert short.splitlines()[:2] == ["Atlas (project)", f"- {STANDING}"]
    assert listed.splitlines()[0].endswith(f"Atlas: {STANDING}, by ada")
    assert freed.out == f"Unpinned: Atlas: {STANDING}\n"
    assert read() == before
    assert run("pin", **known).out == "Nothing is pinned.\n"


def test_the_successor_of_a_pinned_fact_is_pinned_and_so_it_is_again_after_an_undo(
    run: Run, known: dict[str, str], owner: psycopg.Connection
) -> None:
    run("pin", "Atlas", STANDING, **known)
    newer = run("remember", "Atlas", "Deploys from main", "--replaces", STANDING, **known)
    assert newer.code == 0

    def list_pins() -> list[tuple[str, bool]]:
        rows = json.loads(run("pin", "--json", **known).out)
        return [(row["content"], row["valid"]) for row in rows]

    successor = list_pins()
    event = owner.execute("select max(id) from event where action = 'replaced'").fetchone()
    assert event
    undone = run("undo", "--event", str(event[0]), "--yes", **known)
    ended = run("revise", "Atlas", STANDING, "--reason", "it was a plan", **known)

    assert successor == [("Deploys from main", True)]
    assert (undone.code, ended.code) == (0, 0)
    assert list_pins() == [(STANDING, False)]
    assert STANDING not in run("digest", **known).out


def test_too_long_a_fact_an_ended_one_and_a_thirteenth_pin_change_nothing(
    run: Run, known: dict[str, str], owner: psycopg.Connection
) -> None:
    facts = ["x" * 201, *(f"rule {n}" for n in range(12))]
    for fact in facts:
        owner.execute("select remember_fact('Rules', 'concept', %s)", [fact])
    owner.execute("select remember_fact('Rules', 'concept', 'old', valid_until => '2020-01-01')")
    long = run("pin", "Rules", facts[0], **known)
    old = run("pin", "Rules", "old", **known)
    taken = [run("pin", "Rules", fact, **known).code for fact in facts[1:]]
    thirteenth = run("pin", "Atlas", STANDING, **known)

    assert (long.code, old.code, thirteenth.code) == (1, 1, 1)
    assert "at most 200 characters" in long.err
    assert "unpin one of those" in thirteenth.err
    assert taken == [0] * 12
    assert len(json.loads(run("pin", "--json", **known).out)) == 12


def test_wide_letters_count_by_their_tokens(run: Run, known: dict[str, str]) -> None:
    rules = [f"{n}{'永' * 190}" for n in range(5)]
    for rule in rules:
        run("remember", "Rules", rule, **known)
    codes = [run("pin", "Rules", rule, **known).code for rule in rules]

    assert codes == [0, 0, 0, 0, 1]


def test_a_forgotten_or_erased_fact_leaves_no_pin(
    run: Run, known: dict[str, str], owner: psycopg.Connection
) -> None:
    run("pin", "Atlas", STANDING, **known)
    run("pin", "Ada", "task 1 is open", **known)
    forgotten = run("forget", "Atlas", STANDING, "--yes", **known)
    erased = run("erase", "Ada", "--yes", **known)

    assert (forgotten.code, erased.code) == (0, 0), erased.err
    assert owner.execute("select count(*) from pin").fetchone() == (0,)
