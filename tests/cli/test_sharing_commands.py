"""`textrawl space`, `textrawl grant` and `textrawl token`, as whoever runs a memory types them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.conftest import TOKEN, Databases
from tests.support.commands import Launch, Outcome, Run
from textrawl.access.access_token import hash_token, is_token, make_token
from textrawl.embedded.postmaster import APP

CREATE = (
    "token",
    "create",
    "--actor",
    "ana",
    "--space",
    "team",
    "--scope",
    "write",
    "--scope",
    "read",
)


@pytest.fixture
def team(run: Run, url: str) -> str:
    """The same, of a memory with the space team."""
    assert run("space", "create", "team", DATABASE_URL=url).code == 0
    return url


def ask(run: Run, *arguments: str, **environment: object) -> Any:
    outcome = run(*arguments, "--json", **environment)
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def create(run: Run, url: str, *more: str) -> str:
    """A new token of ana's."""
    outcome = run(*CREATE, *more, DATABASE_URL=url)
    assert outcome.code == 0, outcome.err
    return outcome.out.strip()


def list_access(owner: psycopg.Connection, token: str) -> dict[str, set[str]] | None:
    """Scopes by space; None for nobody."""
    query = "select spaces from authenticate(%s)"
    row = owner.execute(query, (hash_token(token),)).fetchone()
    return None if row is None else {entry["name"]: set(entry["scopes"]) for entry in row[0]}


def read_all(owner: psycopg.Connection) -> str:
    """Every row of every table, as text."""
    tables = "select relname from pg_class where relnamespace = 'textrawl'::regnamespace"
    names = owner.execute(f"{tables} and relkind = 'r' order by 1").fetchall()
    select = sql.SQL("select t::text from {} t")
    rows = [owner.execute(select.format(sql.Identifier(name))).fetchall() for (name,) in names]
    return str(rows)


def test_a_token_stands_alone_on_stdout_and_nowhere_else(
    run: Run, team: str, owner: psycopg.Connection
) -> None:
    outcome = run(*CREATE, "--expires", "90d", DATABASE_URL=team, LOG_LEVEL="DEBUG")

    token = outcome.out.removesuffix("\n")
    assert is_token(token)
    assert token not in outcome.err
    assert outcome.err.startswith(
        f"{token[:10]} of ana: scopes read, write; home space team; expires 20"
    )
    stored = read_all(owner)
    assert token[4:47] not in stored
    assert token[4:47].encode().hex() not in stored
    assert token[:10] in stored
    assert list_access(owner, token) == {"team": {"read", "write"}}
    rows = owner.execute("select hash from token where prefix = %s", (token[:10],)).fetchall()
    assert rows == [(hash_token(token),)]


def test_a_token_can_be_piped_from_a_process_of_its_own(
    launch: Launch, team: str, owner: psycopg.Connection
) -> None:
    outcome = launch(*CREATE, DATABASE_URL=team).end()

    assert outcome.code == 0
    assert list_access(owner, outcome.out.removesuffix("\n")) == {"team": {"read", "write"}}
    assert outcome.err == (
        f"{outcome.out[:10]} of ana: scopes read, write; home space team; never expires."
        " The token is not shown again.\n"
    )


def test_who_reads_a_read_only_memory_is_decided_with_the_settings_of_its_server(
    run: Run, team: str, owner: psycopg.Connection
) -> None:
    given = {"DATABASE_URL": team, "READ_ONLY": "true"}
    token = run(*CREATE, **given).out.strip()
    assert list_access(owner, token) == {"team": {"read", "write"}}

    for line in (
        "grant set bob team --scope read",
        "grant revoke bob team",
        f"token rotate {token[:10]}",
        f"token revoke {token[:10]}",
    ):
        outcome = run(*line.split(), **given)

        assert outcome.code == 0, outcome.err
    assert list_access(owner, token) is None


def test_scripts_are_told_of_a_token_what_lists_show_later(run: Run, team: str) -> None:
    made = ask(run, *CREATE, "--expires", "12h", DATABASE_URL=team)

    assert is_token(made.pop("token"))
    listed = ask(run, "token", "list", DATABASE_URL=team)[-1]
    assert listed.pop("created_at") < listed["expires_at"]
    assert (listed.pop("last_used_at"), listed.pop("state")) == (None, "valid")
    assert made.pop("space") == listed.pop("home") == "team"
    assert made == listed


def test_lists_show_tokens_by_their_beginning_and_never_more(
    run: Run, team: str, owner: psycopg.Connection
) -> None:
    token = create(run, team)
    list_access(owner, token)

    shown = run("token", "list", DATABASE_URL=team).out
    text = run("token", "list", "--json", DATABASE_URL=team).out

    assert f"{token[:10]}\t" in shown
    assert token[:11] not in shown + text
    assert hash_token(token).hex() not in shown + text
    assert json.loads(text)[-1]["last_used_at"] is not None


def test_a_revoked_token_lets_nobody_in(run: Run, team: str, owner: psycopg.Connection) -> None:
    token, whole = create(run, team), create(run, team)

    ended = run("token", "revoke", token[:10], DATABASE_URL=team)
    pasted = run("token", "revoke", whole, DATABASE_URL=team)

    assert (ended.code, ended.out, ended.err[:17]) == (0, "", f"{token[:10]} of ana")
    assert pasted.code == 0
    assert whole not in pasted.err
    assert list_access(owner, token) is None
    assert list_access(owner, whole) is None
    states = [row["state"] for row in ask(run, "token", "list", DATABASE_URL=team)]
    assert states == ["valid", "revoked", "revoked"]


def test_a_rotated_token_is_followed_by_one_that_may_do_the_same(
    run: Run, team: str, owner: psycopg.Connection
) -> None:
    former = create(run, team)

    outcome = run("token", "rotate", former[:10], "--overlap", "2h", DATABASE_URL=team)

    later = outcome.out.strip()
    access = {"team": {"read", "write"}}
    assert later not in outcome.err
    assert list_access(owner, former) == list_access(owner, later) == access
    rows = ask(run, "token", "list", DATABASE_URL=team)
    assert [row["expires_at"] is None for row in rows] == [True, False, True]
    answer = ask(run, "token", "rotate", later[:10], "--expires", "1d", DATABASE_URL=team)
    assert answer["former_expires_at"] < answer["expires_at"]


def test_spaces_are_made_renamed_archived_and_opened_again(run: Run, url: str) -> None:
    outcomes = [
        run("space", *arguments, DATABASE_URL=url)
        for arguments in (
            ("create", "team"), ("rename", "team", "core"), ("archive", "core"),
            ("archive", "core", "--restore"),
        )
    ]  # fmt: skip

    assert outcomes == [
        Outcome(0, "", "Created the space team.\n"),
        Outcome(0, "", "team is called core now.\n"),
        Outcome(0, "", "Archived core: nobody can read or write it.\n"),
        Outcome(0, "", "core is open again.\n"),
    ]
    assert ask(run, "space", "archive", "core", DATABASE_URL=url)["archived_at"] is not None
    listed = ask(run, "space", "list", DATABASE_URL=url)
    assert [(row["name"], row["archived_at"] is None) for row in listed] == [
        ("default", True),
        ("core", False),
    ]
    assert "core" in run("space", "list", DATABASE_URL=url).out


def test_an_archived_space_answers_nobody_until_it_is_opened_again(
    run: Run, team: str, owner: psycopg.Connection
) -> None:
    token = create(run, team)

    run("space", "archive", "team", DATABASE_URL=team)
    assert list_access(owner, token) == {}
    run("space", "archive", "team", "--restore", DATABASE_URL=team)

    assert list_access(owner, token) == {"team": {"read", "write"}}


def test_grants_are_set_shown_and_taken(run: Run, team: str, owner: psycopg.Connection) -> None:
    token = create(run, team)

    narrowed = run("grant", "set", "ana", "team", "--scope", "read", DATABASE_URL=team)
    assert narrowed == Outcome(0, "", "ana may read in team.\n")
    assert list_access(owner, token) == {"team": {"read"}}
    wide = ask(run, "grant", "set", "bob", "team", "--scope", "admin, Read", DATABASE_URL=team)
    assert wide == {"actor": "bob", "space": "team", "scopes": ["read", "admin"]}
    rows = ask(run, "grant", "list", "team", DATABASE_URL=team)
    assert [(row["actor"], row["scopes"]) for row in rows] == [
        ("ana", ["read"]), ("bob", ["read", "admin"]),
    ]  # fmt: skip
    assert "read, admin" in run("grant", "list", DATABASE_URL=team).out
    taken = run("grant", "revoke", "ana", "team", DATABASE_URL=team)
    assert taken == Outcome(0, "", "ana has no scopes in team any more. Revoked: read.\n")
    assert list_access(owner, token) == {}


def test_an_analysts_login_is_bound_and_told_what_it_still_lacks(
    run: Run, team: str, postgres: Databases, database: str, owner: psycopg.Connection
) -> None:
    login = f"analyst_{database}"
    postgres.execute("create role {login} login", login=login)
    given = ("grant", "set", "ana", "team", "--scope", "read", "--login", login)
    try:
        without = run(*given, DATABASE_URL=team)
        postgres.execute("grant textrawl_analyst to {login}", login=login)
        outcome = run(*given, DATABASE_URL=team)
    finally:
        postgres.execute("drop role {login}", login=login)

    assert f"run `grant textrawl_analyst to {login}`" in without.err
    assert outcome.err == "ana may read in team.\n"
    assert ask(run, "grant", "list", "team", DATABASE_URL=team)[0]["login"] == login
    row = owner.execute("select name from actor where role_name = %s", (login,)).fetchone()
    assert row == ("ana",)


def test_a_servers_login_grants_with_an_admins_token_where_that_is_admin(
    run: Run, team: str, database_url: str
) -> None:
    admin = create(run, team, "--scope", "admin")
    given = {"DATABASE_URL": database_url, "ACCESS_TOKEN": admin}

    inside = run("grant", "set", "bob", "team", "--scope", "read", **given)
    listed = ask(run, "grant", "list", **given)
    outside = run("grant", "set", "bob", "default", "--scope", "read", **given)
    nowhere = run("grant", "set", "bob", "nowhere", "--scope", "read", **given)

    assert inside.code == 0
    assert [(row["space"], row["actor"]) for row in listed] == [("team", "ana"), ("team", "bob")]
    assert outside.code == 1
    assert outside.complaint == nowhere.complaint
    assert outside.complaint.startswith("Not allowed: This needs the scope admin")


def test_a_servers_login_is_told_which_one_spaces_and_tokens_need(
    run: Run, database_url: str
) -> None:
    for arguments in (
        ("space", "create", "mine"),
        ("space", "list"),
        ("token", "create", "--actor", "eve", "--space", "default", "--scope", "read"),
        ("token", "revoke", "trl_test"),
        ("grant", "set", "eve", "default", "--scope", "read", "--login", APP),
    ):
        outcome = run(*arguments, DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)

        assert outcome.code == 1
        assert outcome.complaint == (
            "The login of TEXTRAWL_DATABASE_URL does not own this memory: set "
            "TEXTRAWL_DATABASE_URL to the value that you run `textrawl migrate` with"
        )


def test_a_servers_login_without_a_token_is_told_of_it(run: Run, database_url: str) -> None:
    complaint = run("grant", "list", DATABASE_URL=database_url).complaint
    wrong = run("grant", "list", DATABASE_URL=database_url, ACCESS_TOKEN=make_token())

    assert complaint.endswith("or set TEXTRAWL_ACCESS_TOKEN to a token with the scope admin")
    assert wrong.complaint.startswith("Not authenticated: The token is unknown, expired or revoked")


MISTAKES = (
    ("space create team", "The space team exists already: choose another name"),
    ("space create Team", "A space cannot be called Team: use 1 to 63 of a-z"),
    ("space rename nowhere other", "No space nowhere: see `textrawl space list`"),
    ("space index nowhere", "No space nowhere: see `textrawl space list`"),
    ("space index team", "No vectors yet: the first server that starts adds them"),
    ("space archive default", "default is the first space, which cannot be archived"),
    ("grant set ana nowhere --scope read", "No space nowhere: see"),
    (
        "grant set ana team --scope reed",
        "Wrong scopes: 'reed': use read, propose, write, forget",
    ),
    ("grant set ana team --scope read,", "Wrong scopes: 'read,': use read, propose, write"),
    ("grant set \u200b team --scope read", "An actor cannot be called '': use 1 to 200"),
    ("grant set ana team --scope read --login none", "This login cannot act as an actor: none"),
    ("grant revoke bob team", "Nothing is granted to bob there: see `textrawl grant list`"),
    ("token revoke trl_nobody", "No valid token trl_nobody: see `textrawl token list`"),
    ("token rotate trl_nobody", "No valid token trl_nobody: see `textrawl token list`"),
    ("token rotate trl_test --overlap never", "Not a length of time: never: give a number"),
    (" ".join(CREATE) + " --expires 0d", "Not a length of time: 0d: give a number and s, m"),
    (" ".join(CREATE) + " --expires 99999w", "Not a length of time: 99999w: give a number"),
    (" ".join(CREATE) + " --expires 2026-12-31", "Not a length of time: 2026-12-31"),
)


def test_a_mistake_is_one_line_that_says_what_to_do(
    run: Run, team: str, owner: psycopg.Connection
) -> None:
    before = read_all(owner)
    for arguments, complaint in MISTAKES:
        outcome = run(*arguments.split(" "), DATABASE_URL=team)

        assert outcome.code == 1
        assert outcome.complaint.startswith(complaint)
        assert read_all(owner) == before


def test_a_group_without_a_command_shows_its_help(run: Run) -> None:
    outcome = run("token")

    assert outcome.code == 2
    assert "rotate" in outcome.out
    assert outcome.err == ""


def test_lists_without_anything_say_how_to_begin(
    run: Run, url: str, owner: psycopg.Connection
) -> None:
    owner.execute("delete from token")
    owner.execute("delete from space_grant")

    grants, tokens = run("grant", "list", DATABASE_URL=url), run("token", "list", DATABASE_URL=url)

    assert "see `textrawl grant set --help`" in grants.err
    assert "see `textrawl token create --help`" in tokens.err
    assert ask(run, "token", "list", DATABASE_URL=url) == []


def test_a_database_of_another_version_is_left_alone(
    run: Run, url: str, owner: psycopg.Connection
) -> None:
    owner.execute("update code set fingerprint = 'older'")

    outcome = run("space", "create", "team", DATABASE_URL=url)

    assert outcome.code == 1
    assert outcome.complaint.endswith("run `textrawl migrate`")
    assert owner.execute("select name from space").fetchall() == [("default",)]


def test_an_embedded_memory_is_administered_by_whoever_runs_it(
    run: Run, data_dir: Path, postmasters: Callable[[], list[int]]
) -> None:
    assert run("space", "create", "team", DATA_DIR=data_dir).code == 0
    token = run(*CREATE, DATA_DIR=data_dir).out.strip()

    [row] = ask(run, "token", "list", DATA_DIR=data_dir)

    assert (row["prefix"], row["home"]) == (token[:10], "team")
    assert postmasters() == []


def test_no_memory_is_made_to_administer(run: Run, home: Path) -> None:
    outcome = run("space", "list", DATA_DIR=home / "data")

    assert outcome.complaint.startswith(f"There is no memory in {home / 'data'} yet")
    assert list(home.iterdir()) == []


@pytest.mark.slow
def test_the_first_space_makes_the_memory(run: Run, home: Path) -> None:
    outcome = run("space", "create", "diary", "--tier", "sensitive", DATA_DIR=home / "data")

    assert (outcome.code, outcome.err) == (0, "Created the sensitive graph diary.\n")


def test_a_space_is_made_with_a_language_and_changes_it(run: Run, url: str) -> None:
    created = run("space", "create", "amt", "--language", "German", DATABASE_URL=url)
    advice = "`textrawl embed start --provider encoder --model multilingual-e5-small-q4`, then"
    assert advice in created.err
    assert [row["language"] for row in ask(run, "space", "list", DATABASE_URL=url)] == [
        "german", "english"
    ]  # fmt: skip

    outcome = run("space", "language", "amt", "french", DATABASE_URL=url)

    assert outcome.err == "The language of amt is french now, german before.\n"
    again = ask(run, "space", "language", "amt", "French", DATABASE_URL=url)
    assert again == {
        "space": "amt", "former_language": "french", "new_language": "french", "documents": 0
    }  # fmt: skip


def test_whoever_changes_a_language_is_told_what_servers_do(
    run: Run, url: str, owner: psycopg.Connection
) -> None:
    owner.execute("select remember_fact('Ada', 'person', 'mag Äpfel')")
    outcome = run("space", "language", "default", "german", DATABASE_URL=url)

    assert outcome.err == (
        "The language of default is german now, english before. Servers rebuild 1 search document"
        " in the background; searches find all facts meanwhile.\n"
    )
    listed = run("space", "list", DATABASE_URL=url).out
    assert "rebuilding 1" in " ".join(listed.split())


def test_an_unknown_language_is_refused_with_what_to_do(run: Run, url: str) -> None:
    for command in (("create", "amt", "--language"), ("language", "default")):
        outcome = run("space", *command, "klingon", DATABASE_URL=url)

        assert outcome.complaint == (
            "No language klingon: use a text search configuration of this Postgres, such as german,"
            " or simple; `select cfgname from pg_ts_config` shows all"
        )
        [row] = ask(run, "space", "list", DATABASE_URL=url)
        assert (row["name"], row["language"]) == ("default", "english")


def test_a_server_s_administrator_changes_the_language_of_their_space(
    run: Run, postgres: Databases, database: str, team: str
) -> None:
    token = create(run, team, "--scope", "admin")
    server = postgres.cluster.dsn(APP, database)
    change = ("space", "language", "team", "german")

    refused = run("space", "language", "default", "german", DATABASE_URL=server, ACCESS_TOKEN=token)
    changed = run(*change, DATABASE_URL=server, ACCESS_TOKEN=token)

    assert refused.code == 1
    assert changed.err == "The language of team is german now, english before.\n"
