"""Pictures of the explorer for the README and docs/explorer.md, from the memory of the demo.

Run `python -m tests.explorer.pictures` after a change of the pages. It needs Chromium.
"""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.explorer.chromium import CHROMIUM, OPTIONS
from tests.support.folders import open_folder
from textrawl.settings import read_foreign_environment

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
PAGES = {
    "search": "search?q=who+taught+Postgres+to+store+embeddings%3F&limit=4",
    "entity": "entity?name=pgvector",
    "graph": "graph?name=PostgreSQL&depth=1&most=30",
    "spaces": "spaces",
}
SCHEMES = ("light", "dark")
WIDTH, HEIGHT = 1200, 860


def take_pictures(folder: Path, link: str) -> list[Path]:
    """Sign in with a one-time link, and take a picture of each page in light and dark."""
    root = link.partition("/explore/")[0]
    taken: list[Path] = []
    with _open_browser() as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(link)
        page.wait_for_url("**/home")
        for (name, address), scheme in product(PAGES.items(), SCHEMES):
            page.emulate_media(color_scheme=scheme)
            page.goto(f"{root}/explore/{address}", wait_until="networkidle")
            taken.append(folder / name_picture(name, scheme))
            page.screenshot(path=taken[-1])
    return taken


def name_picture(page: str, scheme: str) -> str:
    """Return the name of the file with a picture."""
    return f"{page}-{scheme}.png"


@contextmanager
def explore_demo() -> Generator[str]:
    """Run the demo, open its memory in the explorer, and yield the link that signs in."""
    with open_folder() as folder:
        yield from _explore(folder)


def _explore(folder: Path) -> Generator[str]:
    own = {"TEXTRAWL_DATA_DIR": str(folder), "LOGNAME": "ada"}
    environment = read_foreign_environment() | own
    command = [sys.executable, "-m", "textrawl"]
    demo = [*command, "demo", "--data-dir", str(folder)]
    subprocess.run(demo, check=True, capture_output=True, env=environment)
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
