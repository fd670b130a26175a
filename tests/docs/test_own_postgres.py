"""docs/own-postgres.md on a server whose owner is no superuser, and its files for systemd."""

import shlex
import shutil
import subprocess
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import anyio
import psycopg
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from psycopg.conninfo import make_conninfo

from tests.support.commands import Run
from tests.support.folders import open_folder
from tests.support.pages import ROOT, read_commands
from textrawl import Settings, create_server
from textrawl.embedded.cluster import Cluster, run_embedded
from textrawl.embedded.postmaster import SUPERUSER

PAGE = ROOT / "docs/own-postgres.md"
UNITS = sorted((ROOT / "compose/systemd").iterdir())


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    """A Postgres without any role of ours; servers have to know their password."""
    with (
        open_folder() as folder,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(run_embedded(folder)) as cluster,
    ):
        rules = "local all textrawl_app scram-sha-256\nlocal all all trust\n"
        (cluster.data / "pg_hba.conf").write_text(rules, encoding="utf-8")
        execute(cluster, "select pg_reload_conf()", "drop database textrawl")
        for name in ("textrawl_app", "textrawl_analyst", "textrawl_owner"):
            execute(cluster, f"drop owned by {name}", f"drop role {name}")
        yield cluster


def execute(cluster: Cluster, *statements: str, database: str = "postgres") -> None:
    with psycopg.connect(cluster.dsn(SUPERUSER, database), autocommit=True) as superuser:
        for statement in statements:
            superuser.execute(statement.encode())


def make_database(cluster: Cluster, name: str, owner: str, *, rights: str = "") -> str:
    """Conninfo of a database with pgvector for a new owner who is no superuser."""
    execute(cluster, f"create role {owner} login {rights}", f"create database {name} owner {owner}")
    execute(
        cluster,
        "create schema extensions",
        "create extension vector schema extensions",
        f"grant usage on schema extensions to {owner}",
        database=name,
    )
    return cluster.dsn(owner, name)


async def use(settings: Settings) -> str:
    fact = {"entityName": "Ada", "entityType": "person", "observation": "plays the theremin"}
    async with Client(create_server(settings)) as client:
        assert not (await client.call_tool("remember_fact", fact)).is_error
        return str((await client.call_tool("query_memory", {"query": "theremin"})).content)


def test_an_owner_who_may_create_roles_needs_migrate_alone(server: Cluster, run: Run) -> None:
    owner = make_database(server, "hosted", "tenant", rights="createrole")
    refused = run("migrate", DATABASE_URL=make_database(server, "shared", "plain"))
    assert refused.code == 1
    assert "create role textrawl_app login password '...'; create role textrawl_analyst" in (
        refused.complaint
    )

    migrated = run("migrate", "--login", DATABASE_URL=owner)
    assert migrated.code == 0, migrated.err
    again = run("migrate", "--login", DATABASE_URL=owner)
    assert (again.code, "can log in already" in again.err) == (1, True)
    words = "token create --actor ana --space default --scope read,write,forget"
    token = run(*words.split(), DATABASE_URL=owner)
    assert token.code == 0, token.err
    url, secret = migrated.out.strip(), token.out.split()[0]
    found = anyio.run(use, Settings(database_url=url, access_token=secret))  # pyright: ignore[reportArgumentType]
    assert "plays the theremin" in found
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(make_conninfo(url, password="another"))

    # The other owner, who may create none, finds them there now.
    assert run("migrate", DATABASE_URL=server.dsn("plain", "shared")).code == 0


def test_migrating_takes_no_password_and_no_right_from_anybody(server: Cluster, run: Run) -> None:
    execute(server, "create role somebody login superuser password 'theirs'")
    execute(server, "create database plain_one")
    execute(server, "create extension vector", database="plain_one")
    query = """
        select rolname, rolsuper, rolcanlogin, rolcreaterole, rolbypassrls, rolpassword
        from pg_authid where rolname !~ '^textrawl_' order by 1"""
    access = "select datname, datacl::text, datdba from pg_database where datname <> 'plain_one'"
    with psycopg.connect(server.dsn(SUPERUSER, "postgres"), autocommit=True) as superuser:
        before = [superuser.execute(text.encode()).fetchall() for text in (query, access)]
        outcome = run("migrate", DATABASE_URL=server.dsn("somebody", "plain_one"))
        assert outcome.code == 0, outcome.err
        assert before == [superuser.execute(text.encode()).fetchall() for text in (query, access)]
        public = "select has_database_privilege('public', 'plain_one', 'connect')"
        assert superuser.execute(public.encode()).fetchone() == (True,)


def test_the_commands_of_the_page_are_commands_that_there_are(run: Run) -> None:
    ours = [
        line.split("textrawl ", 1)[1] for line in read_commands(PAGE) if "bin/textrawl " in line
    ]
    named = {shlex.split(line)[0] for line in ours}

    assert named == {"migrate", "token", "restore", "space"}
    for words in named:
        assert run(words, "--help").code == 0


def test_units_of_systemd_are_sound(tmp_path: Path) -> None:
    for unit in UNITS:
        parsed = ConfigParser(strict=False, interpolation=None)
        parsed.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
        parsed.read_string(unit.read_text(encoding="utf-8"))
        assert parsed["Unit"]["Description"]
        text = unit.read_text(encoding="utf-8").replace(
            "/opt/textrawl/.venv/bin/textrawl", "/bin/true"
        )
        (tmp_path / unit.name).write_text(text, encoding="utf-8")
        assert unit.name in " ".join(read_commands(PAGE))
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze on this machine")
    done = subprocess.run(
        ["systemd-analyze", "verify", *(tmp_path / unit.name for unit in UNITS)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    complaints = [line for line in done.stderr.splitlines() if "textrawl" in line]
    assert (done.returncode, complaints) == (0, [])
