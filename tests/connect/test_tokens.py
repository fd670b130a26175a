"""A server at a URL: its token is referred to where the client can, and is never shown."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import keyring
from keyring.backend import KeyringBackend
from keyring.backends import null

from tests.connect.conftest import Textrawl, read_entry, write

TOKEN = "trl_0123456789abcdefghijklmnopqrstuvwxyz"
URL = "https://memory.example.com/mcp"

REFERENCES = {
    "claude-code": "\"$(cat {file})\"", "cursor": "Bearer ${{env:TEXTRAWL_ACCESS_TOKEN}}",
    "vscode": "Bearer ${{input:textrawl-token}}", "codex": "TEXTRAWL_ACCESS_TOKEN",
    "gemini-cli": "Bearer ${{TEXTRAWL_ACCESS_TOKEN}}", "opencode": "Bearer {{file:{file}}}",
    "windsurf": "Bearer ${{env:TEXTRAWL_ACCESS_TOKEN}}",
    "copilot-cli": "Bearer ${{TEXTRAWL_ACCESS_TOKEN}}",
    "qwen-code": "Bearer ${{TEXTRAWL_ACCESS_TOKEN}}",
}  # fmt: skip


def test_a_client_that_can_refer_to_a_token_does_not_get_it(
    textrawl: Textrawl, home: Path, locate: Callable[[str], Path]
) -> None:
    file = home / "token"
    write(file, f"{TOKEN}\n")
    for name in sorted(REFERENCES):
        path = locate(name)
        before = write(path, "")

        outcome = textrawl("connect", name, "--url", URL, "--token-file", str(file), "--yes")
        text, entry = path.read_text("utf-8"), read_entry(name, path)
        textrawl("disconnect", name, "--yes")

        assert REFERENCES[name].format(file=file) in str(entry)
        assert TOKEN not in text + outcome.out + outcome.err
        assert path.read_bytes() == before


def test_a_client_that_cannot_refer_to_a_token_gets_it_in_a_private_file(
    textrawl: Textrawl, home: Path, locate: Callable[[str], Path]
) -> None:
    file = home / "token"
    write(file, f"{TOKEN}\n")
    path = locate("zed")
    before = write(path, "{}")
    path.chmod(0o644)

    outcome = textrawl("connect", "zed", "--url", URL, "--token-file", str(file), "--yes")
    entry, mode = read_entry("zed", path), path.stat().st_mode & 0o777
    printed = textrawl("connect", "zed", "--url", URL, "--token-file", str(file), "--print")
    [record] = (home / ".local/state/textrawl/connections").iterdir()
    record_mode = record.stat().st_mode & 0o777
    textrawl("disconnect", "zed", "--yes")

    assert entry == {"url": URL, "headers": {"Authorization": f"Bearer {TOKEN}"}}
    assert (mode, record_mode) == (0o600, 0o600)
    assert TOKEN not in outcome.out + outcome.err + printed.out
    assert "The file contains the token" in outcome.err
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (before, 0o644)


@contextmanager
def use_keyring(backend: KeyringBackend) -> Generator[None]:
    """Make `backend` the keyring of this process."""
    usual = keyring.get_keyring()
    keyring.set_keyring(backend)
    try:
        yield
    finally:
        keyring.set_keyring(usual)


def test_the_token_of_the_keyring_is_found(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    words = ("--url", URL, "--token-keyring", "textrawl:ana", "--yes")

    with use_keyring(null.Keyring()):
        complaint = textrawl("connect", "zed", *words).complaint
    assert "run `keyring set textrawl ana` first" in complaint
    assert textrawl("connect", "claude-code", *words).code == 0
    assert "-m keyring get textrawl ana" in str(read_entry("claude-code", locate("claude-code")))


class Drawer(KeyringBackend):
    """A keyring that holds one token."""

    priority = 1  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def get_password(self, service: str, username: str) -> str | None:
        return TOKEN if (service, username) == ("textrawl", "ana") else None

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError


def test_a_token_of_the_keyring_is_written_where_no_reference_is_possible(
    textrawl: Textrawl, locate: Callable[[str], Path]
) -> None:
    with use_keyring(Drawer()):
        outcome = textrawl("connect", "zed", "--url", URL, "--token-keyring", "textrawl:ana", "-y")

    assert read_entry("zed", locate("zed"))["headers"] == {"Authorization": f"Bearer {TOKEN}"}
    assert TOKEN not in outcome.out + outcome.err
