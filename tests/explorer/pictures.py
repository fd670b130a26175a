"""Pictures of the explorer for the README and docs/explorer.md, from the memory of the demo.

Run `python -m tests.explorer.pictures` after a change of the pages or of the commands: it also
makes the recording of a terminal. It needs Chromium.
"""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, FloatRect, Page, sync_playwright

from tests.explorer.chromium import CHROMIUM, OPTIONS
from tests.explorer.recording import record_terminal
from tests.support.folders import open_folder
from textrawl.settings import read_foreign_environment

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"


class _View(NamedTuple):
    """A page, the part of it that is shown, and the size of the window, which cuts the part."""

    address: str
    part: str
    width: int = 1200
    height: int = 760


VIEWS = {
    "graph": _View("graph", "#stage", 1340, 900),
    "home": _View("home", "main"),
    "search": _View("search?q=how+good+is+the+arrival+estimate%3F&limit=4", "body", height=840),
    "entity": _View("entity?name=Harbour", "main"),
}
CHOSEN = "Jonathan Katz"  # the entity in the panel beside the graph


def take_pictures(folder: Path, link: str) -> list[Path]:
    """Sign in with a one-time link, and take a picture of a part of each page."""
    root = link.partition("/explore/")[0]
    taken: list[Path] = []
    with _open_browser() as browser:
        page = browser.new_page(color_scheme="light")
        page.goto(link)
        page.wait_for_url("**/home")
        for name, view in VIEWS.items():
            page.set_viewport_size({"width": view.width, "height": view.height})
            page.goto(f"{root}/explore/{view.address}", wait_until="networkidle")
            if name == "graph":
                _open_panel(page)
            taken.append(folder / f"{name}.png")
            page.screenshot(path=taken[-1], clip=_find_part(page, view), animations="disabled")
    return taken


def _find_part(page: Page, view: _View) -> FloatRect:
    """Return the part of a view that is in the window."""
    box = page.locator(view.part).bounding_box()
    assert box
    return {**box, "height": min(box["height"], view.height - box["y"])}


def _open_panel(page: Page) -> None:
    node = page.locator("#graph a").filter(has=page.locator("title", has_text=CHOSEN))
    node.dispatch_event("click")
    page.locator("#panel h2").get_by_text(CHOSEN).wait_for()
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")


@contextmanager
def explore_demo() -> Generator[str]:
    """Run the demo, open its memory in the explorer, and yield the link that signs in."""
    with open_folder() as folder:
        yield from _explore(folder)


def _explore(folder: Path) -> Generator[str]:
    environment = read_foreign_environment() | {"LOGNAME": "ada"}
    command = [sys.executable, "-m", "textrawl"]
    demo = [*command, "demo", "--data-dir", str(folder)]
    subprocess.run(demo, check=True, capture_output=True, env=environment)
    environment["TEXTRAWL_DATA_DIR"] = str(folder)  # the demo does not write to one's own memory
    with subprocess.Popen(
        [*command, "explore"], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextmanager
def _open_browser() -> Generator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


if __name__ == "__main__":
    with explore_demo() as opened:
        take_pictures(FOLDER, opened)
    record_terminal(FOLDER)
