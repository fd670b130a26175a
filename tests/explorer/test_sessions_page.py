"""The page of sessions: what hooks gave the models, shown to the person at this machine alone."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.explorer.markup import Document
from tests.explorer.visiting import Browser, Place, browse_own
from tests.hooks.conftest import Environment, memory, start
from tests.hooks.sessions import Session
from tests.hooks.test_capture import WRITERS, write_transcript
from tests.support.commands import Launch, launch, run, seed

__all__ = ["launch", "memory", "run", "seed", "start"]
pytestmark = pytest.mark.anyio


@pytest.fixture
async def own_sessions(
    start: Callable[..., Session], memory: Environment, launch: Launch, tmp_path: Path
) -> AsyncIterator[Browser]:
    """The browser of somebody whose client began a session and asked a question."""
    transcript = tmp_path / "transcript.jsonl"
    session = start("claude-code", transcript, DIGEST_TOKENS=100)
    session.tell("start", source="startup")
    session.tell("prompt", prompt="Who leads QA at Acme?")
    talk = WRITERS["claude-code"]("Whom do I ask?", "Ask Ada: at Acme she leads QA.")
    now = {"timestamp": datetime.now(UTC).isoformat()}
    write_transcript(transcript, [line | now for line in talk])
    own = {name.removeprefix("TEXTRAWL_"): value for name, value in memory.items()}
    async with browse_own(launch("explore", **own)) as browser:
        yield browser


async def test_on_the_own_machine_the_page_shows_what_hooks_gave_a_model_at_which_event(
    own_sessions: Browser,
) -> None:
    listed = Document((await own_sessions.get("sessions")).text)
    link = next(link for link in listed.links if "/sessions?id=" in link)
    shown = Document((await own_sessions.http.get(f"{own_sessions.root}{link}")).text)
    unknown = await own_sessions.get("sessions", id="x")

    assert ("claude-code" in listed.prose, "Harbour" in listed.prose) == (True, True)
    assert "A session of claude-code in Harbour" in shown.prose
    assert shown.prose.index("start, ") < shown.prose.index("prompt, ")
    assert "leads QA at Acme" in shown.prose
    assert "said" in shown.prose
    assert "used in an answer" in shown.prose
    assert (listed.faults, shown.faults, unknown.status_code) == ([], [], 404)


async def test_a_server_shows_nobody_the_sessions_of_its_machine(
    start: Callable[..., Session], place: Place
) -> None:
    start("claude-code").tell("start", source="startup")
    async with place.browse("keeper") as browser:
        page = Document((await browser.get("sessions", id="x")).text)

    assert "on the machine of its person" in page.prose
    assert not any("?id=" in link for link in page.links)
