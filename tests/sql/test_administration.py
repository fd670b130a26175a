"""Who may change who is let in, and what they are told of mistakes."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import psycopg
import pytest
from psycopg import sql as query

from tests.support.sharing import ALL, HASH, call, create_login, issue, log_in, refuse
from textrawl.embedded.postmaster import ANALYST, APP

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


@pytest.fixture
def team(sql: psycopg.Connection) -> psycopg.Connection:
    """Two spaces beside the first: team and rival."""
    for name in ("team", "rival"):
        call(sql, "create_space", name=name)
    return sql


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
