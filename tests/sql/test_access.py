"""Spaces, grants and tokens in SQL: who is let in where and until when, and who may change it."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import psycopg
import pytest
from psycopg import sql as query

from tests.support.sharing import (
    ALL,
    HASH,
    call,
    create_login,
    find_prefix,
    issue,
    list_access,
    log_in,
    refuse,
    search,
)
from textrawl.access.access_token import hash_token, make_token
from textrawl.embedded.postmaster import ANALYST, APP

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


SPACES = ("create_space", "rename_space", "archive_space", "list_spaces")
TOKENS = ("create_token", "rotate_token", "revoke_token")
ARGUMENTS: dict[str, dict[str, object]] = {
    "create_space": {"name": "other"},
    "rename_space": {"name": "default", "new_name": "other"},
    "archive_space": {"name": "default"},
    "list_spaces": {},
    "create_token": {
        "hash": HASH, "prefix": "trl_any", "actor": "eve", "space": "default", "scopes": ALL,
    },
    "rotate_token": {"name": "trl_test", "hash": HASH, "prefix": "trl_any"},
    "revoke_token": {"name": "trl_test"},
    "bind_login": {"actor": "ada", "role_name": APP},
}  # fmt: skip


def test_an_admin_of_one_space_grants_there_and_nowhere_else(team: psycopg.Connection) -> None:
    admin = issue(team, "ana", "team", ["read", "admin"])
    call(team, "grant_access", actor="ana", space="rival", scopes=["read", "write"])
    before = call(team, "list_grants")
    with log_in(team, APP) as server:
        for place in ("rival", "default", "nowhere"):
            given: dict[str, Any] = {"actor": "ana", "space": place, "credential": admin}
            assert refuse(server, "grant_access", **given, scopes=ALL) == "TR011"
            assert refuse(server, "revoke_access", **given) == "TR011"
            assert refuse(server, "list_grants", space=place, credential=admin) == "TR011"
        assert call(team, "list_grants") == before

        call(server, "grant_access", actor="eve", space="team", scopes=ALL, credential=admin)
        listed = [row[:2] for row in call(server, "list_grants", credential=admin)]
        assert listed == [("team", "ana"), ("team", "eve")]
        call(server, "revoke_access", actor="eve", space="team", credential=admin)
        assert call(team, "list_grants") == before


def test_without_the_scope_admin_no_grant_is_made_shown_or_taken(team: psycopg.Connection) -> None:
    for scopes in (["read"], ["read", "write", "forget"]):
        credentials = [issue(team, "ana", "team", scopes), None, HASH]
        before = call(team, "list_grants")
        with log_in(team, APP) as server:
            for credential, code in zip(credentials, ["TR011", "TR011", "TR010"], strict=True):
                given: dict[str, Any] = {"space": "team", "credential": credential}
                assert refuse(server, "grant_access", actor="ana", scopes=ALL, **given) == code
                assert refuse(server, "revoke_access", actor="ana", **given) == code
                assert refuse(server, "list_grants", **given) == code
                assert refuse(server, "list_grants", credential=credential) == code

        assert call(team, "list_grants") == before


def test_an_admin_sees_the_tokens_of_the_spaces_it_administers_and_no_other(
    team: psycopg.Connection,
) -> None:
    admin = issue(team, "ana", "team", ["read", "admin"])
    issue(team, "ana", "rival", ["read", "write"])
    issue(team, "bob", "team", ["read"])
    issue(team, "bob", "default", ["read", "admin"])
    call(team, "grant_access", actor="bob", space="team", scopes=["read", "admin"])
    with log_in(team, APP) as server:
        listed = [row[2:4] for row in call(server, "list_tokens", credential=admin)]

    assert listed == [("ana", "team"), ("bob", "team")]
    known = [row[2:4] for row in call(team, "list_tokens")]
    assert {("ana", "team"), ("ana", "rival"), ("bob", "team"), ("bob", "default")} <= set(known)
    assert known == [row[2:4] for row in call(team, "list_tokens", credential=admin)]


def test_without_the_scope_admin_no_token_is_shown(team: psycopg.Connection) -> None:
    for scopes in (["read"], ["read", "write", "forget"], ["metrics"]):
        held = issue(team, "ana", "team", scopes)
        call(team, "grant_access", actor="ana", space="team", scopes=[*scopes, "admin"])
        revoked = issue(team, "eve", "team", ["admin"])
        team.execute("update token set revoked_at = now() where hash = %s", (revoked,))
        with log_in(team, APP) as server:
            states = [
                refuse(server, "list_tokens", credential=credential)
                for credential in (held, None, HASH, revoked)
            ]

        assert states == ["TR011", "TR011", "TR010", "TR010"]


@pytest.mark.parametrize("role", [APP, ANALYST])
def test_spaces_and_tokens_are_the_owners_alone(sql: psycopg.Connection, role: str) -> None:
    functions = [*SPACES, *TOKENS, "bind_login"]
    everything = sql.execute("select array_agg(t::text) from token t").fetchone()
    with log_in(sql, role) as session:
        codes = {refuse(session, function, **ARGUMENTS[function]) for function in functions}
    assert codes == {"42501"}
    # Not even where somebody granted too much.
    sql.execute(
        query.SQL("grant execute on all functions in schema textrawl to {}").format(
            query.Identifier(role)
        )
    )
    with log_in(sql, role) as session:
        codes = {refuse(session, function, **ARGUMENTS[function]) for function in functions}
    assert codes == {"TR013"}

    assert sql.execute("select array_agg(t::text) from token t").fetchone() == everything
    assert [row[0] for row in call(sql, "list_spaces")] == ["default"]


WRONG: list[tuple[str, dict[str, object], str]] = [
    ("create_space", {"name": "default"}, "TR021"),
    ("rename_space", {"name": "team", "new_name": "default"}, "TR021"),
    ("rename_space", {"name": "nowhere", "new_name": "other"}, "TR020"),
    ("archive_space", {"name": "nowhere"}, "TR020"),
    ("list_grants", {"space": "nowhere"}, "TR020"),
    ("archive_space", {"name": None}, "TR020"),
    ("revoke_access", {"actor": "nobody", "space": "team"}, "TR023"),
    ("revoke_access", {"actor": None, "space": "team"}, "TR023"),
    ("grant_access", {"actor": "ana", "space": "nowhere", "scopes": ALL}, "TR020"),
    ("revoke_token", {"name": "trl_nobody"}, "TR022"),
    ("revoke_token", {"name": ""}, "TR022"),
    ("revoke_token", {"name": None}, "TR022"),
    ("rotate_token", {"name": "trl_nobody", "hash": HASH, "prefix": "trl_any"}, "TR022"),
    *(
        ("create_space", {"name": name}, "TR024")
        for name in ("", None, "Team", "-team", "two words", "a" * 64, "täm", "a/b", "team\n")
    ),
    ("rename_space", {"name": "team", "new_name": "Team"}, "TR024"),
    ("rename_space", {"name": "team", "new_name": None}, "TR024"),
    *(
        ("grant_access", {"actor": name, "space": "team", "scopes": ALL}, "TR025")
        for name in ("", None, " ana", "a" * 201)
    ),
    *(
        ("grant_access", {"actor": "ana", "space": "team", "scopes": scopes}, "TR026")
        for scopes in ([], None, ["own"], ["read", None], ["READ"], [""])
    ),
    *(
        (function, {**ARGUMENTS[function], **wrong}, "TR029")
        for function in ("create_token", "rotate_token")
        for wrong in (
            {"hash": b"short"}, {"hash": None}, {"prefix": ""}, {"prefix": None},
            {"prefix": "x" * 17}, {"expires_at": "infinity"}, {"expires_at": "-infinity"},
            {"expires_at": datetime(2020, 1, 1, tzinfo=UTC)},
        )
    ),
    ("rotate_token", {**ARGUMENTS["rotate_token"], "overlap": timedelta(-1)}, "TR029"),
    ("rotate_token", {**ARGUMENTS["rotate_token"], "overlap": "200000 years"}, "TR029"),
    ("rotate_token", {**ARGUMENTS["rotate_token"], "overlap": None}, "TR029"),
]  # fmt: skip


def test_every_mistake_has_its_own_code_and_changes_nothing(team: psycopg.Connection) -> None:
    state = "select array(select t::text from token t), array(select g::text from space_grant g)"
    before = team.execute(state).fetchone()
    count = team.execute("select count(*) from actor").fetchone()

    entries = [(*wrong[:2], refuse(team, wrong[0], **wrong[1])) for wrong in WRONG]

    assert entries == WRONG
    assert team.execute(state).fetchone() == before
    assert team.execute("select count(*) from actor").fetchone() == count


def test_a_prefix_that_two_tokens_have_names_neither_and_an_id_one(
    sql: psycopg.Connection,
) -> None:
    for content in (b"one", b"two"):
        given = ARGUMENTS["create_token"] | {"hash": sha256(content).digest()}
        [(last,)] = call(sql, "create_token", **given)

    assert refuse(sql, "revoke_token", name="trl_any") == "TR022"
    assert call(sql, "revoke_token", name=str(last))[0][0] == last


def test_a_hash_is_taken_once(sql: psycopg.Connection) -> None:
    call(sql, "create_token", **ARGUMENTS["create_token"])

    assert refuse(sql, "create_token", **ARGUMENTS["create_token"]) == "TR029"


def test_a_login_in_psql_sees_what_is_granted_to_its_actor_and_nothing_else(
    team: psycopg.Connection,
) -> None:
    for space, text in (("team", "likes tea"), ("rival", "hates tea")):
        writer = issue(team, "bob", space, ["write"])
        call(
            team, "remember_fact", entity="Ada", type="person", observation=text, credential=writer
        )
    call(team, "grant_access", actor="ana", space="team", scopes=["read"])
    seen = "select content from memory_observations"
    with create_login(team, "in role " + ANALYST) as login:
        with log_in(team, login) as psql:
            assert psql.execute(seen).fetchall() == []

        assert call(team, "bind_login", actor="ana", role_name=login) == [(True,)]

        with log_in(team, login) as psql:
            assert psql.execute(seen).fetchall() == [("likes tea",)]
        call(team, "revoke_access", actor="ana", space="team")
        with log_in(team, login) as psql:
            assert psql.execute(seen).fetchall() == []


def test_a_login_without_the_analysts_rights_is_told_of(team: psycopg.Connection) -> None:
    with create_login(team, "") as login:
        assert call(team, "bind_login", actor="ana", role_name=login) == [(False,)]
        assert call(team, "bind_login", actor="ana", role_name=None) == [(False,)]


def test_a_login_that_serves_or_that_no_wall_stops_acts_as_nobody(sql: psycopg.Connection) -> None:
    for attributes in ("superuser", "bypassrls", "in role " + APP):
        with create_login(sql, attributes) as login:
            assert refuse(sql, "bind_login", actor="ada", role_name=login) == "TR027"


def test_a_login_acts_as_one_actor(sql: psycopg.Connection) -> None:
    with create_login(sql, "") as login:
        call(sql, "bind_login", actor="ana", role_name=login)

        assert refuse(sql, "bind_login", actor="bob", role_name=login) == "TR027"
        assert refuse(sql, "bind_login", actor="bob", role_name="no such login") == "TR027"
