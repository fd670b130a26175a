"""docs/identity.md: two programs share one identity and one journal, as a newcomer follows it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest
from mcp import Client
from mcp.types import Implementation, TextContent

from tests.docs.test_readme import keep_up_to_date
from tests.support.answer_readers import open_fence
from tests.support.pages import ROOT, rewrite_talks
from textrawl import Settings, create_server

pytestmark = pytest.mark.anyio

PAGE = ROOT / "docs/identity.md"
PROGRAMS = {"claude": "claude-code", "codex": "codex-mcp-client"}
TOOLSETS = ["memory", "identity", "journal"]


@pytest.fixture
async def clients(settings: Callable[..., Settings]) -> AsyncIterator[dict[str, Client]]:
    """Connect the two programs of the page, each to a server of its own on one database."""
    async with AsyncExitStack() as stack:
        made = dict[str, Client]()
        for word, name in PROGRAMS.items():
            server = create_server(settings(structured_content="off", toolsets=TOOLSETS))
            program = Client(server, client_info=Implementation(name=name, version="1"))
            made[word] = await stack.enter_async_context(program)
        yield made


async def test_two_editors_share_what_the_page_says(clients: dict[str, Client]) -> None:
    async def ask(word: str) -> Client:
        return clients[word]

    written = await rewrite_talks(PAGE.read_text(encoding="utf-8"), ask)
    [message] = (await clients["claude"].get_prompt("identity")).messages

    assert f"TEXTRAWL_TOOLSETS={','.join(TOOLSETS)}" in written
    assert isinstance(message.content, TextContent)
    assert open_fence(message.content.text) == (
        "<my_identity>\nI plan Ada's days. I am brief.\n\n## Rules\n- I ask before I delete "
        "anything.\n\n- I keep Sundays free.\n</my_identity>\n\n"
        "<user_identity>\nAda is a nurse in Riga.\n</user_identity>"
    )
    keep_up_to_date(PAGE, written)
