"""The dashboard: the numbers of `textrawl stats`, for the spaces that a person can read."""

import pytest

from tests.attacks.site import issue
from tests.explorer.markup import Document
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio


async def test_the_dashboard_counts_what_the_person_can_read(place: Place) -> None:
    place.owner.execute("select create_space('secret')")
    for number in range(3):
        remember(place.owner, f"Entity {number}", "is known")
        remember(place.owner, f"Secret {number}", "is hidden", "secret")
    issue(place.owner, "member", "secret", "read")
    async with place.browse("reader") as browser:
        page = Document((await browser.get("spaces")).text)
        other = await browser.get("spaces", space="secret")

    words = [text.strip() for text in page.texts if text.strip()]
    assert words[words.index("entities") + 1] == "3"
    assert words[words.index("valid facts") + 1] == "3"
    assert other.status_code == 404
    assert page.faults == []


async def test_the_dashboard_of_one_space_counts_only_its_facts(place: Place) -> None:
    place.owner.execute("select create_space('other'), grant_access('admin', 'other', '{read}')")
    remember(place.owner, "Ada", "likes tea")
    remember(place.owner, "Ben", "likes tea", "other")
    place.owner.execute("update token set scopes = '{read,admin}', home_space_id = home_space_id")
    async with place.browse("admin") as browser:
        both = Document((await browser.get("spaces")).text)
        one = Document((await browser.get("spaces", space="other")).text)

    assert "/explore/spaces?space=other&days=90" in both.links
    words = [text.strip() for text in one.texts if text.strip()]
    assert words[words.index("entities") + 1] == "1"


async def test_the_health_page_says_what_answers_depend_on(place: Place) -> None:
    async with place.browse("reader") as browser:
        page = Document((await browser.get("health")).text)

    assert "none: searches compare only words" in page.texts
    assert "format compact, with structured content, at most 2,000 tokens" in page.texts
    assert "TEXTRAWL_DATABASE_URL" not in page.text
    assert page.faults == []
