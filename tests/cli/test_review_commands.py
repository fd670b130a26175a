"""`textrawl review` and `textrawl space review`: proposals, for people."""

import json

import psycopg
import pytest

from tests.attacks.site import issue
from tests.support.commands import Run

Settings = dict[str, str]


@pytest.fixture
def people(run: Run, owner: psycopg.Connection, database_url: str) -> tuple[Settings, Settings]:
    """The settings of an agent, who has proposed three facts about Ada, and of a reviewer."""
    owner.execute("select create_space('team')")
    rights = {"agent": ("read", "propose"), "rita": ("read", "write", "review")}
    agent, rita = (
        {"DATABASE_URL": database_url, "ACCESS_TOKEN": issue(owner, name, "team", *scopes)}
        for name, scopes in rights.items()
    )
    for fact in ("likes tea", "swims", "flies"):
        stored = run("remember", "Ada", fact, **agent)
        assert stored.out.startswith("Proposed to a reviewer about Ada")
    return agent, rita


def list_ids(run: Run, rita: Settings) -> dict[str, str]:
    """The ids of the pending proposals by their texts."""
    listed = json.loads(run("review", "list", "--json", **rita).out)
    return {row["content"]: row["id"] for row in listed}


def test_a_plan_is_shown_and_without_a_terminal_nothing_is_decided_unasked(
    run: Run, people: tuple[Settings, Settings]
) -> None:
    _, rita = people
    ids = list_ids(run, rita)
    shown = run("review", "show", ids["swims"][:8], **rita)
    plan = run("review", "accept", "--by", "agent", "--dry-run", **rita)
    unasked = run("review", "accept", ids["swims"], "--json", **rita)

    assert shown.out.splitlines()[1] == "  accepting stores it"
    assert plan.out.count("accepting stores it") == 3
    assert unasked.code == 1
    assert "add --yes" in unasked.err
    assert (unasked.out, "accepting stores it" in unasked.err) == ("", True)
    assert list_ids(run, rita) == ids


def test_a_reviewer_accepts_and_rejects_at_a_terminal(
    run: Run, people: tuple[Settings, Settings]
) -> None:
    agent, rita = people
    ids = list_ids(run, rita)
    accepted = run("review", "accept", ids["likes tea"], ids["swims"], "--yes", **rita)
    rejected = run("review", "reject", ids["flies"], "--reason", "no wings", "--yes", **rita)
    own = run("review", "list", "--state", "rejected", **agent)
    found = run("show", "Ada", **agent)

    assert (accepted.code, "2 proposals accepted" in accepted.err) == (0, True)
    assert (rejected.code, "1 proposal rejected" in rejected.err) == (0, True)
    assert own.out.rstrip().endswith("Ada: flies [rejected] (no wings)")
    assert "likes tea" in found.out
    assert "flies" not in found.out
    assert run("review", "list", **rita).err.startswith("There are no such proposals")


def test_a_space_can_make_every_write_of_an_agent_a_proposal(
    run: Run, owner: psycopg.Connection, database_url: str
) -> None:
    owner.execute("select create_space('team')")
    writer = {
        "DATABASE_URL": database_url,
        "ACCESS_TOKEN": issue(owner, "ana", "team", "read", "write"),
    }
    root = {
        "DATABASE_URL": database_url,
        "ACCESS_TOKEN": issue(owner, "root", "team", "read", "admin"),
    }

    changed = run("space", "review", "team", "--days", "30", **root)
    first = run("remember", "Ada", "likes tea", **writer)
    both = run("space", "review", "team", "--external", **root)
    one = run("space", "review", "team", "--external", "--off", **root)
    ended = run("space", "review", "team", "--off", **root)
    second = run("remember", "Ada", "swims", **writer)
    refused = run("space", "review", "team", **writer)

    assert "are proposals; they expire after 30 days. Pending: 0." in changed.err
    rule = "writes of tokens without the scope review"
    assert f"{rule} and external facts of all are proposals; they expire after 30" in both.err
    assert f"{rule} are proposals; they expire after 30" in one.err
    assert first.out.startswith("Proposed to a reviewer about Ada")
    assert "Pending: 1." in ended.err
    assert second.out.startswith("Remembered about Ada")
    assert refused.code == 1


def test_tidy_shows_a_plan_proposes_it_and_a_reviewer_mends_the_memory(
    run: Run, people: tuple[Settings, Settings]
) -> None:
    agent, rita = people
    run("review", "reject", "--by", "agent", "--reason", "no", "--yes", **rita)
    for town in ("Oslo", "Rome"):
        run("remember", "Ada", f"lives in {town}", **rita)

    plan = run("tidy", **rita)
    assert plan.out == "1 fact disagrees with a newer one: Ada: lives in Oslo\n"
    assert "Nothing was changed: --apply proposes this." in plan.err
    assert list_ids(run, rita) == {}

    proposed = run("tidy", "--apply", "--json", **rita)
    [finding] = json.loads(proposed.out)
    assert list_ids(run, rita) == {"lives in Oslo": finding["proposal_id"]}
    assert run("digest", **rita).out.splitlines()[-1] == "proposals to review: 1"
    assert "to review" not in run("digest", **agent).out
    assert "Nothing new is out of order." in run("tidy", "--apply", **rita).err
    [first, reason, beside] = run("review", "list", **rita).out.splitlines()
    assert first.endswith("rita: Ada: lives in Oslo")
    assert reason == "  disagreement: other value"
    assert beside.endswith("lives in Rome")

    shown = run("review", "show", finding["proposal_id"], **rita)
    assert shown.out.splitlines()[1] == "  accepting ends this fact; it stays in the history"
    run("review", "accept", finding["proposal_id"], "--yes", **rita)
    assert "lives in Oslo" not in run("show", "Ada", **rita).out


def test_a_command_without_ids_and_filters_or_with_both_decides_nothing(run: Run) -> None:
    for chosen in ((), ("12345678", "--by", "ada")):
        refused = run("review", "accept", *chosen, "--yes").err
        assert "give ids, or at least one of" in refused
        assert "but not both" in refused
