"""Spaces, grants and tokens in SQL: who is let in where, from when to when."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg import sql as query

from tests.support.sharing import ALL, HASH, call, find_prefix, issue, list_access, refuse, search
from textrawl.access.access_token import hash_token, make_token

NO_GRAPH = (None, None, None, None)
"""Tier, tokens, sources and chunks of a space of facts in list_spaces."""


@pytest.fixture
def team(sql: psycopg.Connection) -> psycopg.Connection:
    """Two spaces beside the first: team and rival."""
    for name in ("team", "rival"):
        call(sql, "create_space", name=name)
    return sql


def test_a_token_does_what_both_it_and_the_grant_say(team: psycopg.Connection) -> None:
    for token, grant, both in (
        (["read"], ["read", "write"], {"read"}),
        (["read", "write"], ["read"], {"read"}),
        (["write", "forget"], ["read", "forget", "admin"], {"forget"}),
        (ALL, ALL, set(ALL)),
        (["write"], ["read"], None),
    ):
        credential = issue(team, "ana", "rival", token)
        call(team, "grant_access", actor="ana", space="team", scopes=grant)

        access = list_access(team, credential) or {}

        assert access.get("team") == both
        assert access["rival"] == set(token)


def test_an_empty_memory_is_not_counted_for_an_unknown_token_either(
    sql: psycopg.Connection,
) -> None:
    sql.execute("vacuum")  # the planner then knows that each table is empty

    assert refuse(sql, "memory_statistics", credential=HASH) == "TR010"


def test_a_token_gives_its_actor_what_it_may_in_its_home_and_takes_nothing(
    team: psycopg.Connection,
) -> None:
    call(team, "grant_access", actor="ana", space="team", scopes=["admin", "read"])

    reader = issue(team, "ana", "team", ["write", "read"])

    assert call(team, "list_grants", space="team")[0][:3] == (
        "team", "ana", ["read", "write", "admin"],
    )  # fmt: skip
    assert list_access(team, reader) == {"team": {"read", "write"}}


def test_a_grant_replaces_the_one_before(team: psycopg.Connection) -> None:
    credential = issue(team, "ana", "team", ALL)

    [(left,)] = call(team, "grant_access", actor="ana", space="team", scopes=["write", "read"])

    assert left == ["read", "write"]
    assert list_access(team, credential) == {"team": {"read", "write"}}


def test_a_grant_that_was_revoked_lets_nobody_in(team: psycopg.Connection) -> None:
    credential = issue(team, "ana", "team", ALL)

    [(taken,)] = call(team, "revoke_access", actor="ana", space="team")

    assert taken == ALL
    assert list_access(team, credential) == {}
    assert refuse(team, "search_memory", query="tea", credential=credential) == "TR011"


def test_a_token_ends_within_a_second_of_its_time(sql: psycopg.Connection) -> None:
    end = datetime.now(UTC) + timedelta(seconds=1)
    credential = issue(sql, "ana", "default", ["read"], end)
    assert list_access(sql, credential) == {"default": {"read"}}

    while list_access(sql, credential) is not None:
        assert datetime.now(UTC) < end + timedelta(seconds=1)

    assert datetime.now(UTC) >= end
    assert refuse(sql, "search_memory", query="tea", credential=credential) == "TR010"
    assert [row[-1] for row in call(sql, "list_tokens")] == ["valid", "expired"]


def test_a_revoked_token_is_nobodys_from_the_next_call_on(sql: psycopg.Connection) -> None:
    credential = issue(sql, "ana", "default", ALL)
    other = issue(sql, "ana", "default", ALL)

    [first] = call(sql, "revoke_token", name=find_prefix(sql, credential))
    assert list_access(sql, credential) is None
    [again] = call(sql, "revoke_token", name=str(first[0]))

    assert first == again
    assert refuse(sql, "search_memory", query="tea", credential=credential) == "TR010"
    assert list_access(sql, other) == {"default": set(ALL)}
    assert [row[-1] for row in call(sql, "list_tokens")] == ["valid", "revoked", "valid"]


def test_both_tokens_of_a_rotation_are_valid_until_the_overlap_is_over(
    team: psycopg.Connection,
) -> None:
    end = datetime.now(UTC) + timedelta(days=90)
    former = issue(team, "ana", "team", ["read", "write"], end)
    call(team, "grant_access", actor="ana", space="rival", scopes=["read"])
    access = {"team": {"read", "write"}, "rival": {"read"}}
    later, last = hash_token(make_token()), hash_token(make_token())

    [made] = call(
        team, "rotate_token", name=find_prefix(team, former), hash=later, prefix="trl_later"
    )

    assert made[1:5] == ("ana", "team", ["read", "write"], end)
    assert abs(made[5] - datetime.now(UTC) - timedelta(hours=1)) < timedelta(minutes=1)
    assert list_access(team, former) == list_access(team, later) == access
    call(team, "rotate_token", name="trl_later", hash=last, prefix="trl_last", overlap=timedelta())
    assert list_access(team, later) is None
    assert list_access(team, last) == access


def test_an_overlap_lengthens_no_life_and_a_new_end_is_taken_as_given(
    sql: psycopg.Connection,
) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=5)
    later = soon + timedelta(days=90)
    former = issue(sql, "ana", "default", ["read"], soon)

    [made] = call(
        sql,
        "rotate_token",
        name=find_prefix(sql, former),
        hash=HASH,
        prefix="trl_later",
        expires_at=later,
    )

    assert made[4:] == (later, soon)


@pytest.mark.parametrize("over", ["revoked_at", "expires_at"])
def test_a_token_that_is_over_is_not_rotated_back_to_life(
    sql: psycopg.Connection, over: str
) -> None:
    former = issue(sql, "ana", "default", ["read"])
    sql.execute(
        query.SQL("update token set {} = now() where hash = %s").format(query.Identifier(over)),
        (former,),
    )

    name = find_prefix(sql, former)

    assert refuse(sql, "rotate_token", name=name, hash=HASH, prefix="trl_later") == "TR022"


def test_an_archived_space_is_closed_to_all_and_comes_back_whole(
    team: psycopg.Connection,
) -> None:
    credential = issue(team, "ana", "team", ["read", "write"])
    fact = {"entity": "Ada", "type": "person", "observation": "likes tea"}
    call(team, "remember_fact", **fact, credential=credential)

    call(team, "archive_space", name="team")

    assert list_access(team, credential) == {}
    assert refuse(team, "search_memory", query="tea", credential=credential) == "TR011"
    assert refuse(team, "remember_fact", **fact, credential=credential) == "TR011"
    assert call(team, "list_spaces")[-1][0] == "team"
    call(team, "archive_space", name="team", archived=False)
    assert list_access(team, credential) == {"team": {"read", "write"}}
    assert search(team, credential) == ["likes tea"]


def test_a_renamed_space_keeps_facts_grants_and_tokens(team: psycopg.Connection) -> None:
    credential = issue(team, "ana", "default", ["read", "write"])
    call(
        team,
        "remember_fact",
        entity="Ada",
        type="person",
        observation="likes tea",
        credential=credential,
    )

    call(team, "rename_space", name="default", new_name="everybody")

    assert list_access(team, credential) == {"everybody": {"read", "write"}}
    assert search(team, credential) == ["likes tea"]
    assert [row[0] for row in call(team, "list_spaces")] == ["everybody", "rival", "team"]
    assert refuse(team, "archive_space", name="everybody") == "TR028"


def test_spaces_are_listed_with_their_valid_facts_and_members(team: psycopg.Connection) -> None:
    credential = issue(team, "ana", "team", ["read", "write"])
    call(team, "grant_access", actor="bob", space="team", scopes=["read"])
    facts = (
        {"entity": "Ada", "type": "person", "observation": text, "credential": credential}
        for text in ("likes tea", "likes maps")
    )
    for fact in facts:
        call(team, "remember_fact", **fact)
    team.execute("update observation set valid_until = now() where content = 'likes maps'")

    assert [(row[0], *row[3:]) for row in call(team, "list_spaces")] == [
        ("default", 0, 1, None, "english", None, *NO_GRAPH),
        ("rival", 0, 0, None, "english", None, *NO_GRAPH),
        ("team", 1, 2, None, "english", None, *NO_GRAPH),
    ]


def test_the_last_use_of_a_token_is_noted(sql: psycopg.Connection) -> None:
    credential = issue(sql, "ana", "default", ["read"])
    assert call(sql, "list_tokens")[-1][6] is None

    list_access(sql, credential)

    used = call(sql, "list_tokens")[-1][6]
    assert abs(used - datetime.now(UTC)) < timedelta(minutes=1)
