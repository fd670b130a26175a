"""Search documents are made anew while a server answers."""

from collections.abc import Callable

import psycopg
import pytest

from tests.support.upkeep import open_desk
from textrawl import Settings

pytestmark = pytest.mark.anyio


async def test_a_round_of_upkeep_rebuilds_the_documents_of_a_space_that_changed_its_language(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    async with open_desk(settings(embedding_provider="none")) as desk:
        for number in range(3):
            await desk.remember(f"mag grüne Äpfel, {number}")
        owner.execute("select textrawl.change_language('default', 'german')")
        assert "mag grüne Äpfel, 2" in await desk.search("grüne")

        await desk.upkeep.do_round()

        assert owner.execute("select count(*) from textrawl.document_rebuild").fetchone() == (0,)
        assert "mag grüne Äpfel, 2" in await desk.search("grüner Apfel")
