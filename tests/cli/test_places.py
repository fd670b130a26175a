"""`textrawl doctor --places`: what lies where, and what removes it."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import Launch, data_dir, home, launch, seed
from tests.support.folders import write_env
from textrawl.connect.clients import find_script
from textrawl.embedded.paths import SERVICE
from textrawl.settings import read_foreign_environment

__all__ = ["data_dir", "home", "launch", "seed"]


def describe_user(home: Path, **more: object) -> dict[str, str]:
    """The environment of a user with this home and no settings but these."""
    folders = {"HOME": home, "XDG_CONFIG_HOME": home / ".config", "XDG_STATE_HOME": home / ".state"}
    return {name: str(value) for name, value in (folders | more).items()}


def list_places(launch: Launch, **user: str) -> list[dict[str, str]]:
    outcome = launch("doctor", "--places", "--json", **user).end()
    assert (outcome.code, outcome.err) == (0, "")
    return json.loads(outcome.out)


def list_files(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


def follow(removal: str, user: dict[str, str]) -> None:
    """Run a command of the list, and answer its question with yes."""
    ours = f"{shlex.join(find_script())} disconnect --yes"
    command = removal.replace("textrawl disconnect", ours)
    subprocess.run(["sh", "-c", command], env=read_foreign_environment() | user, check=True)


@pytest.mark.slow
def test_following_the_list_leaves_nothing(launch: Launch, home: Path, data_dir: Path) -> None:
    """Everything but the program and the OS user, which is that of all memories of root."""
    own, project = home / "own", home / "project"
    own.mkdir()
    project.mkdir()
    user = describe_user(own, DATA_DIR=data_dir, EMBEDDING_PROVIDER="none")
    os.chdir(project)
    for words in (
        "remember Ada tea", "connect claude-code --with-hooks --yes", "connect codex --yes",
        "connect cursor --project --yes", "space create secret --tier sensitive", "trust",
    ):  # fmt: skip
        write_env("TEXTRAWL_SPACE=default\n")
        outcome = launch(*shlex.split(words), **user).end()
        assert outcome.code == 0, (words, outcome.err)
    (project / ".env").unlink()
    before = list_places(launch, **user)
    kept = ("program", "OS user")

    for place in before:
        if place["kind"] not in kept and place["exists"]:
            follow(place["removal"], user)
    after = list_places(launch, **user)

    clients = [Path(place["place"]).name for place in before if place["kind"] == "client"]
    assert clients == [".claude.json", "config.toml", "mcp.json"]
    assert {place["kind"] for place in after if place["exists"]} <= set(kept)
    assert list_files(own, project, data_dir) == []
    assert SERVICE in {place["place"] for place in before} or os.geteuid() != 0


def test_a_memory_elsewhere_is_named_without_its_password(launch: Launch, home: Path) -> None:
    url = "postgresql://ada:s3cret@db.example/memory"
    user = describe_user(home, DATABASE_URL=url, DATA_DIR=home / "data")

    [row] = [place for place in list_places(launch, **user) if place["kind"] == "memory"]
    lines = launch("doctor", "--places", **user).end().out.splitlines()

    assert (row["place"], row["exists"]) == ("user=ada host=db.example dbname=memory", None)
    assert all(line.count("\t") == 3 for line in lines)
    assert "s3cret" not in json.dumps(row) + "".join(lines)


def test_nothing_is_made_and_wrong_settings_do_not_matter(launch: Launch, home: Path) -> None:
    user = describe_user(home, HTTP_PORT="none")

    places = {place["kind"]: place for place in list_places(launch, **user)}

    folder = "/var/lib/textrawl" if os.geteuid() == 0 else str(home / ".local/share/textrawl")
    assert places["memory"]["place"] == folder
    assert places["demo"]["place"] == f"{folder}-demo"
    assert list(home.iterdir()) == []
