"""Sessions in repositories: commands, a client over stdio and hooks, each in a folder."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.attacks.site import issue
from tests.conftest import TOKEN
from tests.support.commands import Launch, Outcome, Process, Run
from tests.support.pipes import call
from tests.values.test_repository import make_repository
from textrawl.access.access_token import hash_token

URLS = {
    "api": "git@github.com:acme/api.git",
    "clone": "https://github.com/Acme/api",
    "api-v2": "https://github.com/acme/api-v2",
    "fork": "https://github.com/ben/api",
}
Say = Callable[..., Outcome]


@pytest.fixture
def say(run: Run, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Runs a command in a folder: one of URLS, or another one, which is in no repository."""
    for name, url in URLS.items():
        make_repository(tmp_path / name, url)
    (tmp_path / "plain").mkdir()

    def go(folder: str, *words: str) -> Outcome:
        monkeypatch.chdir(tmp_path / folder)
        return run(*words, DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)

    return go


def store(say: Say, *folders: str) -> None:
    for folder in folders:
        assert say(folder, "remember", "Deploy", f"the deploy runs on {folder}").code == 0


def test_a_command_finds_what_belongs_to_its_folder_and_everywhere_finds_all(say: Say) -> None:
    store(say, "api", "api-v2", "fork", "plain")

    for folder, found in (("clone", {"api"}), ("api-v2", {"api-v2"}), ("fork", {"fork"})):
        for command in ("search", "recall", "show", "digest"):
            words = () if command == "digest" else ("deploy",)
            out = say(folder, command, *words).out
            told = {name for name in (*URLS, "plain") if f"runs on {name}\n" in out + "\n"}
            assert told == {*found, "plain"}, (folder, command, out)
    everything = {"api", "api-v2", "fork", "plain"}
    for folder, *words in (
        ("plain", "search", "deploy"),
        *(("api", command, "--everywhere", "deploy") for command in ("search", "recall", "show")),
    ):
        out = say(folder, *words).out
        assert {name for name in everything if f"runs on {name}\n" in out} == everything


def test_here_shows_the_facts_of_this_repository_alone(say: Say) -> None:
    store(say, "api", "api-v2", "plain")

    assert say("plain", "here").code == 1
    assert "in no repository" in say("plain", "here").err
    here = json.loads(say("clone", "here", "--json").out)
    assert here["repository"] == "github.com/acme/api"
    assert [row["content"] for row in here["rows"]] == ["the deploy runs on api"]
    rows = [line.split("\t")[1:3] for line in say("plain", "here", "--everywhere").out.splitlines()]
    assert rows == [["github.com/acme/api-v2", "Deploy"], ["github.com/acme/api", "Deploy"]]
    assert "No fact of github.com/ben/api" in say("fork", "here").err


def test_here_names_the_undecided_proposals_of_this_repository(
    say: Say, owner: psycopg.Connection
) -> None:
    agent = hash_token(issue(owner, "agent", "default", "propose"))
    for table in ("space_grant", "token"):  # of who asks, a reviewer
        owner.execute(f"update {table} set scopes = scopes || '{{review}}'".encode())  # noqa: S608 - ours
    for place in ("github.com/acme/api", "github.com/acme/api-v2"):
        owner.execute("select set_config('textrawl.repository', %s, false)", (place,))
        for number in range(4):
            fact = f"proposal {number} of {place}"
            query = "select remember_fact('Deploy', 'project', %s, credential => %s)"
            owner.execute(query, (fact, agent))

    here = json.loads(say("clone", "here", "--json").out)

    told = [proposal["content"] for proposal in here["proposals"]]
    assert told == [f"proposal {number} of github.com/acme/api" for number in range(3)]
    lines = say("api", "here").err.splitlines()
    assert lines[0] == "Undecided: 4 proposals, textrawl review list"
    assert lines[1].endswith(" Deploy: proposal 0 of github.com/acme/api")
    assert "Undecided: 8 proposals" in say("plain", "here", "--everywhere").err
    assert "Undecided" not in say("fork", "here").err


def open_session(launch: Launch, database_url: str, folder: Path) -> Process:
    os.chdir(folder)
    process = launch("serve", DATABASE_URL=database_url, ACCESS_TOKEN=TOKEN)
    process.open()
    return process


def ask(process: Process, tool: str, **arguments: Any) -> str:
    return call(process, arguments.pop("number"), tool, **arguments)["result"]["content"][0]["text"]


def test_a_client_over_stdio_is_in_the_repository_of_its_folder(
    say: Say, launch: Launch, database_url: str, tmp_path: Path
) -> None:
    store(say, "plain")
    sessions = {name: open_session(launch, database_url, tmp_path / name) for name in URLS}
    for number, name in enumerate(("api", "api-v2", "fork"), 10):
        fact = {"entityName": "Deploy", "entityType": "concept"}
        text = f"the deploy runs on {name}"
        ask(sessions[name], "remember_fact", number=number, observation=text, **fact)

    for name, own in (("clone", "api"), ("api-v2", "api-v2"), ("fork", "fork"), ("api", "api")):
        for number, mode in enumerate(("search", "entity"), 20):
            asked = {"query": "deploy"} if mode == "search" else {"entityName": "Deploy"}
            text = ask(sessions[name], "query_memory", number=number, mode=mode, **asked)
            assert text.count("the deploy runs on") == 2, (name, text)
            assert f"runs on {own}" in text
            assert "runs on plain" in text
    named = ask(
        sessions["api"], "query_memory", number=30, mode="search", query="deploy of ben/api"
    )
    assert named.count("the deploy runs on") == 3
