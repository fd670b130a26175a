"""When a fact was last confirmed."""

from collections.abc import Callable

import psycopg
import pytest

from tests.support.sql_team import Team

pytestmark = pytest.mark.follows


@pytest.fixture
def team(sql: psycopg.Connection) -> Team:
    team = Team(sql)
    for text in ("likes tea", "lives in Oslo", "lives in Rome"):
        team.remember("ana", "Jeff", text)
    sql.execute("update observation set created_at = created_at - interval '200 days'")
    return team


def find(team: Team, text: str) -> object:
    return team.fetch("select id from observation where content = %s", text)


def decide(team: Team, decision: str) -> None:
    """Propose a fact that is stored already, and decide."""
    proposal = team.fetch(
        "select proposal_id from remember_fact('Jeff', 'person', 'likes tea', credential => %s)",
        team.credential("agent", "read", "propose"),
    )
    team.sql.execute(
        "select * from decide_proposals(%s::text[], %s, 'no', credential => %s)",
        ([proposal], decision, team.credential("ana", "read", "write", "review")),
    )


def dismiss(team: Team, kind: str, *texts: str) -> None:
    ids = [find(team, text) for text in texts]
    call = "select dismiss_candidates(%s, %s::uuid[], credential => %s, space => %s)"
    team.fetch(call, kind, ids, team.credential("bob"), team.space)


CONFIRMS: dict[str, Callable[[Team], object]] = {
    "stored again": lambda team: team.remember("bob", "Jeff", "likes tea"),
    "accepted": lambda team: decide(team, "accept"),
    "still true": lambda team: dismiss(team, "stale", "likes tea"),
}
CONFIRMS_NOT: dict[str, Callable[[Team], object]] = {
    "proposed and rejected": lambda team: decide(team, "reject"),
    "no contradiction": lambda team: dismiss(team, "close", "lives in Oslo", "lives in Rome"),
    "found": lambda team: team.sql.execute("select * from search_memory('likes tea')").fetchall(),
    "another fact": lambda team: team.remember("bob", "Jeff", "likes green tea"),
    "replaced": lambda team: team.remember("bob", "Jeff", "likes cocoa", find(team, "likes tea")),
}


@pytest.mark.parametrize("way", CONFIRMS)
def test_a_repetition_an_accepted_proposal_and_still_true_confirm_a_fact_until_an_undo(
    team: Team, way: str
) -> None:
    since = team.now()
    for actor in ("bob", "agent"):
        team.credential(actor)
    CONFIRMS[way](team)
    confirmed = team.sql.execute(
        "select content from observation where confirmed_at >= %s", (since,)
    ).fetchall()
    for actor in ("ana", "bob", "agent"):
        team.undo_if_any(actor, since)

    assert confirmed == [("likes tea",)]
    assert team.fetch("select count(confirmed_at) from observation") == 0


@pytest.mark.parametrize("way", CONFIRMS_NOT)
def test_nothing_else_confirms_a_fact(team: Team, way: str) -> None:
    CONFIRMS_NOT[way](team)

    assert team.fetch("select count(confirmed_at) from observation") == 0
