"""The pages in a real browser: Debian's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, async_playwright, expect

from tests.explorer.material import fill
from tests.explorer.visiting import Place

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]

LOOKS = [("light", 1280), ("light", 360), ("dark", 1280), ("dark", 360)]
PAGES = (
    "search", "search?q=who+likes+tea&why=1", "entity?name=Ada", "entity?name=Nobody", "spaces",
    "graph?name=Ada&depth=2", "health",
    "trail", "undo?author=textrawl_owner&since=2020-01-01", "forget?name=Ada&space=team",
)  # fmt: skip
PICTURES = os.environ.get("TEXTRAWL_PICTURES")
"""A folder: the test leaves pictures of all pages there, for people to look at."""


@dataclass
class Tab:
    """A tab, with everything that it complained about and asked other hosts for."""

    page: Page
    root: str
    faults: list[str] = field(default_factory=list[str])

    def watch(self) -> None:
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self._check(request.url))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and "404" not in text:
            self.faults.append(text)

    def _check(self, address: str) -> None:
        if not address.startswith(f"{self.root}/explore/"):
            self.faults.append(f"asks for {address}")

    async def go(self, page: str) -> None:
        await self.page.goto(f"{self.root}/explore/{page}", wait_until="networkidle")

    async def find_overflow(self) -> list[str]:
        """Elements that are wider than the window or than the text's box."""
        return await self.page.evaluate(_OVERFLOW)

    async def find_barriers(self) -> list[str]:
        """Names of the rules of axe-core that the page breaks."""
        script = files("axe_playwright_python") / "axe.min.js"
        await self.page.evaluate(script.read_text(encoding="utf-8"))
        return await self.page.evaluate(
            "async () => (await axe.run()).violations.map((each) => each.id)"
        )


_OVERFLOW = """() => (document.documentElement.scrollWidth > innerWidth
  ? [document.documentElement] : [...document.querySelectorAll("body *")].filter((element) => {
    const box = element.getBoundingClientRect();
    const hides = element.closest(".scroll, .skip, .hidden, meter, option") !== null;
    return !hides && box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
})).map((element) => element.outerHTML.slice(0, 120))"""


@asynccontextmanager
async def open_tab(place: Place, **options: Any) -> AsyncGenerator[Tab]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        context = await browser.new_context(**options)
        tab = Tab(await context.new_page(), place.root)
        tab.watch()
        yield tab
        await browser.close()


async def sign_in(tab: Tab, token: str) -> None:
    await tab.go("sign-in")
    await tab.page.get_by_label("Access token").fill(token)
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_url("**/search")


@pytest.fixture
async def filled(place: Place) -> Place:
    fill(place.owner)
    return place


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
        await sign_in(tab, filled.tokens["admin"])
        for look, page in ((look, page) for look in LOOKS for page in PAGES):
            scheme, width = look
            await tab.page.emulate_media(color_scheme=scheme)  # pyright: ignore[reportArgumentType]
            await tab.page.set_viewport_size({"width": width, "height": 800})
            await tab.go(page)
            faults += [f"{page} {look}: {cut}" for cut in await tab.find_overflow()]
            faults += [f"{page} {look}: {each}" for each in await tab.find_barriers()]
            await take_picture(tab, f"{page.partition('=')[0]}-{scheme}-{width}")

    assert faults == []
    assert tab.faults == []


async def take_picture(tab: Tab, name: str) -> None:
    if PICTURES is not None:
        path = Path(PICTURES) / f"{name.replace('?', '-')}.png"
        await tab.page.screenshot(path=path, full_page=True)
