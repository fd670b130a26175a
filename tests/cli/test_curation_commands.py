"""`textrawl revise` and `textrawl share`: what the tools of the curation toolset do, for people."""

import json

import psycopg

from tests.conftest import TOKEN
from tests.support.commands import Run


def test_revise_says_what_was_wrong_and_show_tells_why(run: Run, database_url: str) -> None:
    known = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    run("remember", "Jeff", "lives in Oslo", **known)
    words = ("revise", "Jeff", "lives in Oslo", "--reason", "he said Bergen")

    first = run(*words, "--instead", "lives in Bergen", **known)
    again = run(*words, "--instead", "lives in Bergen", "--json", **known)
    shown = run("show", "Jeff", **known)

    assert first.code == again.code == 0
    assert first.out.splitlines()[0] == "Revised Jeff: lives in Oslo"
    assert first.out.splitlines()[1].endswith("lives in Bergen")
    assert json.loads(again.out)["repeated"] is True
    wrong = [line.split("\t") for line in shown.out.splitlines()][-1]
    assert (wrong[0], *wrong[3:]) == ("wrong", "lives in Oslo", "he said Bergen")


def test_show_and_explain_quote_the_sentence_from_which_a_fact_was_taken(
    run: Run, database_url: str, owner: psycopg.Connection
) -> None:
    known = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    fact = {"entity": "Jeff", "observation": "lives in Oslo"}
    owner.execute("select remember_fact('Jeff', 'person', 'drinks tea')")
    assert "None of these facts has a sentence" in run("show", "Jeff", "--why", **known).err
    said = {"evidence": "Now Jeff lives in Oslo.", "evidence_start": 12}
    owner.execute("select build_knowledge(facts => %s)", [json.dumps([{**fact, **said}])])

    why = run("show", "Jeff", "--why", **known).out
    plain = run("show", "Jeff", **known).out
    explained = json.loads(run("explain", "Oslo", "--json", **known).out)

    assert "lives in Oslo [said: Now Jeff lives in Oslo. (at character 12)]" in why
    assert "said:" not in plain
    assert explained[0].items() >= said.items()


def test_share_shows_a_plan_and_copies_or_moves(
    run: Run, database_url: str, owner: psycopg.Connection
) -> None:
    owner.execute("select create_space('team')")
    owner.execute("select grant_access('ada', 'team', array['read', 'write'])")
    known = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    run("remember", "Jeff", "drinks tea", **known)
    words = ("share", "Jeff", "--to", "team")

    plan = run(*words, "--dry-run", **known)
    refused = run(*words, "--json", **known)
    copied = run(*words, "--yes", **known, SPACE="default")
    moved = run(*words, "drinks tea", "--move", "--yes", "--json", **known)

    assert plan.out.splitlines() == [
        "This copies 1 fact and 0 relations of Jeff to team:", "  drinks tea",
    ]  # fmt: skip
    assert "add --yes" in refused.err
    assert (refused.out, "  drinks tea" in refused.err) == ("", True)
    assert copied.out == "Shared Jeff with team: 1 fact and 0 relations\n"
    counts = json.loads(moved.out)
    assert (counts["duplicate_facts"], counts["moved_facts"]) == (1, 1)
    assert run("show", "Jeff", "--space", "team", **known).out.count("drinks tea") == 1
    assert "drinks tea" not in run("show", "Jeff", "--space", "default", **known).out


def test_share_names_the_spaces_that_can_be_used(run: Run, database_url: str) -> None:
    known = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN}
    run("remember", "Jeff", "drinks tea", **known)

    unknown = run("share", "Jeff", "--to", "moon", "--yes", **known)
    same = run("share", "Jeff", "--to", "default", "--yes", **known)

    assert "default" in unknown.err
    assert "another space" in same.err
