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


@pytest.mark.ordinary("reports of two cells are refused")
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


async def test_the_numbers_are_right_after_a_write(place: Place) -> None:
    async with place.browse("reader") as browser:
        for number in range(3):
            remember(place.owner, f"Entity {number}", "is known")
            page = Document((await browser.get("spaces")).text)
            again = Document((await browser.get("spaces")).text)
            assert _read_number(page, "valid facts") == str(number + 1)
            assert page.texts == again.texts


async def test_unanswered_questions_and_stale_facts_lead_to_a_place_to_act(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    place.owner.execute("update observation set confidence = 0.2")
    place.owner.execute(
        "insert into recall (space_id, at, mode, format, structured, tokens, budget, items,"
        " dropped, query, query_hash, milliseconds)"
        " select space_id, now(), 'search', 'lines', false, 10, 50, 0, 0, query, hash, 3"
        " from observation,"
        " (values ('who likes rum?', 'a'), (null, 'b')) asked (query, hash)"
    )
    async with place.browse("writer") as browser:
        page = Document((await browser.get("spaces", space="team")).text)
    async with place.browse("reader") as browser:
        reader = Document((await browser.get("spaces", space="team")).text)

    assert _read_number(page, "stale facts") == "1"
    assert _read_number(page, "unanswered questions") == "2"
    assert "/explore/search?q=who+likes+rum%3F&why=1&space=team" in page.links
    assert not any("q=b" in link for link in page.links)  # only its hash was kept
    [fact] = place.owner.execute("select id from observation").fetchone() or []
    for action in ("correct", "forget"):
        link = f"/explore/{action}?name=Ada&fact={fact}&space=team"
        assert link in page.links
        assert link not in reader.links


async def test_facts_to_compare_are_shown_in_pairs_with_ways_to_act(place: Place) -> None:
    for text in ("likes green tea", "likes tea that is green", "has 2 cats", "has 3 cats"):
        remember(place.owner, "Ada", text)
    place.owner.execute("select register_embedding_model('fixed', 2)")
    place.owner.execute(
        "insert into embedding_1 select space_id, id,"
        " case when content like '%%tea%%' then '[1,0]'::halfvec else '[0,1]'::halfvec end"
        " from observation"
    )
    async with place.browse("writer") as browser:
        dashboard = Document((await browser.get("spaces")).text)
        page = Document((await browser.get("compare")).text)

    assert _read_number(dashboard, "possible duplicates") == "1"
    assert _read_number(dashboard, "possible conflicts") == "1"
    assert "/explore/compare#conflict" in dashboard.links
    assert [t for t in page.texts if t.startswith(("likes", "has"))] == [
        "likes green tea", "likes tea that is green", "has 2 cats", "has 3 cats",
    ]  # fmt: skip
    assert sum("/explore/forget?name=Ada&fact=" in link for link in page.links) == 4
    assert page.faults + dashboard.faults == []


def _read_number(page: Document, label: str) -> str:
    """Return the number beside a label."""
    words = [text.strip() for text in page.texts if text.strip()]
    return words[words.index(label) + 1]
