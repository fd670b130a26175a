"""The pages in a real browser: Debian's Chromium, driven by Playwright."""

import os
import re
from pathlib import Path

from playwright.async_api import expect

from tests.attacks.site import issue
from tests.explorer.chromium import Tab, marks, open_tab, sign_in
from tests.explorer.visiting import SCOPES, Place

pytestmark = marks

LOOKS = [("light", 1280), ("light", 360), ("dark", 1280), ("dark", 360)]
PAGES = (
    "search", "search?q=who+likes+tea&why=1", "entity?name=Ada", "entity?name=Nobody", "spaces",
    "compare",    "graph?name=Ada&depth=2", "health",
    "grants", "grant?actor=reader&space=team", "take-back?actor=reader&space=team", "tokens",
    "trail", "undo?author=textrawl_owner&since=2020-01-01", "forget?name=Ada&space=team",
    "same?score=10", "alias?name=Ada", "describe?name=Ada", "unname?name=Ada&alias=Countess",
    "merge?name=Ada",
    "merge?name=Ada&other=Ben", "split?name=A.+Lovelace",
    "timeline", "share?name=Ada&source=team", "share?name=Ada&source=team&target=other",
    "proposals", "decide?id=10000000&id=20000000&id=30000000&id=40000000&id=50000000",
)  # fmt: skip
PICTURES = os.environ.get("TEXTRAWL_PICTURES")
"""A folder: the test leaves pictures of all pages there, for people to look at."""


async def test_people_sign_in_search_while_typing_and_walk_to_an_entity(filled: Place) -> None:
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["reader"])
        await tab.page.get_by_label("Question or keywords").press_sequentially("green tea")
        await expect(tab.page.get_by_text("prefers green tea")).to_be_visible()
        await tab.page.wait_for_url("**/search?q=green+tea*")
        await tab.page.get_by_role("link", name="Ada", exact=True).click()
        await expect(tab.page.get_by_role("heading", name="Ada")).to_be_visible()
        await tab.page.get_by_role("link", name="Ben").first.click()
        await expect(tab.page.get_by_role("heading", name="Ben")).to_be_visible()
        await tab.page.get_by_role("button", name="Sign out").click()
        await expect(tab.page.get_by_role("heading", name="Sign in")).to_be_visible()

    assert tab.faults == []


async def test_people_without_javascript_or_mouse_search_and_walk_too(filled: Place) -> None:
    async with open_tab(filled, java_script_enabled=False) as tab:
        await sign_in(tab, filled.tokens["reader"])
        await tab.page.keyboard.type("green tea")  # the field has the focus
        await tab.page.keyboard.press("Enter")
        await tab.page.wait_for_url("**/search?*q=green+tea*")
        await tab.page.get_by_role("link", name="Ada", exact=True).focus()
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.get_by_role("heading", name="Ada")).to_be_visible()

    assert tab.faults == []


async def test_nothing_is_cut_or_overlaps_and_no_check_of_accessibility_fails(
    filled: Place,
) -> None:
    faults: list[str] = []
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["keeper"])
        for look, page in ((look, page) for look in LOOKS for page in PAGES):
            scheme, width = look
            await tab.page.emulate_media(color_scheme=scheme)  # pyright: ignore[reportArgumentType]
            await tab.page.set_viewport_size({"width": width, "height": 800})
            await tab.go(page)
            faults += [f"{page} {look}: {cut}" for cut in await tab.find_overflow()]
            faults += [f"{page} {look}: {each}" for each in await tab.find_barriers()]
            await take_picture(tab, f"{page}-{scheme}-{width}")

    assert faults == []
    assert tab.faults == []


_MIDDLES = """each => new Set(each.map((link) => {
    const box = link.getBoundingClientRect();
    return Math.round((box.top + box.bottom) / 20);
})).size"""
"""The number of rows of elements, which stand on one line if their middles are near."""


async def test_the_navigation_with_every_page_is_one_row(filled: Place) -> None:
    """Also beside a long name, and on a phone no page is out of reach."""
    name = "somebody with a very long name"
    token = issue(filled.owner, name, "team", *SCOPES["keeper"])
    async with open_tab(filled) as tab:
        await sign_in(tab, token)
        shown = await tab.page.locator("header nav a").count()
        words = tab.page.locator("header a, header span, header button")
        for width in (360, 1280):
            await tab.page.set_viewport_size({"width": width, "height": 800})
            await take_picture(tab, f"navigation-{width}")
            assert await tab.find_overflow() == []
        rows = await words.evaluate_all(_MIDDLES)

    assert (shown, rows) == (9, 1)


async def take_picture(tab: Tab, name: str) -> None:
    if PICTURES is not None:
        path = Path(PICTURES) / f"{re.sub(r'[^a-zA-Z0-9]+', '-', name)}.png"
        await tab.page.screenshot(path=path, full_page=True)
