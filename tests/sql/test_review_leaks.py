"""A proposal changes nothing that readers, followers and analysts see."""

from typing import Any, LiteralString

import psycopg
import pytest

from tests.sql.test_decisions import Reviewed
from tests.support.sharing import create_login, log_in

pytestmark = pytest.mark.follows

READS: tuple[LiteralString, ...] = (
    "search_memory('green tea', credential => %s)",
    "explain_search('green tea', credential => %s)",
    "describe_entity('Ada', credential => %s)",
    "describe_entity('Cleo', credential => %s)",
    "list_entities(credential => %s)",
    "similar_names('Cleo', credential => %s)",
    "complete_name('C', credential => %s)",
    "known_names(array['cleo', 'ada'], credential => %s)",
    "(select content, section from digest_memory(credential => %s)) as without_scores",
    "read_graph(credential => %s)",
    "search_nodes('green', credential => %s)",
    "list_proposals(decision => 'any', credential => %s)",
    "search_proposals('green tea', credential => %s)",
    "forget_entity('Cleo', dry_run => true, credential => %s)",
)
COUNTS: LiteralString = """
    select entities, facts, relations, events, types, models
    from memory_statistics(credential => %s)"""
MEASURED = {"memory_health", "memory_indexes", "memory_decay"}  # sizes on disk and the clock
VECTORS = {"embedding"}  # no analyst reads vectors


@pytest.fixture
def team(sql: psycopg.Connection) -> Reviewed:
    team = Reviewed(sql)
    team.remember("ben", "Ada", "likes tea")
    team.remember("ben", "Bo", "lives in Oslo")
    for author in ("agent", "other"):
        team.credential(author, "read", "propose")
    team.credential("rita", "read", "write", "review")
    return team


def decide_several(team: Reviewed) -> None:
    """Proposals in every state but accepted."""
    team.propose("Ada", "likes green tea")
    team.connect("Cleo", "paints", "green walls")
    team.decide("reject", team.propose("Cleo", "is green"), reason="no")
    since = team.now()
    team.propose("Cleo", "sings", author="other")
    team.undo("other", since)


def read_all(team: Reviewed, credential: bytes) -> dict[str, list[Any]]:
    team.sql.execute("select refresh_search_statistics()")
    answers = {
        read: team.sql.execute("select * from " + read, (credential,)).fetchall()  # noqa: S608
        for read in READS
    }
    return answers | {"counts": team.sql.execute(COUNTS, (credential,)).fetchall()}


def read_views(team: Reviewed, login: str) -> dict[str, list[Any]]:
    """Every view, and the tables behind proposals, as an analyst reads them."""
    with log_in(team.sql, login) as session:
        names = session.execute("""
            select relname::text from pg_class
            where relnamespace = 'textrawl'::regnamespace and relkind = 'v'""").fetchall()
        wanted = {name for (name,) in names} - MEASURED - VECTORS | {"proposal", "event", "undone"}
        return {
            name: session.execute(f"select * from {name} order by 1::text".encode()).fetchall()  # noqa: S608
            for name in sorted(wanted)
        }


def test_no_answer_to_a_reader_differs_by_a_proposal(team: Reviewed) -> None:
    reader = team.credential("rex", "read", "write")
    watch = '[{"entity": "Ada"}, {"list": true}]'
    changed: LiteralString = "select place from changed_watches(%s, %s::xid8) where place > 0"
    since = team.fetch("select cursor from changed_watches('[]') where place is null")
    first = team.sql.execute(changed, (watch, since)).fetchall()
    before = read_all(team, reader)

    decide_several(team)

    assert read_all(team, reader) == before
    assert team.sql.execute(changed, (watch, since)).fetchall() == first
    assert team.fetch("select count(*) from proposal") == 4


def test_an_analyst_who_does_not_review_sees_no_trace_of_a_proposal(team: Reviewed) -> None:
    with create_login(team.sql, "in role textrawl_analyst") as login:
        team.sql.execute("select grant_access('lea', 'team', array['read'])")
        team.sql.execute("select bind_login('lea', %s)", (login,))
        before = read_views(team, login)

        decide_several(team)

        after = read_views(team, login)
        # An undo is a row of its own, whatever it took back.
        assert after.pop("memory_undone") != before.pop("memory_undone")
        assert after == before
        team.sql.execute("select grant_access('lea', 'team', array['read', 'review'])")
        assert len(read_views(team, login)["memory_proposals"]) == 4
