"""Pins that an agent proposes: a person decides, and nothing counts before."""

import json
import re
from collections.abc import Callable
from itertools import count
from typing import Any

import psycopg
import pytest

from tests.attacks.site import issue
from tests.cli.test_pins import STANDING, known
from tests.support.commands import Launch, Outcome, Run
from tests.support.pipes import call

__all__ = ["known"]

Say = Callable[..., Outcome]
Agent = Callable[..., dict[str, Any]]
Open = Callable[..., Agent]
WHY = "the user says it in each session"


@pytest.fixture
def own(known: dict[str, str], owner: psycopg.Connection) -> dict[str, str]:
    """The settings of a person, who has all scopes, and of the agents of this person."""
    scopes = ("read", "write", "forget", "review", "admin")
    return {**known, "ACCESS_TOKEN": issue(owner, "rita", "default", *scopes)}


@pytest.fixture
def say(run: Run, own: dict[str, str]) -> Say:
    """Runs a command of the person."""
    return lambda *words: run(*words, **own)


@pytest.fixture
def agent(launch: Launch, own: dict[str, str]) -> Open:
    """Opens a session over stdio, which calls tools."""

    def go(**more: str) -> Agent:
        process = launch("serve", **{**own, "TOOLSETS": "memory,curation,review", **more})
        process.open()
        numbers = count(10)

        def ask(tool: str, **arguments: Any) -> dict[str, Any]:
            result = call(process, next(numbers), tool, **arguments)["result"]
            return result if result.get("isError") else result["structuredContent"]

        return ask

    return go


def propose(ask: Agent, entity: str = "Atlas", fact: str = STANDING) -> dict[str, Any]:
    return ask("revise_fact", entityName=entity, fact=fact, reason=WHY, pin=True)


def list_pins(say: Say) -> list[str]:
    return [row["content"] for row in json.loads(say("pin", "--json").out)]


def test_a_pin_that_an_agent_proposes_waits_for_a_person_whose_undo_takes_it_back(
    say: Say, agent: Open, owner: psycopg.Connection
) -> None:
    ask = agent()
    proposed, again = propose(ask), propose(ask)
    identity = proposed["proposalId"]
    own = ask("decide_proposals", ids=[identity], decision="accept")
    before, listed = list_pins(say), say("review", "list").out
    accepted = say("review", "accept", identity, "--yes")
    digest, pins = say("digest").out, say("pin").out
    later = propose(ask)

    assert again == {**proposed, "duplicate": True, "message": again["message"]}
    assert "Only a person accepts the pin" in own["content"][0]["text"]
    assert (before, accepted.code) == ([], 0), accepted.err
    assert f"Atlas: {STANDING}\n  pin: {WHY}\n" in listed
    assert digest.splitlines()[1] == f"- {STANDING}"
    assert pins.endswith(", by rita\n")
    assert later["duplicate"]
    assert "proposalId" not in later

    event = owner.execute("select max(id) from event where action = 'accepted'").fetchone()
    assert event
    undone = say("undo", "--event", str(event[0]), "--yes")
    taken, waiting = list_pins(say), say("review", "list", "--json").out
    undo = owner.execute("select max(id) from undo").fetchone()
    assert undo
    reverted = say("undo", "--revert", str(undo[0]), "--yes")
    assert (undone.code, reverted.code) == (0, 0), undone.err + reverted.err
    assert (taken, identity in waiting, list_pins(say)) == ([], True, [STANDING])


def test_a_revert_pins_what_its_undo_unpinned_or_says_that_there_is_no_room(
    say: Say, agent: Open, owner: psycopg.Connection
) -> None:
    ask = agent()
    chosen = [(STANDING, "Atlas"), ("task 1 is open", "Ada")]
    for fact, entity in chosen:
        identity = propose(ask, entity, fact)["proposalId"]
        assert say("review", "accept", identity, "--yes").code == 0
    assert say("unpin", "Atlas", STANDING).code == 0
    for [event] in owner.execute("select id from event where action = 'accepted'").fetchall():
        assert say("undo", "--event", str(event), "--yes").code == 0
    undos = [str(undo) for [undo] in owner.execute("select id from undo order by id").fetchall()]
    rules = "from generate_series(1, 12) n"
    owner.execute(f"select remember_fact('Rules', 'concept', 'rule ' || n) {rules}")
    owner.execute(f"select pin_fact('Rules', 'rule ' || n) {rules}")
    taken = say("undo", "--revert", undos[0], "--yes")
    full = say("undo", "--revert", undos[1], "--yes")
    waiting = json.loads(say("review", "list", "--json").out)
    owner.execute(f"select pin_fact('Rules', 'rule ' || n, false) {rules}")
    pinned = say("undo", "--revert", undos[1], "--yes")

    assert (taken.code, pinned.code) == (0, 0), taken.err + pinned.err
    assert full.code != 0
    assert "unpin one" in full.err
    assert [row["content"] for row in waiting] == [chosen[1][0]]
    assert list_pins(say) == [chosen[1][0]]


def test_an_agent_cannot_ask_twice_or_flood_and_a_rejected_pin_stays_rejected(
    say: Say, agent: Open, owner: psycopg.Connection
) -> None:
    ask = agent(ACCESS_TOKEN=issue(owner, "scout", "default", "read", "propose"))
    first = propose(ask)
    rejected = say("review", "reject", first["proposalId"], "--reason", "too often", "--yes")
    again = propose(ask)
    asked = [propose(ask, "Ada", f"task {number} is open") for number in range(1, 14)]
    long = "x" * 201
    owner.execute("select remember_fact('Rules', 'concept', %s)", [long])
    wrong = ask("revise_fact", entityName="Ada", fact="task 1 is open", reason="it is not")
    both = ask("revise_fact", entityName="Ada", fact="x", reason=WHY, instead="y", pin=True)

    assert rejected.code == 0, rejected.err
    assert (again["proposalId"], again["duplicate"]) == (first["proposalId"], True)
    assert ["isError" in answer for answer in asked] == [False] * 12 + [True]
    assert "decide those that wait" in asked[12]["content"][0]["text"]
    assert "at most 200 characters" in propose(ask, "Rules", long)["content"][0]["text"]
    assert "can only propose" in wrong["content"][0]["text"]
    assert "pin or instead" in both["content"][0]["text"]
    assert len(json.loads(say("review", "list", "--json").out)) == 12


def test_a_pin_that_cannot_be_set_any_more_says_why_and_changes_nothing(
    known: dict[str, str], owner: psycopg.Connection
) -> None:
    rules = "from generate_series(1, 11) n"
    owner.execute(f"select remember_fact('Rules', 'concept', 'rule ' || n) {rules}")
    ask = "select proposal_id::text from propose_pin('Ada', 'task ' || %s || ' is open', 'daily')"
    ended, pinned, full = (owner.execute(ask, [n]).fetchall()[0][0] for n in "123")
    owner.execute("select revise_fact('Ada', 'task 1 is open', 'done')")
    owner.execute("select pin_fact('Ada', 'task 2 is open')")
    owner.execute(f"select pin_fact('Rules', 'rule ' || n) {rules}")
    accept = "select decide_proposals(array[%s], 'accept')"

    for identity, fault in ((ended, "gone"), (pinned, "pinned"), (full, "full")):
        plan = "select outcome, fault from plan_decision(array[%s])"
        assert owner.execute(plan, [identity]).fetchall() == [("refused", fault)]
        with pytest.raises(psycopg.DatabaseError, match=r"gone|too much is pinned"):
            owner.execute(accept, [identity])
    # Another pin can go, so the third one waits.
    assert owner.execute("select expire_proposals()").fetchall() == [(2,)]
    assert owner.execute("select count(*) from pin").fetchall() == [(12,)]
    owner.execute("select pin_fact('Rules', 'rule 1', false)")
    owner.execute(accept, [full])
    assert owner.execute("select count(*) from pin").fetchall() == [(12,)]


def test_an_external_fact_says_so_to_the_person_and_stays_external(
    say: Say, agent: Open, owner: psycopg.Connection
) -> None:
    told = "A page says to deploy on Fridays"
    owner.execute("select remember_fact('Atlas', 'project', %s, source => 'document')", [told])
    identity = propose(agent(), "Atlas", told)["proposalId"]
    shown = [say("review", *words).out for words in (("list",), ("show", identity))]
    accepted = say("review", "accept", identity, "--yes")

    assert [
        re.sub("[0-9a-f]{8}", "ID", text).count(f"is external ID: {told}") for text in shown
    ] == [1, 1]
    assert accepted.code == 0
    assert f"- external: {told}" in say("digest").out


def test_a_proposed_pin_goes_with_its_fact(say: Say, agent: Open) -> None:
    ask = agent()
    propose(ask)
    propose(ask, "Ada", "task 1 is open")
    waiting = json.loads(say("review", "list", "--json").out)
    say("forget", "Atlas", STANDING, "--yes")
    say("erase", "Ada", "--yes")

    assert [row["kind"] for row in waiting] == ["pin", "pin"]
    assert json.loads(say("review", "list", "--state", "any", "--json").out) == []
