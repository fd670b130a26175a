"""Each page of the explorer works with an own entity beside each kind of space."""

import pytest

from tests.explorer.siege import PAGES, PEOPLE, Siege
from tests.support.sources import store
from textrawl.access.access_token import hash_token

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

KINDS = {
    "handbook": "public",
    "papers": "personal",
    "diary": "sensitive",
    "other": None,
}
"""Spaces beside `team`, with their tiers."""


async def look(siege: Siege) -> dict[str, int]:
    """Return the status of each page for a person with all rights."""
    shown = dict[str, int]()
    async with siege.browse("boss") as browser:
        for page in PAGES:
            given = {"name": "Ada", "q": "what is my tea?", **siege.team.valid.get(page, {})}
            for pinned in ({}, {"space": "team"}):
                answer = await browser.get(page, **{**given, **pinned})
                shown[f"{page} {pinned}"] = answer.status_code
        found = await browser.get("search", q="what do I like?")
    assert "likes tea" in found.text
    return shown


async def test_an_own_entity_breaks_no_page_beside_any_kind_of_space(siege: Siege) -> None:
    owner, credential = siege.place.owner, hash_token(siege.tokens["boss"])
    before = await look(siege)
    for name, tier in KINDS.items():
        owner.execute("select create_space(%s, tier => %s)", (name, tier))
        owner.execute("select grant_access('boss', %s, %s)", (name, [*PEOPLE["boss"]]))
        if tier is not None:
            store(owner, name)
    owner.execute("select set_own_entity('Ada', credential => %s)", (credential,))

    assert await look(siege) == before
    assert before["search {}"] == before["home {}"] == 200
