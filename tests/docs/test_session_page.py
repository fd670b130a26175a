"""docs/session.md: what is remembered in one client is found in another."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import psycopg
import pytest
from mcp import Client
from mcp.types import Implementation

from tests.docs.test_readme import keep_up_to_date
from tests.support.pages import ROOT, rewrite_talks
from textrawl import Settings, create_server

pytestmark = pytest.mark.anyio

PAGE = ROOT / "docs/session.md"
PROGRAMS = {"claude": "claude-code", "codex": "codex-mcp-client"}


@pytest.fixture
async def clients(settings: Callable[..., Settings]) -> AsyncIterator[dict[str, Client]]:
    """Connect the two programs of the page, each to a server of its own on one database."""
    async with AsyncExitStack() as stack:
        made = dict[str, Client]()
        for word, name in PROGRAMS.items():
            server = create_server(settings(structured_content="off"))
            program = Client(server, client_info=Implementation(name=name, version="1"))
            made[word] = await stack.enter_async_context(program)
        yield made


async def test_the_session_goes_as_its_page_says_and_the_log_names_both_programs(
    clients: dict[str, Client], owner: psycopg.Connection
) -> None:
    async def ask(word: str) -> Client:
        return clients[word]

    written = await rewrite_talks(PAGE.read_text(encoding="utf-8"), ask)
    rows = owner.execute("select distinct client from event").fetchall()

    tuesday = written.partition("## Tuesday")[2]
    assert "Tomás reviews every migration" in tuesday
    assert "Priya reviews every migration" not in tuesday
    assert {client.removesuffix(" 1") for (client,) in rows} == set(PROGRAMS.values())
    keep_up_to_date(PAGE, written)
