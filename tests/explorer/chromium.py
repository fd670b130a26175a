"""Tabs of a real browser: Debian's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.explorer.visiting import Browser as Visitor
from tests.explorer.visiting import Place

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = ["--no-sandbox"] if os.geteuid() == 0 else []

expect.set_options(timeout=30_000)  # milliseconds; a busy machine needs more than five seconds

marks = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.usefixtures("chromium"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]
"""The marks of every test with a tab."""


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

    async def go(self, page: str, until: Literal["load", "networkidle"] = "networkidle") -> int:
        """Go to a page, and return the status of its answer."""
        answer = await self.page.goto(f"{self.root}/explore/{page}", wait_until=until)
        return answer.status if answer else 0

    async def find_overflow(self) -> list[str]:
        """Elements that are wider than the window or than the text's box."""
        return await self.page.evaluate(_OVERFLOW)

    async def count_labels(self) -> tuple[int, int]:
        """Count the names that a drawing shows, and those of them that overlap another one."""
        shown, overlap = await self.page.evaluate(_LABELS)
        return shown, overlap

    async def find_barriers(self) -> list[str]:
        """Names of the rules of axe-core that the page breaks."""
        if not await self.page.evaluate("'axe' in window"):
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


_LABELS = """() => {
  const labels = [...document.querySelectorAll("#graph g:not(.closer) > [data-node]:not(.gone)")];
  const boxes = labels.map((label) => label.getBoundingClientRect());
  const meet = (one, other) => one !== other && one.left < other.right - 1
    && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1;
  return [boxes.length, boxes.filter((one) => boxes.some((other) => meet(one, other))).length];
}"""


_running: list[Browser] = []


@pytest.fixture(scope="module")
async def chromium() -> AsyncIterator[None]:
    """The browser of a module, which starts in a second. Nothing of a tab is left for the next."""
    async with async_playwright() as playwright:
        _running.append(await playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS))
        yield
        await _running.pop().close()


@asynccontextmanager
async def open_tab(place: Place | Visitor, **options: Any) -> AsyncGenerator[Tab]:
    """Open a tab at a server, or at that of a visitor, whose session it has then."""
    async with await _running[-1].new_context(**options) as context:
        tab = Tab(await context.new_page(), place.root)
        tab.watch()
        if isinstance(place, Visitor):
            cookies = [(each.name, each.value or "") for each in place.http.cookies.jar]
            url = f"{place.root}/explore"
            await context.add_cookies([{"name": n, "value": v, "url": url} for n, v in cookies])
        yield tab


async def sign_in(tab: Tab, token: str) -> None:
    await tab.go("sign-in")
    await tab.page.get_by_label("Access token").fill(token)
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_url("**/home")
