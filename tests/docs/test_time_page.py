"""docs/time.md: a life that is stored late and in any order, and asked for at any time."""

import pytest
from mcp import Client

from tests.conftest import Connect
from tests.docs.test_readme import keep_up_to_date
from tests.support.pages import ROOT, rewrite_talks

pytestmark = pytest.mark.anyio

PAGE = ROOT / "docs/time.md"


async def test_the_life_goes_as_its_page_says(connect: Connect) -> None:
    client = await connect()

    async def ask(_word: str) -> Client:
        return client

    written = await rewrite_talks(PAGE.read_text(encoding="utf-8"), ask)
    keep_up_to_date(PAGE, written)
