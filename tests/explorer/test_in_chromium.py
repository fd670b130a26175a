"""The pages in a real browser: Debian's Chromium, driven by Playwright."""

import os
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Literal

from anyio import to_thread
from playwright.async_api import expect

from tests.attacks.site import issue
from tests.explorer.chromium import Tab, marks, open_tab, sign_in
from tests.explorer.test_encrypted_page import diary
from tests.explorer.test_grants_page import own_browser
from tests.explorer.test_sessions_page import own_sessions
from tests.explorer.visiting import SCOPES, Browser, Place
from tests.hooks.conftest import memory, start
from tests.support.commands import Outcome, launch, run, seed

__all__ = ["diary", "launch", "memory", "own_browser", "own_sessions", "run", "seed", "start"]
pytestmark = marks

LOOKS: list[tuple[Literal["light", "dark"], int]] = [
    ("light", 1280), ("light", 360), ("dark", 360), ("dark", 1280)
]  # fmt: skip
CHECKED = LOOKS[::2]
_NAVIGATION = files("textrawl.explorer") / "pages/_navigation.html"
PAGES = (
    "home", "search", "search?q=who+likes+tea&why=1", "entity?name=Ada", "entity?name=Nobody",
    "spaces", "compare", "graph?name=Ada&depth=2", "health",
    "grants", "grant?actor=reader&space=team", "take-back?actor=reader&space=team", "tokens",
    "trail", "undo?author=textrawl_owner&since=2020-01-01", "forget?name=Ada&space=team",
    "same?score=10", "alias?name=Ada", "edit?name=Ada", "remember",
    "relate?name=Ada", "end?name=Ada&relation=works_with&other=Ben&space=team",
    "merge?name=Ada",
    "merge?name=Ada&other=Ben", "split?name=A.+Lovelace",
    "stale", "decisions", "merge-pairs?space=team&pair={pair}",
    "selection?name=Ada&source=team&change=end&id={fact}",
    "selection?name=Ada&source=team&change=share&id={fact}",
    "selection?name=Ada&source=team&change=forget&id={fact}",
    "timeline", "share?name=Ada&source=team", "share?name=Ada&source=team&target=other",
    "documents", "documents?space=handbook", "journal", "journal?entry=daily/2026-05-01/laptop",
    "identity", "identity?file=self/my_identity.md", "fading", "clients", "sessions", "export",
    "proposals", "decide?id=10000000&id=20000000&id=30000000&id=40000000&id=50000000",
    "amend?id=10000000&space=team", "graph?name=Ada&other=Ben",
    "sql", "sql?statement=table+memory_observations",
)  # fmt: skip
PICTURES = os.environ.get("TEXTRAWL_PICTURES")
"""A folder: the test leaves pictures of all pages there, for people to look at."""


async def test_people_sign_in_search_while_typing_and_walk_to_an_entity(filled: Place) -> None:
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["reader"])
        await tab.go("search")
        await tab.page.get_by_label("Search the memory").press_sequentially("green tea")
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
        await tab.go("search")
        await tab.page.keyboard.type("green tea")  # the field has the focus
        await tab.page.keyboard.press("Enter")
        await tab.page.wait_for_url("**/search?*q=green+tea*")
        await tab.page.get_by_role("link", name="Ada", exact=True).focus()
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.get_by_role("heading", name="Ada")).to_be_visible()

    assert tab.faults == []


def _list_pages(filled: Place) -> list[str]:
    """Return the addresses of all pages, with the ids of two entities and of a fact."""
    [(pair, fact)] = filled.owner.execute(
        "select (select string_agg(id::text, '/' order by name) from entity"
        "  where name in ('Ada', 'Ben')),"
        " (select id::text from observation where content = 'prefers green tea')"
    ).fetchall()
    return [page.format(pair=pair, fact=fact) for page in PAGES]


async def test_nothing_is_cut_or_overlaps_and_no_check_of_accessibility_fails(
    filled: Place,
) -> None:
    faults: list[str] = []
    pages = _list_pages(filled)
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["keeper"])
        for page in pages:
            code = await tab.go(page, "load")
            if code >= 400 and page != "entity?name=Nobody":
                faults.append(f"{page}: {code}")
            faults += await _examine(tab, page)

    assert faults == []
    assert tab.faults == []


async def test_nothing_is_cut_and_no_check_fails_on_a_sensitive_graph_of_the_own_machine(
    diary: Callable[[], Outcome], own_browser: Browser
) -> None:
    await to_thread.run_sync(diary)
    async with open_tab(own_browser) as tab:
        code = await tab.go("encrypted?space=diary", "load")
        faults = await _examine(tab, "encrypted")
        await tab.page.get_by_label("Words", exact=True).fill("tea")
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.get_by_text("Tea is served by")).to_be_visible()
        faults += await _examine(tab, "encrypted-found")

    assert (code, faults, tab.faults) == (200, [], [])


async def test_nothing_is_cut_and_no_check_fails_on_the_sessions_of_the_own_machine(
    own_sessions: Browser,
) -> None:
    async with open_tab(own_sessions) as tab:
        await tab.go("sessions", "load")
        faults = await _examine(tab, "sessions")
        await tab.page.get_by_role("table").get_by_role("link").first.click()
        await expect(tab.page.get_by_text("leads QA at Acme")).to_be_visible()
        faults += await _examine(tab, "sessions-one")

    assert (faults, tab.faults) == ([], [])


async def _examine(tab: Tab, page: str) -> list[str]:
    """Return what is cut, overlaps or is a barrier in each look, and take pictures."""
    faults: list[str] = []
    for scheme, width in LOOKS:
        await tab.page.emulate_media(color_scheme=scheme)
        await tab.page.set_viewport_size({"width": width, "height": 800})
        cut = await tab.find_overflow()
        # Contrast depends on the colours, and all else on the width.
        barriers = await tab.find_barriers() if (scheme, width) in CHECKED else []
        faults += [f"{page} {scheme} {width}: {each}" for each in cut + barriers]
        await take_picture(tab, f"{page}-{scheme}-{width}")
    return faults


_MIDDLES = """each => new Set(each.map((link) => {
    const box = link.getBoundingClientRect();
    return Math.round((box.top + box.bottom) / 20);
})).size"""
"""The number of rows of elements, which stand on one line if their middles are near."""


async def test_the_header_is_one_row_and_the_navigation_folds_on_a_phone(filled: Place) -> None:
    """Also beside a long name, and on a phone no page is out of reach."""
    name = "somebody with a very long name"
    token = issue(filled.owner, name, "team", *SCOPES["keeper"])
    async with open_tab(filled, java_script_enabled=False) as tab:
        await sign_in(tab, token)
        pages = tab.page.get_by_role("navigation", name="Pages").get_by_role("link")
        shown = await pages.count()
        words = tab.page.locator("header :is(a, button):visible")
        rows = await words.evaluate_all(_MIDDLES)
        await tab.page.set_viewport_size({"width": 360, "height": 800})
        await expect(pages).to_have_count(0)
        await tab.page.get_by_role("button", name="Pages").click()
        await expect(pages).to_have_count(shown)
        await tab.page.get_by_role("link", name="Tokens").click()
        await expect(tab.page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()

    listed = re.findall(r'^ +\("[a-z]+", ', _NAVIGATION.read_text("utf-8"), re.MULTILINE)
    assert (shown, rows) == (len(listed), 1)


async def test_people_choose_light_or_dark_and_keep_it(filled: Place) -> None:
    """Without a script, on every page, and the next switch follows the system again."""
    async with open_tab(filled, java_script_enabled=False) as tab:
        await sign_in(tab, filled.tokens["reader"])
        await tab.go("timeline?author=reader")
        looks: list[str] = []
        for switch in ("Dark colours", "Light colours", "Colours of the system"):
            await tab.page.get_by_role("button", name=switch).click()
            await tab.page.wait_for_url("**/timeline?author=reader")
            looks.append(await tab.page.evaluate("document.documentElement.dataset.theme ?? ''"))
            await tab.go("timeline?author=reader")

    assert looks == ["dark", "light", ""]
    assert tab.faults == []


async def take_picture(tab: Tab, name: str) -> None:
    if PICTURES is not None:
        path = Path(PICTURES) / f"{re.sub(r'[^a-zA-Z0-9]+', '-', name)}.png"
        await tab.page.screenshot(path=path, full_page=True)
