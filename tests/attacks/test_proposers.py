"""Tokens that can only propose, at every tool of every toolset: nothing that they send counts."""

from collections.abc import Callable

import psycopg
import pytest

from tests.attacks.crossing import collect_loot
from tests.attacks.generation import draw, list_tools
from tests.attacks.site import CONTENT, Site, add_spaces, digest, issue, open_site
from textrawl.settings import Settings
from textrawl.tools.catalogue import find_toolsets

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SCOPES: dict[str, tuple[str, ...]] = {
    "propose": ("propose",),
    "read and propose": ("read", "propose"),
    "review without write": ("read", "propose", "review"),
    "write in a space whose writes are reviewed": ("read", "write"),
}


async def guess(site: Site, token: str, owner: psycopg.Connection, rounds: int) -> int:
    """Try every tool with what the space holds; how many calls were answered."""
    answered = 0
    for tool, arguments in draw(list_tools(collect_loot(owner, "red")).items(), rounds):
        answered += (await site.call(token, tool, arguments, "/mcp/red")).status_code == 200
    return answered


@pytest.mark.parametrize("held", SCOPES)
async def test_a_token_that_proposes_can_by_no_way_make_a_fact_count(
    owner: psycopg.Connection, settings: Callable[..., Settings], held: str
) -> None:
    add_spaces(owner)
    if held.startswith("write"):
        owner.execute("update space set reviewed = true where name = 'red'")
    token = issue(owner, "pip", "red", *SCOPES[held])
    before = digest(owner, CONTENT)
    given = settings(embedding_provider="none", toolsets=list(find_toolsets()), rate_limit=0)
    async with open_site(given) as site:
        answered = await guess(site, token, owner, rounds=8)

    assert answered > 8 * 60
    assert digest(owner, CONTENT) == before
    [waiting] = owner.execute(
        "select count(*) from proposal p join actor a on a.id = p.author_id where a.name = 'pip'"
    ).fetchone() or (0,)
    assert waiting > 0
