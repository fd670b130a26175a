"""Health: the checks of `textrawl doctor` and the settings, for those who may know them."""

import pytest

from tests.explorer.markup import Document
from tests.explorer.test_grants_page import own_browser
from tests.explorer.visiting import Browser, Place

__all__ = ["own_browser"]

pytestmark = pytest.mark.anyio


async def test_people_on_a_server_see_what_answers_depend_on_and_no_settings(place: Place) -> None:
    for person in ("reader", "admin"):
        async with place.browse(person) as browser:
            page = Document((await browser.get("health")).text)
            refused = await browser.post("health")

        assert "none: searches compare only words" in page.texts
        assert "format compact, with structured content, at most 2,000 tokens" in page.texts
        assert "TEXTRAWL_DATABASE_URL" not in page.text
        assert "127.0.0.1" not in page.text
        assert page.faults == []
        assert refused.status_code == 403


async def test_the_owner_of_the_machine_checks_everything_and_sees_all_settings(
    own_browser: Browser,
) -> None:
    before = Document((await own_browser.get("health")).text)
    answer = await own_browser.post("health")
    after = Document((await own_browser.get("health")).text)

    assert "Nothing has been checked yet since the explorer was started." in before.texts
    assert answer.status_code == 303
    assert {"database", "pgvector", "schema", "login", "embeddings", "tokens"} <= set(after.texts)
    assert any(text.startswith("Checked at ") for text in after.texts)
    assert {"TEXTRAWL_DATABASE_URL", "TEXTRAWL_ENABLE_MEMORY", "TEXTRAWL_EXPLORER"} <= set(
        after.texts
    )
    assert before.faults + after.faults == []
