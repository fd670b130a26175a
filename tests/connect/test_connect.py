"""`textrawl connect` and `disconnect`, on files of clients in a home of their own."""

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.connect.conftest import Textrawl, list_files, read_entry, write
from tests.support.commands import type_answer
from textrawl.connect.clients import CLIENTS, find_command

NAMES = sorted(CLIENTS)
URL = "https://memory.example.com/mcp"

# A file of each format as people write it, with a place for servers or without.
TEXTS = {
    "json": ['{\r\n\t"theme": "dark",\r\n\t"mcpServers": {"x": {"command": "y"}}\r\n}', "{}", ""],
    "jsonc": ['{\n  "a": [1, 2], // mine\n  /* b */ "c": {},\n}\n', '\ufeff{"a":1}', "{\n}"],
    "toml": ['# mine\nmodel = "x"\n\n[mcp_servers.x]\ncommand = "y" # z', "a = 1\r\n", "\ufeff"],
}
FILES = [(name, text) for name in NAMES for text in TEXTS[CLIENTS[name].format]]


def read_words(entry: dict[str, Any]) -> list[str]:
    """The command of an entry. opencode has the arguments in the same list."""
    command: Any = entry["command"]
    return [command, *entry["args"]] if isinstance(command, str) else command


@pytest.mark.parametrize("name", NAMES)
def test_a_client_without_a_file_gets_one_and_loses_it_again(
    textrawl: Textrawl, home: Path, locate: Callable[[str], Path], name: str
) -> None:
    connected = textrawl("connect", name, "--yes")
    entry = read_entry(name, locate(name))
    disconnected = textrawl("disconnect", name, "--yes")

    assert (connected.code, disconnected.code) == (0, 0)
    assert read_words(entry) == find_command()
    assert list_files(home) == []
    assert [path.name for path in home.iterdir()] == [".local"]


@pytest.mark.parametrize(("name", "text"), FILES)
def test_a_file_is_byte_for_byte_as_before(
    textrawl: Textrawl, home: Path, locate: Callable[[str], Path], name: str, text: str
) -> None:
    path = locate(name)
    before = write(path, text)
    path.chmod(0o640)

    textrawl("connect", name, "--yes")
    mode = path.stat().st_mode & 0o777
    entry = read_entry(name, path)
    textrawl("disconnect", name, "--yes")

    assert entry
    assert mode == path.stat().st_mode & 0o777 == 0o640
    assert path.read_bytes() == before
    assert list_files(home) == [str(path.relative_to(home))]


@pytest.mark.parametrize("name", NAMES)
def test_connecting_twice_changes_nothing(
    textrawl: Textrawl, locate: Callable[[str], Path], name: str
) -> None:
    textrawl("connect", name, "--yes")
    before = locate(name).read_bytes()

    again = textrawl("connect", name)

    assert again.code == 0
    assert again.out == ""
    assert "is already connected" in again.err
    assert locate(name).read_bytes() == before


def test_what_the_user_changed_elsewhere_stays(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    path = locate("cursor")
    write(path, '{\n  "mcpServers": {}, // servers\n}\n')
    textrawl("connect", "cursor", "--yes")
    changed = path.read_text("utf-8").replace("// servers", "// all servers\n  // and more")
    path.write_text(changed, "utf-8")

    textrawl("disconnect", "cursor", "--yes")

    assert path.read_text("utf-8") == ('{\n  "mcpServers": {}, // all servers\n  // and more\n}\n')


def test_a_program_that_writes_its_file_anew_does_no_harm(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    path = locate("claude-code")
    write(path, '{"numStartups": 1, "projects": {}}')
    textrawl("connect", "claude-code", "--yes")
    document = json.loads(path.read_text("utf-8")) | {"numStartups": 2}
    path.write_text(json.dumps(document, indent=4), "utf-8")

    textrawl("disconnect", "claude-code", "--yes")

    assert json.loads(path.read_text("utf-8")) == {"numStartups": 2, "projects": {}}


def test_an_entry_that_was_there_is_shown_replaced_and_restored(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    path = locate("cursor")
    before = write(path, '{"mcpServers": {"textrawl": {"command": "mine", "env": {"A": "b"}}}}')

    refused = textrawl("connect", "cursor")
    connected = textrawl("connect", "cursor", "--yes")
    replaced = read_entry("cursor", path)
    textrawl("disconnect", "cursor", "--yes")

    assert refused.code == 1
    assert '-{"mcpServers": {"textrawl": {"command": "mine"' in refused.out
    assert refused.err == "textrawl: Nothing was changed: without a terminal, add --yes\n"
    assert connected.code == 0
    assert replaced["command"] == find_command()[0]
    assert path.read_bytes() == before


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 130)])
def test_on_a_terminal_it_asks(
    textrawl: Textrawl, home: Path, locate: Callable[[str], Path], answer: str, code: int
) -> None:
    path = locate("cursor")
    before = write(path, "{}")
    done = type_answer(f"{answer}\n", "connect", "cursor", HOME=str(home))

    assert done.code == code
    assert "Write this? [y/N]" in done.err
    assert (path.read_bytes() == before) == (answer == "n")


def test_another_connection_replaces_the_first_and_both_are_taken_back(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    path = locate("gemini-cli")
    before = write(path, '{\n  "theme": "dark"\n}\n')

    textrawl("connect", "gemini-cli", "--yes")
    textrawl("connect", "gemini-cli", "--url", "http://127.0.0.1:8000/mcp", "--yes")
    entry = read_entry("gemini-cli", path)
    textrawl("disconnect", "gemini-cli", "--yes")

    assert entry == {"httpUrl": "http://127.0.0.1:8000/mcp"}
    assert path.read_bytes() == before


def test_an_entry_without_a_record_is_removed(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    path = locate("vscode")
    write(path, '{\n  "servers": {\n    "x": {},\n    "textrawl": {"command": "t"}\n  }\n}\n')

    outcome = textrawl("disconnect", "vscode", "--yes")

    assert path.read_text("utf-8") == '{\n  "servers": {\n    "x": {}\n  }\n}\n'
    assert "VS Code is disconnected" in outcome.err


def test_disconnecting_what_is_not_connected_changes_nothing(
    textrawl: Textrawl, home: Path
) -> None:
    outcome = textrawl("disconnect", "codex")

    assert outcome.code == 0
    assert "Codex is not connected" in outcome.err
    assert list_files(home) == []


def test_settings_are_added_to_those_that_the_client_needs(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    textrawl("connect", "codex", "--set", "TEXTRAWL_SPACE=notes", "--set", "read_only=true", "-y")

    text = locate("codex").read_text("utf-8")
    entry = tomllib.loads(text)["mcp_servers"]["textrawl"]
    assert (entry["required"], entry["startup_timeout_sec"]) == (True, 60)
    assert entry["env"] == {
        "TEXTRAWL_STRUCTURED_CONTENT": "off", "TEXTRAWL_SPACE": "notes",
        "TEXTRAWL_READ_ONLY": "true",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_only_settings_that_the_entry_lacks_are_named_as_unseen(
    textrawl: Textrawl, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable in ("TEXTRAWL_SPACE", "READ_ONLY", "TEXTRAWL_DIGEST_TOKENS"):
        monkeypatch.setenv(variable, "300" if variable.endswith("TOKENS") else "true")
    given = ("--set", "TEXTRAWL_SPACE=true", "--set", "read_only=true")

    some = textrawl("connect", name, *given, "-y").err
    none = textrawl("connect", name, *given, "--set", "DIGEST_TOKENS=300", "-y").err

    assert "these settings of this shell: TEXTRAWL_DIGEST_TOKENS. Repeat them" in some
    assert "these settings of this shell" not in none


@pytest.mark.parametrize("name", NAMES)
def test_a_client_that_does_not_start_without_the_server_says_so(
    textrawl: Textrawl, locate: Callable[[str], Path], name: str
) -> None:
    said = textrawl("connect", name, "-y").err

    required = "required" in read_entry(name, locate(name))
    assert ("`required = true`" in said, "does not start if the server cannot start" in said) == (
        (required, required)
    )
    assert required == (name == "codex")


def test_a_host_alone_stands_for_the_path_mcp(textrawl: Textrawl) -> None:
    printed = textrawl("connect", "codex", "--url", "https://memory.example.com/", "--print").out

    assert f'url = "{URL}"' in printed


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("cursor", "--set", "NO_SUCH=1"), 2, "is not a setting"),
        (("cursor", "--set", "SPACE"), 2, "is not a setting"),
        (("cursor", "--set", "ACCESS_TOKEN=trl_x"), 2, "is secret"),
        (("cursor", "--set", "DATABASE_URL=postgres://x"), 2, "is secret"),
        (("cursor", "--set", "READ_ONLY=perhaps"), 1, "READ_ONLY must be"),
        (("cursor", "--url", URL, "--set", "SPACE=x"), 2, "has its own settings"),
        (("cursor", "--url", "memory.example.com"), 2, "write an address"),
        (
            ("cursor", "--url", "https://ana:secret@example.com/mcp"),
            2,
            "must not contain a password",
        ),
        (("cursor", "--url", "http://example.com/mcp", "--token-keyring", "x"), 2, "only to https"),
        (("cursor", "--token-keyring", "x"), 2, "a token needs --url"),
        (("cursor", "--url", URL, "--token-file", "none"), 2, "is not a file"),
        (("codex", "--print", "--with-hooks"), 2, "leave --with-hooks out"),
        (("claude-desktop", "--url", URL), 1, "Settings, Connectors"),
        (("windsurf", "--project"), 1, "has no configuration for one project"),
        (("emacs",), 2, "is not one of claude-code"),
        ((), 2, "name a client"),
    ],
)
def test_what_cannot_be_done_is_refused(
    textrawl: Textrawl, home: Path, words: tuple[str, ...], code: int, reason: str
) -> None:
    outcome = textrawl("connect", *words, "--yes")

    assert outcome.code == code
    assert reason in outcome.complaint
    assert list_files(home) == []


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("vscode", "Library/Application Support/Code/User/mcp.json"),
        ("claude-desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("zed", ".config/zed/settings.json"),
        ("cursor", ".cursor/mcp.json"),
    ],
)
def test_macos_has_its_own_places(
    locate: Callable[[str], Path],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    place: str,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "darwin")
        found = locate(name)

    assert found == home / place


def test_the_entry_of_a_project_is_beside_that_of_the_user(textrawl: Textrawl, home: Path) -> None:
    textrawl("connect", "claude-code", "--yes")
    textrawl("connect", "claude-code", "--project", "--yes")
    entry = json.loads(Path(".mcp.json").read_text("utf-8"))["mcpServers"]["textrawl"]
    textrawl("disconnect", "claude-code", "--project", "--yes")

    assert entry["type"] == "stdio"
    assert not Path(".mcp.json").exists()
    assert (home / ".claude.json").exists()


def test_folders_that_clients_are_told_by_variables_are_used(
    textrawl: Textrawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CODEX_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("codex", "opencode", "claude-code"):
        textrawl("connect", name, "--yes")

    assert (tmp_path / "CODEX_HOME/config.toml").exists()
    assert (tmp_path / "XDG_CONFIG_HOME/opencode/opencode.json").exists()
    assert (tmp_path / "CLAUDE_CONFIG_DIR/.claude.json").exists()


def test_the_list_says_what_is_installed_and_connected(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    write(locate("zed"), "{ nothing")
    textrawl("connect", "cursor", "--yes")

    lines = textrawl("connect", "--list").out.splitlines()
    rows = {row["client"]: row for row in json.loads(textrawl("connect", "--list", "--json").out)}

    assert [line.split("\t")[0] for line in lines] == [*rows] == [*CLIENTS]
    assert f"cursor\tyes\tyes\tno\t{locate('cursor')}" in lines
    assert (rows["zed"]["installed"], rows["zed"]["connected"]) == (True, "unknown")
    assert (rows["qwen-code"]["installed"], rows["qwen-code"]["connected"]) == (False, "no")


def test_other_clients_get_an_entry_to_copy(textrawl: Textrawl, home: Path) -> None:
    printed = textrawl("connect", "emacs", "--print")

    entry = json.loads(printed.out)["mcpServers"]["textrawl"]
    assert read_words(entry) == find_command()
    assert list_files(home) == []


def test_scripts_get_json(textrawl: Textrawl, locate: Callable[[str], Path]) -> None:
    path = locate("cursor")
    write(path, "{}")
    first = json.loads(textrawl("connect", "cursor", "--yes", "--json").out)
    second = json.loads(textrawl("connect", "cursor", "--yes", "--json").out)
    third = json.loads(textrawl("disconnect", "cursor", "--yes", "--json").out)

    backup = f"{path}.textrawl-backup"
    same = {"client": "cursor", "files": [str(path)]}
    assert first == {**same, "changed": True, "backups": [backup]}
    assert second == {**same, "changed": False, "backups": []}
    assert third == {**same, "changed": True}
