"""`textrawl explore`: a link for the person at this machine, which signs in once."""

import signal
import socket
from pathlib import Path

import httpx2
import pytest

from tests.explorer.visiting import Browser, browse_own
from tests.support.commands import Launch, Run, data_dir, home, launch, run, seed
from textrawl.cli.commands import explore
from textrawl.errors import StartRefused

__all__ = ["data_dir", "home", "launch", "run", "seed"]

pytestmark = pytest.mark.slow


@pytest.mark.anyio
async def test_the_link_opens_the_memory_of_this_machine_once(
    data_dir: Path, launch: Launch
) -> None:
    launch("remember", "Ada", "likes tea", DATA_DIR=data_dir).end()
    process = launch("explore", DATA_DIR=data_dir)
    assert process.popen.stdout is not None
    link = process.popen.stdout.readline().strip()
    root, _, code = link.partition("/explore/sign-in?code=")

    async with httpx2.AsyncClient() as http, httpx2.AsyncClient() as other:
        first, second = Browser(root, http), Browser(root, other)
        await first.get("sign-in", code=code)
        opened = await first.post("sign-in", code=code)
        page = await first.get("search", q="tea")
        asked = await first.get("sql", statement="select content from memory_observations")
        await second.get("sign-in", code=code)
        again = await second.post("sign-in", code=code)
        token = await second.post("sign-in", token="trl_x")
    outcome = process.end(signal.SIGINT)

    assert root.startswith("http://127.0.0.1:")
    assert (opened.status_code, page.status_code) == (303, 200)
    assert ("likes tea" in page.text, "likes tea" in asked.text) == (True, True)
    assert (again.status_code, token.status_code) == (401, 401)
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.anyio
async def test_without_a_memory_the_first_page_says_what_to_do_and_an_upload_makes_the_graph(
    home: Path, launch: Launch
) -> None:
    async with browse_own(launch("explore", DATA_DIR=home / "none")) as browser:
        page = await browser.get("home")
        offered = await browser.get("documents")
        stored = await browser.follow(await browser.press(offered, "upload"))
        again = await browser.follow(await browser.press(stored, "upload"))

    assert "This memory is empty" in page.text
    assert "creates the graph documents" in offered.text
    assert ("Stored 1 document." in stored.text, "tea.md" in stored.text) == (True, True)
    assert "1 file known already" in again.text


def test_a_taken_port_is_explained(data_dir: Path, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = run("explore", "--port", str(port), DATA_DIR=data_dir)

    assert "is in use" in refused.complaint


def test_the_memory_of_a_demo_that_never_ran_is_not_opened(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEXTRAWL_DATA_DIR", str(home / "textrawl"))
    with pytest.raises(StartRefused, match="run `textrawl demo` first"):
        explore.explore(demo=True)

    assert capsys.readouterr().out == ""


def test_the_explorer_is_not_offered_to_people_without_tokens(home: Path, run: Run) -> None:
    outcome = run("serve", "--http", "--insecure", EXPLORER=True, DATA_DIR=home / "data")

    assert "leave out --insecure" in outcome.complaint
