"""docs/curation.md: the week of a team, played through by its three actors."""

import re
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import anyio
import psycopg
import pytest
from mcp import Client
from mcp.types import Implementation

from tests.conftest import Databases
from tests.docs.test_readme import keep_up_to_date
from tests.support.commands import Run
from tests.support.pages import ROOT, Aliases, read_commands, rewrite_results, rewrite_talks
from textrawl import Settings, create_server
from textrawl.embedded.postmaster import OWNER

pytestmark = pytest.mark.anyio

PAGE = ROOT / "docs/curation.md"
STEPS = re.compile(r"^(?=```(?:sql|text \w+)$)", re.MULTILINE)  # one talk or statement each
TOOLSETS = ["memory", "curation", "entities", "review"]


@pytest.fixture
def tokens(run: Run, postgres: Databases, database: str) -> dict[str, str]:
    """The access tokens that the commands of the page make, by actor."""
    url = postgres.cluster.dsn(OWNER, database)
    made = dict[str, str]()
    for command in read_commands(PAGE):
        words = shlex.split(command)[1:]
        outcome = run(*words, DATABASE_URL=url)
        assert outcome.code == 0, (command, outcome.err)
        if words[:2] == ["token", "create"]:
            made[words[words.index("--actor") + 1]] = outcome.out.strip()
    return made


@pytest.fixture
async def clients(
    settings: Callable[..., Settings], tokens: dict[str, str]
) -> AsyncIterator[dict[str, Client]]:
    """A client of each actor."""
    async with AsyncExitStack() as stack:
        made = dict[str, Client]()
        for actor, token, space in [
            *((actor, token, None) for actor, token in tokens.items()),
            ("private", tokens["ana"], "ana-private"),
        ]:
            own = {"access_token": token, "space": space, "toolsets": TOOLSETS}
            server = create_server(settings(structured_content="off", **own))
            client = Client(server, client_info=Implementation(name="editor", version="1"))
            made[actor] = await stack.enter_async_context(client)
        yield made


async def test_the_week_goes_as_its_page_says(
    clients: dict[str, Client], owner: psycopg.Connection
) -> None:
    async def ask(actor: str) -> Client:
        return clients[actor]

    aliases, written = Aliases(), list[str]()
    for step in STEPS.split(PAGE.read_text(encoding="utf-8")):
        talked = await rewrite_talks(step, ask, aliases)
        written.append(await anyio.to_thread.run_sync(rewrite_results, talked, owner, aliases))

    keep_up_to_date(PAGE, "".join(written))
