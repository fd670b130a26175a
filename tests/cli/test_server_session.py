"""Commands with TEXTRAWL_SERVER_URL: the memory of a server, and never one of this machine."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest

from tests.attacks.site import issue
from tests.host.test_light_client import read_address
from tests.support.commands import Launch, Run, name_memory
from textrawl import __version__
from textrawl.cli.application import COMMANDS, PLACES

Member = Callable[..., dict[str, str]]


@pytest.fixture
def member(launch: Launch, owner: psycopg.Connection, database_url: str, home: Path) -> Member:
    """Makes the settings of somebody who has the address of a server and a token for it."""
    owner.execute("select create_space('team')")
    server = launch(
        *("serve", "--http", "--port", "0"), **name_memory(database_url, TOOLSETS="graph")
    )
    address = read_address(server)

    def enrol(name: str, *scopes: str) -> dict[str, str]:
        token = issue(owner, name, "team", *scopes)
        settings = {"SERVER_URL": address, "ACCESS_TOKEN": token, "DATA_DIR": str(home / "here")}
        return {f"TEXTRAWL_{name}": value for name, value in settings.items()}

    return enrol


def hash_folder(folder: Path) -> str:
    """The bytes of all files of a folder, with their names."""
    whole = sha256()
    for path in sorted(folder.rglob("*")):
        whole.update(str(path).encode() + (path.read_bytes() if path.is_file() else b""))
    return whole.hexdigest()


def test_each_command_has_a_place() -> None:
    assert set(PLACES) == set(COMMANDS)


def test_a_member_with_an_address_and_a_token_has_one_memory_which_is_that_of_the_server(
    run: Run, member: Member, data_dir: Path, owner: psycopg.Connection
) -> None:
    ben = member("ben", "read", "write", "forget") | {"TEXTRAWL_DATA_DIR": str(data_dir)}
    before = hash_folder(data_dir)

    stored = run("remember", "Kestrel", "is called K2 now", "--type", "project", **ben)
    found, recalled = run("search", "Kestrel", **ben), run("recall", "Kestrel", **ben)
    digest, shown = run("digest", **ben), run("show", "Kestrel", "--json", **ben)
    explained, counted = run("explain", "Kestrel", **ben), run("stats", "--json", **ben)
    named = run("entity", "alias", "add", "Kestrel", "K2", **ben)
    described = run("entity", "describe", "K2", "a project in Riga", **ben)
    plan = run("forget", "K2", "--dry-run", **ben)
    missing = run("forget", "Kestral", "--yes", **ben)
    gone = run("forget", "Kestrel", "--yes", **ben)
    doctor = run("doctor", **ben)

    assert stored.out.startswith("Remembered about Kestrel (project): ")
    assert found.out.split("\t")[1:4] == ["Kestrel", "project", "team"]
    assert all("is called K2 now" in outcome.out for outcome in (recalled, digest, plan))
    assert json.loads(shown.out)["observations"][0]["author"] == "ben"
    assert (explained.out[:9], gone.code) == ("returned\t", 0)
    assert json.loads(counted.out)["valid_facts"] == 1
    assert named.out == "K2 is a name of Kestrel\n"
    assert described.out == "Kestrel: a project in Riga\n"
    assert missing.complaint == "There is no entity Kestral: did you mean Kestrel?"
    assert f"textrawl {__version__}" in doctor.out
    assert "ben reads team; forget, read, write in team" in doctor.out
    assert owner.execute("select count(*) from observation").fetchone() == (0,)
    assert hash_folder(data_dir) == before


def test_a_reviewer_and_an_administrator_need_no_database_either(run: Run, member: Member) -> None:
    agent, rita = member("agent", "read", "propose"), member("rita", "read", "write", "review")
    root = member("root", "read", "admin")

    run("remember", "Kestrel", "ships on Thursdays", **agent)
    [waiting] = json.loads(run("review", "list", "--json", **rita).out)
    accepted = run("review", "accept", waiting["id"][:8], "--yes", **rita)
    revised = run("revise", "Kestrel", "ships on Thursdays", "--reason", "moved", **rita)
    events = [line.split("\t") for line in run("log", "--since", "1h", **root).out.splitlines()]
    plan = run("undo", "--by", "rita", "--since", "1h", "--dry-run", **root)
    undone = run("undo", "--by", "rita", "--since", "1h", "--yes", **root)
    back = run("undo", "--revert", "1", **root)

    assert accepted.err == "1 proposal accepted.\n"
    assert revised.out == "Revised Kestrel: ships on Thursdays\n"
    assert {(author, tool, client) for _, _, author, _, _, tool, client, _ in events} >= {
        ("rita", "textrawl revise", f"textrawl {__version__}"),
        ("rita", "textrawl review", f"textrawl {__version__}"),
    }
    assert "remove: ships on Thursdays" in plan.out
    assert undone.err.startswith("Undo 1 in team: 1 removed")
    assert back.err.startswith("Reverted undo 1 in team: ")


def test_commands_over_a_server_can_do_no_more_than_the_token(run: Run, member: Member) -> None:
    reader, writer = member("rita", "read"), member("wim", "write")
    run("remember", "Ada", "likes tea", **writer)
    refusals = {
        "forget": run("forget", "Ada", "--yes", **reader),
        "write": run("revise", "Ada", "likes tea", "--reason", "no", **reader),
        "review": run("review", "accept", "12345678", "--yes", **reader),
        "admin": run("log", **reader),
        "read": run("search", "tea", **writer),
    }
    for scope, refused in refusals.items():
        assert f"This needs the scope {scope}" in refused.complaint
    assert "likes tea" in run("search", "tea", **reader).out
    assert run("search", "tea", "--space", "default", **reader).complaint.startswith("Space not")


def test_a_command_that_needs_a_database_refuses_before_anything_local_is_read(
    run: Run, home: Path
) -> None:
    settings = {"TEXTRAWL_SERVER_URL": "http://127.0.0.1:9/mcp", "TEXTRAWL_DATA_DIR": home}
    home.chmod(0)
    try:
        for command, place in PLACES.items():
            if place == "database":
                refusal = run(command, **settings).complaint
                assert refusal.startswith(f"`textrawl {command}` needs a database"), command
        unreachable = run("show", "Ada", **settings)
    finally:
        home.chmod(0o700)
    assert unreachable.complaint.startswith("Server unreachable: http://127.0.0.1:9/mcp/t/commands")


def test_an_address_without_a_token_or_of_something_else_is_told(run: Run, member: Member) -> None:
    ben = member("ben", "read")
    elsewhere = ben | {"TEXTRAWL_SERVER_URL": ben["TEXTRAWL_SERVER_URL"].replace("/mcp", "/x")}
    without = {name: value for name, value in ben.items() if "TOKEN" not in name}
    wrong = ben | {"TEXTRAWL_ACCESS_TOKEN": ben["TEXTRAWL_ACCESS_TOKEN"][:-1]}
    placed = ben | {"TEXTRAWL_SERVER_URL": ben["TEXTRAWL_SERVER_URL"] + "/team"}

    assert "end" in run("search", "tea", **elsewhere).complaint
    assert "needs a token" in run("search", "tea", **without).complaint
    assert "unknown, expired or revoked" in run("search", "tea", **wrong).complaint
    assert run("doctor", **without).code == 1
    assert run("search", "tea", **placed).err == "Nothing found.\nNo fact has: tea.\n"
    assert "already names the space" in run("show", "Ada", "--space", "x", **placed).complaint
