"""Hooks with the memory of a server over HTTP."""

from pathlib import Path

import pytest

from tests.hooks.sessions import Session
from tests.support.commands import Launch, Run, wait_for
from tests.support.sockets import is_answered

pytestmark = pytest.mark.slow


def test_hooks_use_the_memory_of_a_server_over_http_and_no_fact_comes_twice(
    launch: Launch, run: Run, data_dir: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("remember", "Ada", "leads QA at Acme", DATA_DIR=data_dir).code == 0
    server = launch("serve", "--http", "--port", "0", "--insecure", DATA_DIR=data_dir)
    assert server.popen.stderr is not None
    address = next(line.split()[-1] for line in server.popen.stderr if "listens on" in line)
    settings = {"TEXTRAWL_SERVER_URL": address, "TEXTRAWL_DATA_DIR": str(home / "here")}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    launch("host", "remote", **settings)
    wait_for(is_answered)
    first, second = (Session("claude-code", home, settings) for _ in range(2))
    wait_for(lambda: Session("codex", home, settings).tell("start", source="startup").text)

    digest = first.tell("start", source="startup").text
    recalled = first.tell("prompt", prompt="Who leads QA at Acme?")
    alone = second.tell("prompt", prompt="Who leads QA at Acme?")

    assert "leads QA at Acme" in digest
    assert recalled.is_silent
    assert "leads QA at Acme" in alone.text
