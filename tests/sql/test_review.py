"""Proposals in SQL: who can only propose makes nothing count."""

from typing import Any, LiteralString

import psycopg
import pytest

from tests.support.sql_team import Team

WRITES: dict[str, LiteralString] = {
    "fact": "select proposal_id from remember_fact('Ada', 'person', 'likes tea', credential => %s)",
    "relation": "select proposal_id from relate_entities('Ada', 'knows', 'Bo', credential => %s)",
    "batch": """
        select proposals[1] from build_knowledge(
            '[{"entity": "Ada", "type": "person", "observation": "swims"}]',
            '[{"from": "Ada", "relation": "met", "to": "Cy"}]', credential => %s)""",
}


def count(team: Team) -> int:
    """Rows of content, without events."""
    return len(team.rows())


def refuse(team: Team, query: LiteralString, *values: object) -> str | None:
    with pytest.raises(psycopg.Error) as refused:
        team.sql.execute(query, values)
    return refused.value.sqlstate


def test_what_a_token_that_can_only_propose_writes_is_a_proposal(team: Team) -> None:
    agent = team.credential("agent", "read", "propose")

    for kind, write in WRITES.items():
        proposal = team.fetch(write, agent)

        assert proposal is not None, kind
        assert count(team) == 0, kind
        assert team.fetch("select author_id is not null from proposal where id = %s", proposal)
        assert team.fetch("select count(*) from event where action <> 'proposed'") == 0, kind


def test_a_batch_of_who_can_only_propose_becomes_one_proposal_for_each_item(team: Team) -> None:
    agent = team.credential("agent", "propose")

    team.fetch(WRITES["batch"], agent)

    kinds = team.fetch("select array_agg(kind order by kind) from proposal")
    assert kinds == ["fact", "relation"]


def test_the_same_proposal_is_stored_once_and_other_values_make_another(team: Team) -> None:
    agent, other = (team.credential(name, "propose") for name in ("agent", "other"))
    query: LiteralString = """
        select proposal_id, duplicate from remember_fact('Ada', 'person', %s, confidence => %s,
            credential => %s)"""

    first = team.sql.execute(query, ("likes tea", 0.4, agent)).fetchone()
    again = team.sql.execute(query, ("likes tea.", 0.4, agent)).fetchone()
    surer = team.sql.execute(query, ("likes tea", 0.9, agent)).fetchone()
    others = team.sql.execute(query, ("likes tea", 0.4, other)).fetchone()

    assert first is not None
    assert again == (first[0], True)
    assert surer is not None
    assert others is not None
    assert len({first[0], surer[0], others[0]}) == 3
    assert not surer[1]
    assert not others[1]


def test_who_can_only_propose_and_not_read_learns_nothing_about_what_exists(team: Team) -> None:
    team.remember("ben", "Ada", "likes tea")
    blind = team.credential("blind", "propose")
    query: LiteralString = """
        select entity_id, entity_name, observation_id, duplicate, updated, closest
        from remember_fact(%s, 'concept', 'likes tea', replaces => %s, credential => %s)"""

    known = team.sql.execute(query, ("ADA", "no such fact", blind)).fetchone()
    unknown = team.sql.execute(query, ("Nobody", "no such fact", blind)).fetchone()

    assert known == (None, "ADA", None, False, False, None)
    assert unknown == (None, "Nobody", None, False, False, None)


def test_who_proposes_and_reads_learns_at_once_that_replaces_names_no_fact(team: Team) -> None:
    gone = team.remember("ben", "Ada", "lives in Oslo")
    team.remember("ben", "Ada", "lives in Riga", replaces=gone.id)
    agent = team.credential("agent", "read", "propose")
    query: LiteralString = """
        select remember_fact('Ada', 'person', 'x', replaces => %s, credential => %s)"""

    assert refuse(team, query, "no such fact", agent) == "TR001"
    assert refuse(team, query, str(gone.id), agent) == "TR003"
    assert team.fetch("select count(*) from proposal") == 0


def test_a_proposed_correction_names_a_relation_that_exists_to_who_reads_and_ends_nothing(
    team: Team,
) -> None:
    team.relate("ben", "Ada", "works at", "Acme")
    before = team.rows()
    query: LiteralString = """
        select correct_relation('Ada', 'works at', %s, 'works at', 'Globex', credential => %s)"""
    agent, blind = team.credential("agent", "read", "propose"), team.credential("blind", "propose")

    assert refuse(team, query, "Initech", agent) == "TR007"
    assert team.fetch("select count(*) from proposal") == 0
    assert None not in {
        team.fetch(query, *given) for given in (("ACME", agent), ("Initech", blind))
    }
    assert team.rows() == before


def test_other_writes_refuse_who_can_only_propose_and_change_nothing(team: Team) -> None:
    team.relate("ben", "Ada", "knows", "Bo")
    before = team.rows()
    agent = team.credential("agent", "read", "propose", "forget")

    calls: tuple[LiteralString, ...] = (
        "select end_relation('Ada', 'knows', 'Bo', credential => %s)",
        'select create_nodes(\'[{"name": "X", "type": "person"}]\', credential => %s)',
        "select create_edges('[]', credential => %s)",
    )
    assert {refuse(team, call, agent) for call in calls} == {"TR015"}
    assert team.rows() == before


def test_in_a_reviewed_space_a_token_without_review_can_only_propose(team: Team) -> None:
    writer = team.credential("ana", "read", "write")
    reviewer = team.credential("rita", "read", "write", "review")
    team.sql.execute("update space set reviewed = true where id = %s", (team.space,))

    def write(credential: bytes | None) -> Any:
        return team.fetch(
            "select proposal_id from remember_fact('Ada', 'person', gen_random_uuid()::text, "
            "credential => %s, space => %s)",
            credential,
            team.space,
        )

    assert write(writer) is not None
    assert write(reviewer) is None
    assert write(None) is None
    assert team.fetch("select count(*) from fact") == 2


def test_the_scopes_that_a_server_sees_follow_the_review_of_the_space(team: Team) -> None:
    writer = team.credential("ana", "read", "write", "forget")
    query: LiteralString = "select spaces #> '{0,scopes}' from authenticate(%s)"
    before = team.fetch(query, writer)

    team.sql.execute("update space set reviewed = true where id = %s", (team.space,))

    assert set(before) == {"read", "write", "forget"}
    assert set(team.fetch(query, writer)) == {"read", "propose", "forget"}
