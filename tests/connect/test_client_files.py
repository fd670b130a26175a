"""The files of clients that `textrawl connect` changes, leaves alone, or cannot change."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.connect.conftest import Textrawl, list_files, read_entry, write


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("claude-code", '{"a": 1} // c', "reads JSON without comments"),
        ("cursor", '{"mcpServers": [', "a value is missing before the end"),
        ("cursor", '{"mcpServers": "x"}', "is not an object"),
        ("codex", "mcp_servers = 3", "is not an object"),
        ("codex", "[a\n", "is not understood"),
    ],
)
def test_a_file_that_is_not_understood_is_left_alone(
    textrawl: Textrawl, locate: Callable[[str], Path], name: str, text: str, reason: str
) -> None:
    path = locate(name)
    before = write(path, text)

    outcome = textrawl("connect", name, "--yes")

    assert outcome.code == 1
    assert f"{path} was not changed" in outcome.complaint
    assert reason in outcome.complaint
    assert path.read_bytes() == before
    assert list_files(path.parent) == [path.name]


def test_a_file_that_is_no_utf8_or_no_file_is_left_alone(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    path = locate("cursor")
    write(path, "")
    path.write_bytes("{}".encode("utf-16"))
    locate("zed").mkdir(parents=True)

    assert "it is not UTF-8" in textrawl("connect", "cursor", "--yes").complaint
    assert "it is not a regular file" in textrawl("connect", "zed", "--yes").complaint


def test_a_link_stays_and_its_target_is_changed(
    textrawl: Textrawl, home: Path, locate: Callable[[str], Path]
) -> None:
    target = home / "dotfiles/cursor.json"
    before = write(target, "{}\n")
    path = locate("cursor")
    path.parent.mkdir()
    path.symlink_to(target)

    textrawl("connect", "cursor", "--yes")
    entry = read_entry("cursor", target)
    textrawl("disconnect", "cursor", "--yes")

    assert entry
    assert path.is_symlink()
    assert target.read_bytes() == before


def test_a_copy_of_the_file_is_kept_beside_it_and_no_other_file_is_overwritten(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    path = locate("cursor")
    before = write(path, '{"a": 1}')
    first = path.with_name("mcp.json.textrawl-backup")
    first.write_text("not ours", "utf-8")

    textrawl("connect", "cursor", "--yes")
    textrawl("connect", "cursor", "--set", "SPACE=notes", "--yes")
    second = path.with_name("mcp.json.textrawl-backup-1")
    held = second.read_bytes()
    textrawl("disconnect", "cursor", "--yes")

    assert held == before
    assert not second.exists()
    assert first.read_text("utf-8") == "not ours"


def test_secrets_of_others_are_not_in_the_difference(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    secrets = ["ghp_abcdefghij0123456789", "hunter2", "s3cr3t"]
    write(
        locate("cursor"),
        '{"mcpServers": {"x": {\n "env": {"GITHUB_TOKEN": "ghp_abcdefghij0123456789"},\n'
        ' "args": ["postgres://me:hunter2@host/db"], "password": "s3cr3t"\n}}}',
    )

    outcome = textrawl("connect", "cursor")

    assert "GITHUB_TOKEN" in outcome.out
    assert [secret for secret in secrets if secret in outcome.out] == []


def test_of_a_long_line_only_the_difference_is_shown(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    history = [{"display": f"question {number}", "api_key": "hunter2"} for number in range(20_000)]
    write(locate("claude-code"), json.dumps({"history": history}))

    lines = textrawl("connect", "claude-code").out.splitlines()

    assert len(lines) == 3
    assert lines[2].startswith('+, "mcpServers": {"textrawl": {"type": "stdio"')
    assert len(lines[2]) < 400


def test_a_file_that_was_removed_meanwhile_is_not_left_empty(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    path = locate("cursor")
    write(path, "{}")
    textrawl("connect", "cursor", "--yes")
    path.unlink()
    textrawl("connect", "cursor", "--yes")
    textrawl("disconnect", "cursor", "--yes")

    assert not path.exists()


def test_a_damaged_record_is_reported(textrawl: Textrawl, home: Path) -> None:
    textrawl("connect", "cursor", "--yes")
    [record] = (home / ".local/state/textrawl/connections").iterdir()
    record.write_text("{", "utf-8")

    assert "is damaged: remove it" in textrawl("disconnect", "cursor", "--yes").complaint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_reported(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    path = locate("cursor")
    before = write(path, "{}")
    path.parent.chmod(0o500)

    outcome = textrawl("connect", "cursor", "--yes")

    path.parent.chmod(0o700)
    assert "cannot be written" in outcome.complaint
    assert path.read_bytes() == before
