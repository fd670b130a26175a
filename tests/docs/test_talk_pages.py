"""Pages of talks, which programs go through as a newcomer does: identity, session and time."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import psycopg
import pytest
from mcp import Client
from mcp.types import Implementation, TextContent

from tests.docs.test_readme import keep_up_to_date
from tests.support.answer_readers import open_fence
from tests.support.pages import ROOT, rewrite_talks
from textrawl import Settings, create_server

pytestmark = pytest.mark.anyio

IDENTITY, SESSION, TIME = (ROOT / f"docs/{name}.md" for name in ("identity", "session", "time"))
PROGRAMS = {"claude": "claude-code", "codex": "codex-mcp-client", "compact": "model"}
TOOLSETS = ["memory", "identity", "journal"]


@pytest.fixture
async def clients(settings: Callable[..., Settings]) -> AsyncIterator[dict[str, Client]]:
    """Connect the programs of the pages, each to a server of its own on one database."""
    async with AsyncExitStack() as stack:
        made = dict[str, Client]()
        for word, name in PROGRAMS.items():
            server = create_server(settings(structured_content="off", toolsets=TOOLSETS))
            program = Client(server, client_info=Implementation(name=name, version="1"))
            made[word] = await stack.enter_async_context(program)
        yield made


async def talk(text: str, clients: dict[str, Client]) -> str:
    """Return the text of a page with the answers that the programs get now."""

    async def ask(word: str) -> Client:
        return clients[word]

    return await rewrite_talks(text, ask)


async def test_two_editors_share_what_the_page_says(clients: dict[str, Client]) -> None:
    written = await talk(IDENTITY.read_text(encoding="utf-8"), clients)
    [message] = (await clients["claude"].get_prompt("identity")).messages

    assert f"TEXTRAWL_TOOLSETS={','.join(TOOLSETS)}" in written
    assert isinstance(message.content, TextContent)
    assert open_fence(message.content.text) == (
        "<my_identity>\nI plan Ada's days. I am brief.\n\n## Rules\n- I ask before I delete "
        "anything.\n\n- I keep Sundays free.\n</my_identity>\n\n"
        "<user_identity>\nAda is a nurse in Riga.\n</user_identity>"
    )
    keep_up_to_date(IDENTITY, written)


async def test_the_session_goes_as_its_page_says_and_the_log_names_both_programs(
    clients: dict[str, Client], owner: psycopg.Connection
) -> None:
    written = await talk(SESSION.read_text(encoding="utf-8"), clients)
    rows = owner.execute("select distinct client from event").fetchall()

    tuesday = written.partition("## Tuesday")[2]
    assert "Tomás reviews every migration" in tuesday
    assert "Priya reviews every migration" not in tuesday
    assert {client.removesuffix(" 1") for (client,) in rows} == {"claude-code", "codex-mcp-client"}
    keep_up_to_date(SESSION, written)


async def test_the_life_goes_as_its_page_says(clients: dict[str, Client]) -> None:
    keep_up_to_date(TIME, await talk(TIME.read_text(encoding="utf-8"), clients))
