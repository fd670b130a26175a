"""docs/hooks.md shows the events of each client, and a session with its cost in tokens."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hooks.conftest import Environment, open_memory
from tests.hooks.sessions import Said, Session
from tests.support.pages import ROOT, rewrite_generated, write_table
from textrawl.hooks.events import CLIENTS, Event, HookClient
from textrawl.wire.token_counter import choose_counter

PAGE = ROOT / "docs/hooks.md"
PARTS = {
    "start": "digest", "prompt": "recall", "compact": "capture", "stop": "remind", "end": "capture"
}  # fmt: skip
PROMPTS = (
    "Who leads QA at Acme?",
    "Please ask the lead of QA at Acme for a review",
    "fix the failing test",
)

Start = Callable[..., Session]


@pytest.fixture
def memory(seed: Path) -> Iterator[Environment]:
    """A memory of its own, because what others recall changes the digest."""
    with open_memory(seed) as values:
        yield values


def name_event(client: HookClient, part: str) -> str:
    """The client's event for a part of the hooks."""
    names = [f"`{event.name}`" for event in client.events if PARTS[event.kind] == part]
    if part == "remind" and client.reminds_at_prompt:
        names = [f"`{event.name}`" for event in client.events if event.kind == "prompt"]
    return ", ".join(names) or "-"


def write_events() -> str:
    """A row for each client."""
    parts = list(dict.fromkeys(PARTS.values()))
    rows = [
        [f"[{client.title}]({client.page})", *(name_event(client, part) for part in parts)]
        for client in CLIENTS.values()
    ]
    return write_table(["client", *parts], rows)


def describe(said: Said, label: str) -> list[str]:
    count = choose_counter().count(said.text)
    return [f"`{said.event.name}`", label, str(count) if said.text else "0"]


def write_session(session: Session) -> str:
    """A row for each event of a session, and below it what the model got."""
    said = [(session.tell("start", source="startup"), "-")]
    said += [(session.tell("prompt", prompt=prompt), f"“{prompt}”") for prompt in PROMPTS]
    said += [(session.tell("stop"), "-")]
    table = write_table(
        ["event of Claude Code", "prompt", "tokens"],
        [*(describe(*each) for each in said), ["together", "-", str(count_all(said))]],
    )
    texts = write_numbers("\n\n".join(each.text for each, _ in said if each.text))
    return f"{table}\n\nThe model got these texts:\n\n```text\n{texts}\n```"


def write_numbers(text: str) -> str:
    """Put a number that is the same in each run in place of the random number of each fence."""
    numbers = dict.fromkeys(re.findall(r"(?<=textrawl-memory-)[0-9]{9}", text))
    for number, shown in zip(numbers, ("417203985", "860514273"), strict=True):
        text = text.replace(number, shown)
    return text


def count_all(said: list[tuple[Said, str]]) -> int:
    count = choose_counter().count
    return sum(count(each.text) for each, _ in said if each.text)


def test_the_page_shows_the_events_and_a_session_as_they_are(start: Start) -> None:
    text = PAGE.read_text(encoding="utf-8")
    session = start("claude-code", DIGEST_TOKENS=100)

    written = rewrite_generated(
        text, {"events": write_events, "session": lambda: write_session(session)}
    )

    if os.environ.get("UPDATE_PAGES"):
        PAGE.write_text(written, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == written


def test_every_event_has_its_part() -> None:
    events: list[Event] = [event for client in CLIENTS.values() for event in client.events]

    assert {event.kind for event in events} == set(PARTS)
    assert all((event.form == "none") == (PARTS[event.kind] == "capture") for event in events)
