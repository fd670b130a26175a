"""The drawing of a graph in Chromium: labels that overlap, bytes on the wire, the first result.

    python -m benchmarks.drawing

It stores 493 entities in groups, and one of them with 300 facts, in a temporary folder. It needs
Chromium. Labels are counted as they are first seen in a window of 1,280 pixels. The first result is
the distance of the drawing, or of the first fact, from the top of a phone with 390 pixels. It
prints Markdown.
"""

from pathlib import Path
from typing import Any

import anyio
import psycopg

from benchmarks.explorer import open_server
from benchmarks.support.place import enrol, open_folder, tell_machine
from tests.explorer.chromium import Tab, open_tab, sign_in
from tests.explorer.visiting import Place
from textrawl import migrate
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.postmaster import OWNER

SIZES = (30, 60, 200, 493)
PAGES = ("graph?most=200", "graph?name=Member+0&depth=2", "entity?name=Member+0")
FILL = (
    """select relate_entities('Member ' || n, 'works_with', 'Member ' || n % 14),
       relate_entities('Member ' || n, 'knows', 'Member ' || (n * 14) % 493)
       from generate_series(14, 492) n""",
    "select relate_entities('Member 0', 'leads', 'Member ' || n) from generate_series(1, 13) n",
    """select remember_fact('Member 0', 'person', 'knows trick ' || n)
       from generate_series(1, 300) n""",
)
"""What the memory holds: 14 groups, whose members know some of other groups."""


async def measure_labels(tab: Tab) -> None:
    """Print the labels of drawings of each size, and the compressed bytes of their pages."""
    print("| entities | labels | overlap another | compressed kB |\n|---:|---:|---:|---:|")
    for size in SIZES:
        async with tab.page.expect_response(lambda answer: "/graph?" in answer.url) as response:
            await tab.go(f"graph?most={size}")
        sizes = await (await response.value).request.sizes()
        shown, overlap = await tab.count_labels()
        print(f"| {size} | {shown} | {overlap} | {sizes['responseBodySize'] / 1e3:.0f} |")


async def measure_phone(tab: Tab) -> None:
    """Print where the first result of a page begins on a phone, and the first relation."""
    print("\n| page on a phone | first result, px | first relation, px |\n|---|---:|---:|")
    for page in PAGES:
        await tab.go(page)
        places: list[Any] = [
            await found.first.evaluate("(each) => Math.round(each.getBoundingClientRect().top)")
            if await found.count()
            else ""
            for found in map(tab.page.locator, ("#canvas, #facts .facts", "#relations .relations"))
        ]
        print(f"| {page} | {places[0]} | {places[1]} |")


async def run(folder: Path) -> None:
    """Print both tables."""
    async with run_embedded(folder) as cluster:
        await migrate(cluster.dsn(OWNER))
        token = enrol(cluster.dsn(OWNER))
        with psycopg.connect(cluster.dsn(OWNER), autocommit=True) as owner:
            owner.execute("set search_path = textrawl, public")
            for statement in FILL:
                owner.execute(statement)
            async with open_server(cluster, token, explorer=True) as (root, _):
                place = Place(root, owner, {"owner": token})
                async with open_tab(place, viewport={"width": 1280, "height": 900}) as tab:
                    await sign_in(tab, token)
                    await measure_labels(tab)
                async with open_tab(place, viewport={"width": 390, "height": 844}) as tab:
                    await sign_in(tab, token)
                    await measure_phone(tab)
    print(f"\n{tell_machine()}")


def main() -> None:
    """Measure in a temporary folder."""
    with open_folder("drawing") as folder:
        anyio.run(run, folder)


if __name__ == "__main__":
    main()
