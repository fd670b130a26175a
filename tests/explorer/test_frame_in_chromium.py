"""What a person sees first: facts, and a frame that stays where it is."""

from typing import Any

import pytest

from tests.explorer.chromium import marks, open_tab, sign_in
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = marks

_TOPS = """() => [...document.querySelectorAll('#facts .facts > li')].map((each) => {
  const box = each.getBoundingClientRect();
  return [box.top, box.bottom];
})"""
_FRAME = """() => ['#menu', '#menu-button', '#q', '.remember', '.switch'].map((each) => {
  const box = document.querySelector(each)?.getBoundingClientRect();
  return box && [Math.round(box.left), Math.round(box.top), Math.round(box.width)];
})"""
_PAGES = (
    "home", "search?q=tea", "graph", "entity?name=Ada&space=team", "timeline?space=team", "journal",
    "documents?space=handbook", "spaces?space=other", "stale", "same", "proposals", "fading",
    "compare", "merge?name=Ada&space=team", "trail", "grants", "clients", "health", "export",
)  # fmt: skip


@pytest.mark.parametrize(
    ("width", "height", "top", "least"), [(1280, 800, 260, 6), (390, 844, 320, 4)]
)
async def test_the_page_of_an_entity_begins_with_its_facts(
    place: Place, width: int, height: int, top: int, least: int
) -> None:
    for number in range(43):
        remember(place.owner, "Ada", f"said something about the harbour, number {number}")
    async with open_tab(place, viewport={"width": width, "height": height}) as tab:
        await sign_in(tab, place.tokens["keeper"])
        await tab.go("entity?name=Ada")
        rows = await tab.page.evaluate(_TOPS)
        barriers = await tab.find_barriers()

    whole = [bottom for _, bottom in rows if bottom <= height]
    measured = f"first fact at {rows[0][0]:.0f} px, {len(whole)} whole facts"
    assert (rows[0][0] <= top, len(whole) >= least) == (True, True), measured
    assert barriers == []


@pytest.mark.parametrize("width", [1440, 1280, 390])
async def test_the_frame_is_at_the_same_place_on_all_pages(filled: Place, width: int) -> None:
    async with open_tab(filled, viewport={"width": width, "height": 800}) as tab:
        await sign_in(tab, filled.tokens["keeper"])
        places: dict[str, Any] = {}
        for page in _PAGES:
            await tab.go(page)
            places[page] = await tab.page.evaluate(_FRAME)

    assert places == dict.fromkeys(_PAGES, places["home"])


async def test_home_clamps_long_facts_and_folds_equal_ones(place: Place) -> None:
    for number in range(4):
        remember(place.owner, "Ada", f"wrote a diary with {number} pages")
    place.owner.execute("update observation set content = 'wrote a diary' where content ~ 'pages'")
    remember(place.owner, "Ben", "likes tea at noon and says why " * 64)
    async with open_tab(place, viewport={"width": 1280, "height": 800}) as tab:
        await sign_in(tab, place.tokens["keeper"])
        rows = await tab.page.locator(".latest > li").all_inner_texts()
        height = await tab.page.evaluate("document.documentElement.scrollHeight")
        lines = await tab.page.evaluate(
            "document.querySelector('.latest p').getBoundingClientRect().height / 22.5"
        )

    assert len(rows) == 2
    assert "4 times, " in rows[1]
    assert (lines <= 3.1, height <= 1700) == (True, True)
