"""A week of two clients, from their transcripts to an answer, with servers that are killed."""

import re
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest

from tests.attacks.site import issue
from tests.hooks.sessions import Session
from tests.hooks.week import DAYS, count_bullets, find_facts, write_transcript
from tests.support.commands import Launch, Process, Run, name_memory, wait_for
from tests.support.llm_server import LlmServer
from textrawl.hooks.sessions import FOLDER
from textrawl.resident.client import find_address

pytestmark = pytest.mark.slow

WAITING: LiteralString = "select count(*) from extraction_pending"
Capture = Callable[[int], Session]


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(find_facts) as server:
        yield server


@pytest.fixture
def values(
    database_url: str, server: LlmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """The settings of hooks, commands and servers, with an LLM that nothing uses yet."""
    llm = {"LLM_PROVIDER": "openai", "LLM_BASE_URL": server.openai_url, "LLM_MODEL": "m"}
    values = name_memory(database_url, DATA_DIR=str(tmp_path / "data"), HOOKS="capture", **llm)
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return values


def capture(values: Mapping[str, str], folder: Path, day: int) -> Session:
    """End a session of one day, in the repository Harbour."""
    client, said, *_ = DAYS[day]
    folder = folder / "Harbour"
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    transcript = folder / f"{day}.jsonl"
    write_transcript(transcript, client, said)
    named = {f"TEXTRAWL_{name}": value for name, value in values.items()}
    session = Session(client, folder, named, transcript, patient=True)
    assert session.tell("end").is_silent
    return session


def fetch(owner: psycopg.Connection, query: LiteralString) -> list[tuple[Any, ...]]:
    return owner.execute(query).fetchall()


def test_a_week_is_captured_proposed_accepted_and_found_again_whenever_a_server_is_killed(
    values: dict[str, str],
    owner: psycopg.Connection,
    server: LlmServer,
    launch: Launch,
    run: Run,
    tmp_path: Path,
) -> None:
    start_without_the_switch(launch, values, tmp_path)
    assert (server.requests, fetch(owner, WAITING)) == ([], [(0,)])
    on = {**values, "PROPOSE_FACTS": "true"}
    kill_a_server_while_the_llm_works(launch("serve", **on), server, on, tmp_path)
    owner.execute("update extraction_pending set next_attempt = now()")
    second = launch("serve", **on)
    second.open()
    wait_for(lambda: fetch(owner, WAITING) == [(0,)])
    [(early,)] = fetch(owner, "select count(*) from proposal")

    sessions = [capture(on, tmp_path, day) for day in range(4, 7)]
    # As if hooks had ended before their last step.
    shutil.rmtree(find_address().folder / FOLDER)
    assert all(session.tell("end").is_silent for session in sessions)
    wait_for(lambda: fetch(owner, WAITING) == [(0,)])
    second.end()

    assert 0 < early < len(DAYS)
    expect_proposals(owner)
    review(owner, run)
    expect_answer(owner, run)


def kill_a_server_while_the_llm_works(
    first: Process, server: LlmServer, values: dict[str, str], folder: Path
) -> None:
    """Capture three sessions, and kill the server that reads them."""
    first.open()
    server.hold()
    for day in range(1, 4):
        capture(values, folder, day)
    server.wait_for_requests(1)
    first.end(signal.SIGKILL)
    server.release()


def expect_answer(owner: psycopg.Connection, run: Run) -> None:
    """Expect the fact as a fact, not only in the journal, and its cost."""
    found = run("recall", "Where does Grace live?").out
    assert re.search(r"^\d+ lives in Lisbon$", found, re.MULTILINE), found
    spent = fetch(owner, "select failures, tokens_in, tokens_out from llm_usage()")
    [(failures, tokens_in, tokens_out)] = spent
    assert (failures, 0 < tokens_out < tokens_in < 1_000) == (0, True)


def start_without_the_switch(launch: Launch, values: dict[str, str], folder: Path) -> None:
    """Let a server look for work while a session is captured."""
    server = launch("serve", **values)
    server.open()
    capture(values, folder, 0)
    server.end()


def expect_proposals(owner: psycopg.Connection) -> None:
    """Expect each text in the journal once, and a proposal for each fact, with its sentence."""
    texts = fetch(
        owner,
        "select v.content from document d join document_version v"
        " on v.document_id = d.id and v.version = d.version where d.kind = 'journal'",
    )
    assert sum(count_bullets(text) for (text,) in texts) == 2 * len(DAYS)
    assert "hidden" not in str(texts)
    listed = fetch(
        owner, "select entity_name, content, evidence from list_proposals() order by 1, 2"
    )
    assert [row[:2] for row in listed] == sorted((name, fact) for _, _, name, _, fact in DAYS)
    assert all(fact in said for _, fact, said in listed)


def review(owner: psycopg.Connection, run: Run) -> None:
    """Reject one proposal and accept the others, a week ago."""
    rita = {"ACCESS_TOKEN": issue(owner, "rita", "default", "read", "write", "review")}
    [(number,)] = fetch(owner, "select id::text from proposal where content ~ 'fish'")
    assert run("review", "reject", number, "--reason", "private", "--yes", **rita).code == 0
    assert run("review", "accept", "--by", "ada", "--yes", **rita).code == 0
    rates = fetch(owner, "select proposed, accepted, rejected from rate_proposals()")
    assert rates == [(len(DAYS), len(DAYS) - 1, 1)]
    owner.execute(
        "update observation set created_at = created_at - interval '7 days',"
        " said_at = said_at - interval '7 days'"
    )
