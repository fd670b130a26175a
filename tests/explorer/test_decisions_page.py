"""Decisions that stay, and merges of several pairs in one go."""

import re

import pytest
from psycopg import sql

from tests.explorer.markup import Document
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio


def make_pairs(place: Place, number: int) -> None:
    """Store entities that have two names each."""
    for each in range(number):
        for name in (f"Person{each} Miller", f"person{each}miller"):
            remember(place.owner, name, f"pays for {each}")


def count(place: Place, table: str) -> int:
    query = sql.SQL("select count(*) from textrawl.{}").format(sql.Identifier(table))
    [[number]] = place.owner.execute(query).fetchall()
    return number


async def test_ten_pairs_are_merged_in_one_go_and_split_again_in_another(place: Place) -> None:
    make_pairs(place, 10)
    async with place.browse("writer") as browser:
        page = await browser.get("same", space="team", score="60", all="1")
        pairs = re.findall(r'name="pair" value="([^"]+)"[^>]* checked', page.text)
        plan = await browser.get("merge-pairs", space="team", pair=[*pairs, pairs[0]])
        before = count(place, "entity")
        done = await browser.press(plan, "merge-pairs")
        merged = count(place, "entity")
        shown = await browser.follow(done)
        undone = await browser.follow(await browser.press(shown, "split"))
        left = count(place, "merge")

    assert len(pairs) == 10
    assert "Merge 10 pairs" in Document(plan.text).texts
    assert "1 pair with an entity of another pair stays" in plan.text
    assert "Merged 10 pairs." in shown.text
    assert ("Undone." in undone.text, left) == (True, 0)
    assert (before, merged, count(place, "entity")) == (20, 10, 20)


async def test_what_was_decided_leaves_its_page_and_can_be_taken_back(place: Place) -> None:
    make_pairs(place, 1)
    remember(place.owner, "Ada", "lives in Oslo")
    remember(place.owner, "Ada", "lives in Rome")
    place.owner.execute("update observation set created_at = created_at - interval '40 days'")
    seen: list[tuple[bool, ...]] = []
    async with place.browse("writer") as browser, place.browse("reader") as reader:
        for page in ("same", "compare", "stale"):
            shown = await browser.get(page, space="team")
            offered = "/explore/dismiss" in (await reader.get(page, space="team")).text
            after = await browser.follow(await browser.press(shown, "dismiss"))
            listed = await browser.get("decisions")
            back = await browser.follow(await browser.press(listed, "undo-change"))
            again = await browser.get(page, space="team")
            rows = [
                len(re.findall("/explore/dismiss", each.text)) for each in (shown, after, again)
            ]
            seen.append((offered, rows[1] < rows[0] == rows[2], "Nothing was decided" in back.text))
        chosen = await browser.get("stale", space="team", all="1")
        marks = dict(re.findall(r'name="(mark\d+)" value="([^"]+)"[^>]* checked', chosen.text))
        await browser.press(chosen, "dismiss", -1, **marks)
        left = await browser.get("stale", space="team")

    assert seen == [(False, True, True)] * 3
    assert "Nothing to look at again" in left.text
    assert count(place, "dismissal") == 4
