"""What one space proposes, renames, merges, revises and shares reaches nobody of another."""

from collections.abc import Callable

import psycopg
import pytest

from tests.attacks.crossing import CLIENTS, collect_loot, cross
from tests.attacks.site import SECRETS, SPACES, add_spaces, issue, open_site
from tests.attacks.test_walls import read_space
from textrawl.access.access_token import hash_token
from textrawl.settings import Settings
from textrawl.tools.catalogue import find_toolsets

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TOOLS = {
    name for toolset in ("review", "entities", "curation")
    for name in find_toolsets()[toolset].every_tool
} | {"query_memory", "remember_fact"}  # fmt: skip
MEMBER = ("read", "write", "forget", "review")


def add_curation(owner: psycopg.Connection, space: str) -> None:
    """A secret in a proposal, an alias, a merge and the reason of a revision of the space."""
    secret, agent = SECRETS[space], hash_token(issue(owner, f"agent of {space}", space, "propose"))
    number = "(select id from space where name = %(space)s)"
    for statement in (
        "select remember_fact('Ada', 'person', 'proposed ' || %(secret)s, credential => %(agent)s)",
        "select name_entity('Ada', 'alias ' || %(secret)s, space => {})",
        "select remember_fact('Ada ' || %(secret)s, 'person', 'is the same', space => {})",
        "select merge_entities('Ada', 'Ada ' || %(secret)s, space => {})",
        "select remember_fact('Ada', 'person', 'wrong', space => {})",
        "select revise_fact('Ada', 'wrong', 'because ' || %(secret)s, space => {})",
    ):
        given = {"space": space, "secret": secret, "agent": agent}
        owner.execute(statement.replace("{}", number).encode(), given)


@pytest.mark.parametrize("scopes", [MEMBER, ("read", "propose", "review")], ids=["all", "propose"])
async def test_no_guess_at_the_tools_of_curation_reaches_another_space(
    owner: psycopg.Connection, settings: Callable[..., Settings], scopes: tuple[str, ...]
) -> None:
    add_spaces(owner)
    for space in SPACES:
        add_curation(owner, space)
    tokens = {space: issue(owner, f"of {space}", space, *scopes) for space in SPACES}
    before = {space: read_space(owner, space) for space in SPACES}
    loots = {space: collect_loot(owner, space) for space in SPACES}
    given = settings(embedding_provider="none", toolsets=list(find_toolsets()))

    async with open_site(given) as site:
        tally = await cross(site, tokens, loots, 63, lambda: None, TOOLS)

    assert tally.attempts == CLIENTS * 63 >= 2000
    assert tally.answered > tally.attempts / 2
    assert tally.leaks == []
    assert {space: read_space(owner, space) for space in SPACES} == before
