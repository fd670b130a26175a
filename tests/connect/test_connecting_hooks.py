"""`connect --with-hooks` adds hooks beside the server, and `disconnect` takes them back too."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.connect.conftest import Textrawl, list_files
from textrawl.connect.clients import CLIENTS, Addition, find_script
from textrawl.connect.edits import is_made
from textrawl.hooks.events import CLIENTS as HOOKED
from textrawl.hooks.plugins import find_additions

URL = "https://memory.example.com/mcp"


def find_hooks(name: str, home: Path, **settings: str) -> list[tuple[Path, Addition]]:
    """The hooks of a client, with their files in this home."""
    return [
        (home / str(hook.path).removeprefix("~/"), hook)
        for hook in find_additions(name, find_script(), settings)
    ]


def is_connected(name: str, home: Path, **settings: str) -> bool:
    hooks = find_hooks(name, home, **settings)
    assert hooks
    return all(file.exists() and is_made(file.read_text("utf-8"), hook) for file, hook in hooks)


@pytest.mark.parametrize("name", sorted(HOOKED))
def test_hooks_are_added_and_taken_back_byte_for_byte(
    textrawl: Textrawl, home: Path, name: str
) -> None:
    file = find_hooks(name, home)[0][0]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{\n\t"hooks": {}\r\n}', "utf-8", newline="")
    before = file.read_bytes()

    textrawl("connect", name, "--with-hooks", "--yes")
    made = is_connected(name, home)
    rows = json.loads(textrawl("connect", "--list", "--json").out)
    again = textrawl("connect", name)
    textrawl("disconnect", name, "--yes")

    assert made
    assert {row["client"] for row in rows if row["hooks"] == "yes"} == {name}
    assert "is already connected" in again.err
    assert file.read_bytes() == before
    assert list_files(home) == [str(file.relative_to(home))]


def test_hooks_that_others_added_stay(textrawl: Textrawl, home: Path) -> None:
    file = find_hooks("claude-code", home)[0][0]
    theirs = {"hooks": [{"type": "command", "command": "make lint"}]}
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"hooks": {"SessionStart": [theirs]}}), "utf-8")

    textrawl("connect", "claude-code", "--with-hooks", "--yes")
    document = json.loads(file.read_text("utf-8"))
    document["hooks"]["SessionStart"].append(theirs)
    file.write_text(json.dumps(document, indent=2), "utf-8")
    textrawl("disconnect", "claude-code", "--yes")

    left = json.loads(file.read_text("utf-8"))
    assert left == {"hooks": {"SessionStart": [theirs, theirs]}}


def test_hooks_follow_when_the_server_is_connected_anew(textrawl: Textrawl, home: Path) -> None:
    textrawl("connect", "cursor", "--with-hooks", "--yes")
    textrawl("connect", "cursor", "--url", URL, "--yes")
    rows = json.loads(textrawl("connect", "--list", "--json").out)

    assert is_connected("cursor", home, TEXTRAWL_SERVER_URL=URL)
    assert not is_connected("cursor", home)
    assert [row["client"] for row in rows if row["hooks"] == "yes"] == ["cursor"]


def test_hooks_get_the_address_and_the_settings_of_the_server(
    textrawl: Textrawl, home: Path, locate: Callable[[str], Path]
) -> None:
    token = home / "token"
    token.write_text("trl_abc", "utf-8")
    textrawl("connect", "codex", "--with-hooks", "--set", "SPACE=notes", "--yes")
    over_stdio = is_connected("codex", home, TEXTRAWL_SPACE="notes")
    words = ("--url", URL, "--token-file", str(token), "--with-hooks", "--yes")
    textrawl("connect", "codex", *words)
    address = {"TEXTRAWL_SERVER_URL": URL, "TEXTRAWL_ACCESS_TOKEN_FILE": str(token)}

    assert over_stdio
    assert is_connected("codex", home, **address)
    assert not is_connected("codex", home, TEXTRAWL_SPACE="notes")
    assert "bearer_token_env_var" in locate("codex").read_text("utf-8")


def test_hooks_are_in_the_folder_that_a_variable_names(
    textrawl: Textrawl, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude"))

    textrawl("connect", "claude-code", "--with-hooks", "--yes")
    files = list_files(home / "claude")
    textrawl("disconnect", "claude-code", "--yes")

    assert files == [".claude.json", "settings.json"]
    assert list_files(home) == []


@pytest.mark.parametrize("name", sorted({*CLIENTS} - {*HOOKED}))
def test_a_client_without_hooks_says_so(textrawl: Textrawl, home: Path, name: str) -> None:
    outcome = textrawl("connect", name, "--with-hooks", "--yes")

    assert f"textrawl has no hooks for {CLIENTS[name].title}" in outcome.complaint
    assert list_files(home) == []


def test_hooks_are_not_for_one_project(textrawl: Textrawl) -> None:
    outcome = textrawl("connect", "cursor", "--with-hooks", "--project", "--yes")

    assert "Hooks are for all projects" in outcome.complaint
