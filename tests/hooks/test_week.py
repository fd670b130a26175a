"""A week of two clients, from their transcripts to an answer."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.attacks.site import issue
from tests.hooks.week import DAYS, Week, find_facts
from tests.support.commands import Launch, Run, name_memory
from tests.support.llm_server import LlmServer

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(find_facts) as server:
        yield server


@pytest.fixture
def week(
    run: Run,
    launch: Launch,
    owner: psycopg.Connection,
    database_url: str,
    server: LlmServer,
    tmp_path: Path,
) -> Week:
    """A memory with an LLM that nothing uses yet, for hooks, commands and servers."""
    llm = {"LLM_PROVIDER": "openai", "LLM_BASE_URL": server.openai_url, "LLM_MODEL": "m"}
    values = name_memory(database_url, DATA_DIR=str(tmp_path / "data"), HOOKS="capture", **llm)
    rita = issue(owner, "rita", "default", "read", "write", "review")
    reviewer = {**values, "ACCESS_TOKEN": rita}
    return Week(run, launch, owner, server, values, reviewer, tmp_path)


def test_a_week_is_captured_proposed_reviewed_and_found_again(week: Week) -> None:
    figures = week.play()

    days = len(DAYS)
    assert figures._replace(requests=0, tokens_in=0, tokens_out=0) == (
        2 * days, 0, 0, days, days - 1, 1, 0, days - 1, 0, 0
    )  # fmt: skip
    assert figures.requests == days
    assert 0 < figures.tokens_out < figures.tokens_in < 1_000
    listed = week.fetch("select content, evidence from proposal order by content")
    assert [fact for fact, _ in listed] == sorted(day.fact for day in DAYS)
    assert all(fact in said for fact, said in listed)
