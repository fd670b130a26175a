"""`textrawl analyst` and `textrawl psql`."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql as query
from psycopg.conninfo import make_conninfo

from tests.conftest import Databases
from tests.support.commands import Run, read_terminal
from textrawl.embedded.postmaster import APP, OWNER, SUPERUSER
from textrawl.postgres.connection import make_password, write_verifier
from textrawl.settings import read_foreign_environment

LOGIN = "ana_of_commands"


@pytest.fixture
def administrator(postgres: Databases, database: str) -> Iterator[str]:
    """DATABASE_URL of one who may make logins; the login that a test made is gone afterwards."""
    conninfo = postgres.cluster.dsn(SUPERUSER, database)
    yield conninfo
    with psycopg.connect(conninfo, autocommit=True) as superuser:
        superuser.execute("update textrawl.actor set role_name = null")
        superuser.execute(query.SQL("drop role if exists {}").format(query.Identifier(LOGIN)))


def tell(owner: psycopg.Connection) -> None:
    owner.execute("select remember_fact('Ada', 'person', 'drinks tea')")


def ask(run: Callable[..., subprocess.CompletedProcess[str]], *words: str) -> str:
    done = run(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


Psql = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run_psql() -> Psql:
    """`textrawl psql` in a process of its own, since psql writes past Python."""

    def go(*words: str, **environment: object) -> subprocess.CompletedProcess[str]:
        given = {name: str(value) for name, value in environment.items()}
        return subprocess.run(
            [sys.executable, "-m", "textrawl", "psql", *words],
            env=read_foreign_environment() | given,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return go


def test_an_analyst_gets_a_password_once_and_reads_the_space(
    run: Run, run_psql: Psql, owner: psycopg.Connection, administrator: str
) -> None:
    tell(owner)
    made = run("analyst", "create", LOGIN, "--space", "default", DATABASE_URL=administrator)
    assert re.fullmatch(r"[\w-]{32}\n", made.out)
    assert made.out.strip() not in made.err
    assert f"textrawl psql --as {LOGIN}" in made.err
    row = owner.execute(
        "select rolcanlogin, rolsuper, rolconnlimit from pg_roles where rolname = %s", (LOGIN,)
    ).fetchone()
    assert row == (True, False, 5)

    statement = "select session_user, content from memory_observations"
    seen = run_psql("--as", LOGIN, "-At", "-c", statement, DATABASE_URL=administrator)
    assert seen.stdout == f"{LOGIN}|drinks tea\n", seen.stderr
    wrote = run_psql("--as", LOGIN, "-c", "delete from observation", DATABASE_URL=administrator)
    assert wrote.returncode == 1
    assert "permission denied" in wrote.stderr or "read-only" in wrote.stderr


def test_an_analyst_as_json_is_one_document(run: Run, administrator: str) -> None:
    words = ["analyst", "create", LOGIN, "--space", "default", "--actor", "ana", "--json"]
    report = json.loads(run(*words, DATABASE_URL=administrator).out)
    assert (report["login"], report["actor"], report["spaces"]) == (LOGIN, "ana", ["default"])
    assert len(report["password"]) == 32

    again = run(*words, DATABASE_URL=administrator)
    assert again.code == 1
    assert f"The login {LOGIN} exists already" in again.err


def read_grants(owner: psycopg.Connection, actor: str) -> dict[str, list[str]]:
    rows = owner.execute(
        "select s.name, g.scopes from space_grant g join space s on s.id = g.space_id"
        " join actor a on a.id = g.actor_id where a.name = %s",
        (actor,),
    ).fetchall()
    return dict(rows)


def test_analysts_are_listed_and_dropped_with_what_they_were_granted(
    run: Run, owner: psycopg.Connection, administrator: str
) -> None:
    for space in ("team", "handbook", "notes"):
        owner.execute("select create_space(%s)", (space,))
    owner.execute("select grant_access('ana', 'team', array['read', 'write'])")
    owner.execute("select grant_access('ana', 'handbook', array['write'])")
    before = read_grants(owner, "ana")
    spaces = [word for name in ("team", "handbook", "notes") for word in ("--space", name)]
    run("analyst", "create", LOGIN, "--actor", "ana", *spaces, DATABASE_URL=administrator)
    listed = json.loads(run("analyst", "list", "--json", DATABASE_URL=administrator).out)
    assert listed == [
        {"login": LOGIN, "actor": "ana", "spaces": "handbook, notes, team", "sessions": 0,
         "most_sessions": 5}
    ]  # fmt: skip
    assert LOGIN in run("analyst", "list", DATABASE_URL=administrator).out
    owner.execute(query.SQL("grant select on token to {}").format(query.Identifier(LOGIN)))

    with psycopg.connect(make_conninfo(administrator, user=LOGIN)) as session:
        dropped = run("analyst", "drop", LOGIN, "--json", DATABASE_URL=administrator)
        assert json.loads(dropped.out) == {"login": LOGIN, "spaces": ["handbook", "notes"]}
        with pytest.raises(psycopg.OperationalError):
            session.execute("select 1")

    assert read_grants(owner, "ana") == before
    assert run("analyst", "list", DATABASE_URL=administrator).out == ""
    again = run("analyst", "drop", LOGIN, DATABASE_URL=administrator)
    assert again.complaint.startswith(f"No analyst has the login {LOGIN}")


def test_an_analyst_who_owns_something_is_not_dropped(
    run: Run, owner: psycopg.Connection, administrator: str
) -> None:
    run("analyst", "create", LOGIN, "--space", "default", DATABASE_URL=administrator)
    with psycopg.connect(administrator, autocommit=True) as superuser:
        superuser.execute(
            query.SQL("create schema report authorization {}").format(query.Identifier(LOGIN))
        )
        refused = run("analyst", "drop", LOGIN, DATABASE_URL=administrator)
        assert "schema report" in refused.complaint
        assert "reassign owned by" in refused.complaint
        assert read_grants(owner, LOGIN) == {"default": ["read"]}
        listed = json.loads(run("analyst", "list", "--json", DATABASE_URL=administrator).out)
        assert [row["login"] for row in listed] == [LOGIN]

        superuser.execute("drop schema report")
    assert run("analyst", "drop", LOGIN, DATABASE_URL=administrator).code == 0


def test_who_is_no_analyst_is_not_dropped(run: Run, administrator: str) -> None:
    for name in (APP, OWNER, SUPERUSER, "nobody_there"):
        refused = run("analyst", "drop", name, DATABASE_URL=administrator)
        assert refused.complaint.startswith(f"No analyst has the login {name}")


def test_whoever_may_make_logins_may_drop_those(
    run: Run, postgres: Databases, owner: psycopg.Connection, database: str
) -> None:
    """The owner of the memory with CREATEROLE, which is less than a superuser."""
    maker = "maker_of_logins"
    postgres.execute(
        "create role {maker} login createrole in role {owner}", maker=maker, owner=OWNER
    )
    postgres.execute("grant textrawl_analyst to {maker} with admin option", maker=maker)
    url = postgres.cluster.dsn(OWNER, database)
    identity = make_conninfo(url, user=SUPERUSER, options=f"-c role={maker}")
    try:
        with psycopg.connect(identity, autocommit=True) as session:
            session.execute(
                query.SQL("set session authorization {}").format(query.Identifier(maker))
            )
            session.execute("select textrawl.create_analyst(%s, 'ana', array['default'])", (LOGIN,))
            assert read_grants(owner, "ana") == {"default": ["read"]}
            session.execute("select textrawl.drop_analyst(%s)", (LOGIN,))
        assert read_grants(owner, "ana") == {}
    finally:
        postgres.execute("drop role if exists {login}", login=LOGIN)
        postgres.execute("drop role {maker}", maker=maker)


def test_what_cannot_be_made_is_said(run: Run, administrator: str) -> None:
    for name, space, message in (
        ("Ana Lyst", "default", "use 1 to 63 of a-z"),
        (LOGIN, "nowhere", "No space nowhere"),
    ):
        refused = run("analyst", "create", name, "--space", space, DATABASE_URL=administrator)
        assert refused.code == 1
        assert message in refused.err


def test_an_owner_who_may_not_make_logins_hears_who_may(
    run: Run, postgres: Databases, database: str
) -> None:
    url = postgres.cluster.dsn(OWNER, database)
    refused = run("analyst", "create", LOGIN, "--space", "default", DATABASE_URL=url)
    assert refused.code == 1
    assert "an administrator" in refused.complaint


def test_postgres_takes_the_password_by_what_was_told_of_it(administrator: str) -> None:
    password = make_password()
    with psycopg.connect(administrator, autocommit=True) as superuser:
        superuser.execute(
            "select textrawl.create_analyst(%s, 'ana', array['default'], %s)",
            (LOGIN, write_verifier(password)),
        )
        row = superuser.execute(
            "select rolpassword from pg_authid where rolname = %s", (LOGIN,)
        ).fetchone()
        text = superuser.pgconn.encrypt_password(
            password.encode(), LOGIN.encode(), b"scram-sha-256"
        ).decode()
    assert row is not None
    kind, rounds, _ = row[0].replace(":", "$").split("$", 2)
    assert (kind, rounds) == ("SCRAM-SHA-256", "4096")
    assert re.fullmatch(r"SCRAM-SHA-256\$4096:[\w+/=]{24}\$[\w+/=]{44}:[\w+/=]{44}", row[0])
    assert len(text) == len(row[0])


def test_a_verifier_is_what_libpq_makes_of_the_same_salt() -> None:
    # Made by PQencryptPasswordConn for the password "pencil" once.
    salt = bytes(range(16))
    verifier = write_verifier("pencil", salt)
    assert verifier.startswith("SCRAM-SHA-256$4096:AAECAwQFBgcICQoLDA0ODw==$")
    assert verifier == write_verifier("pencil", salt)
    assert verifier != write_verifier("pencil2", salt)


def test_psql_of_the_administrator_reads_alone(
    run_psql: Psql, owner: psycopg.Connection, administrator: str
) -> None:
    tell(owner)
    seen = run_psql(
        "-At",
        "-c",
        "select current_user, content from memory_observations",
        DATABASE_URL=administrator,
    )
    assert seen.stdout == "textrawl_analyst|drinks tea\n", seen.stderr
    for statement in ("delete from observation", "select remember_fact('Ada', 'person', 'x')"):
        assert run_psql("-c", statement, DATABASE_URL=administrator).returncode == 1
    assert owner.execute("select content from observation").fetchall() == [("drinks tea",)]


def test_psql_of_a_servers_login_says_how_to_become_an_analyst(
    run_psql: Psql, postgres: Databases, database: str
) -> None:
    refused = run_psql("-c", "select 1", DATABASE_URL=postgres.cluster.dsn(APP, database))
    assert refused.returncode == 1
    assert "The login textrawl_app is not an analyst" in refused.stderr
    assert "textrawl analyst create" in refused.stderr


def test_a_password_of_the_url_is_in_no_list_of_processes(
    run_psql: Psql, administrator: str
) -> None:
    url = make_conninfo(administrator, password="hush")
    seen = run_psql("-At", "-c", r"\! ps -ww -o args= -p $PPID", DATABASE_URL=url)
    assert "psql" in seen.stdout, seen.stderr
    assert "hush" not in seen.stdout
    assert "dbname=" in seen.stdout


def test_psql_passes_its_exit_code_on(run_psql: Psql, administrator: str) -> None:
    failing = ["-v", "ON_ERROR_STOP=1", "-f", "/nowhere"]
    assert run_psql(*failing, DATABASE_URL=administrator).returncode == 1
    assert run_psql("--as", "nobody_knows", DATABASE_URL=administrator).returncode == 2


def test_the_embedded_memory_opens_in_psql_with_a_banner_and_closes_with_it(
    run: Run, data_dir: Path, postmasters: Callable[[], list[int]]
) -> None:
    made = run("analyst", "create", LOGIN, "--space", "default", DATA_DIR=data_dir)
    assert (made.code, made.out) == (0, ""), made.err
    environment = read_foreign_environment() | {
        "DATA_DIR": str(data_dir),
        "TERM": "dumb",
        "PSQL_PAGER": "",
    }
    command = [sys.executable, "-m", "textrawl", "psql"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        os.write(ours, b"select current_user;\n\\pset expanded\n\\q\n")
        shown = read_terminal(ours).decode(errors="replace")
        assert process.wait(timeout=60) == 0, shown

    assert "memory_stale" in shown
    assert "textrawl_analyst" in shown
    assert "Expanded display is" in shown
    assert postmasters() == []


@pytest.mark.slow
def test_an_analyst_of_the_embedded_memory_sees_the_spaces_of_that_login(
    run: Run, run_psql: Psql, data_dir: Path
) -> None:
    run("space", "create", "other", DATA_DIR=data_dir)
    run("analyst", "create", LOGIN, "--space", "other", DATA_DIR=data_dir)
    statement = "select string_agg(name, ',' order by name) from space"
    assert run_psql("-At", "-c", statement, DATA_DIR=data_dir).stdout == "default,other\n"
    seen = run_psql("--as", LOGIN, "-At", "-c", statement, DATA_DIR=data_dir)
    assert seen.stdout == "other\n", seen.stderr


def test_psql_of_a_memory_that_is_not_there_makes_none(run: Run, home: Path) -> None:
    assert run("psql", DATA_DIR=home / "data").code == 1
    assert list(home.iterdir()) == []
