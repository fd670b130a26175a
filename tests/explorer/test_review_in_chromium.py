"""A reviewer decides, and shares a fact, in a real browser: also by keyboard without a script."""

import re

import pytest
from playwright.async_api import expect

from tests.explorer.chromium import marks, open_tab, sign_in
from tests.explorer.test_proposals_page import propose, read_states
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = marks


@pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])
async def test_a_reviewer_chooses_plans_accepts_and_rejects_by_keyboard(
    filled: Place, scripts: bool
) -> None:
    async with open_tab(filled, java_script_enabled=scripts) as tab:
        await sign_in(tab, filled.tokens["keeper"])
        for choice, button in (("likes cake", "Accept 1"), ("prefers green", "Reject 1")):
            await tab.page.get_by_role("link", name="Proposals", exact=True).focus()
            await tab.page.keyboard.press("Enter")
            await tab.page.get_by_role("checkbox", name=choice).focus()
            await tab.page.keyboard.press("Space")
            await tab.page.get_by_role("button", name="Show what would change").focus()
            await tab.page.keyboard.press("Enter")
            await expect(tab.page.get_by_text("Nothing has changed yet")).to_be_visible()
            assert read_states(filled)[choice.replace("green", "green tea")] == "pending"
            await tab.page.get_by_label("Why", exact=True).fill("known already")
            await tab.page.get_by_role("button", name=button).focus()
            await tab.page.keyboard.press("Enter")
            await expect(tab.page.get_by_text(re.compile("1 proposal (acc|rej)"))).to_be_visible()

    states = read_states(filled)
    assert (states["likes cake"], states["prefers green tea"]) == ("accepted", "rejected")
    assert tab.faults == []


async def test_ten_proposals_are_decided_with_a_key_each_and_the_last_one_is_undone(
    place: Place,
) -> None:
    for number in range(10):
        propose(place, "Ada", f"likes cake {number}")
    async with open_tab(place) as tab:
        await sign_in(tab, place.tokens["keeper"])
        await tab.go("proposals?state=pending")
        rows = tab.page.locator("main .facts > li")
        await tab.page.keyboard.press("j")
        for left in range(9, -1, -1):
            key = "r" if left == 5 else "a"
            await tab.page.keyboard.down(key)
            await expect(rows).to_have_count(left)
            await tab.page.keyboard.down(key)  # whoever holds the key decides no second row
            await tab.page.keyboard.up(key)
            await expect(tab.page.get_by_role("status")).to_contain_text("1 proposal")
            assert tab.page.url.endswith("/proposals?state=pending")
        decided = sorted(read_states(place).values())
        await tab.page.get_by_role("button", name="Undo").click()
        await expect(rows).to_have_count(1)
        barriers = await tab.find_barriers()

    assert decided == ["accepted"] * 9 + ["rejected"]
    assert sorted(read_states(place).values())[:9] == ["accepted"] * 8 + ["pending"]
    assert (barriers, tab.faults) == ([], [])


async def test_pairs_and_facts_are_decided_in_their_row_with_a_key(place: Place) -> None:
    for name in ("Zoe Unger", "Zoe Ungr", "Northwind Freight", "Northwind Frieght"):
        remember(place.owner, name, f"is {name}")
    remember(place.owner, "Ada", "has 2 cats")
    remember(place.owner, "Ada", "has 3 cats")
    place.owner.execute("update observation set valid_until = null, closed_at = null")
    place.owner.execute("update observation set confidence = 0.4 where content = 'is Zoe Ungr'")
    async with open_tab(place) as tab:
        await sign_in(tab, place.tokens["keeper"])
        said = tab.page.locator(".notice").filter(visible=True)
        for page, key, words in (
            ("stale", "t", "It is still true."), ("same", "m", "Merged."),
            ("same", "n", "They are not the same."), ("compare", "b", "Both may stay."),
        ):  # fmt: skip
            await tab.go(page)
            await tab.page.keyboard.press("j")
            await tab.page.keyboard.press(key)
            await expect(said).to_contain_text(words)
            await expect(said.get_by_role("button", name="Undo")).to_be_visible()
            assert tab.page.url.endswith(f"/{page}")

    assert tab.faults == []


async def test_a_person_shares_a_fact_of_the_timeline_and_finds_it_in_the_other_space(
    filled: Place,
) -> None:
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["keeper"])
        await tab.page.get_by_role("link", name="Timeline").click()
        await tab.page.get_by_role("link", name=re.compile("Share.*lives in Rome")).click()
        await tab.page.get_by_role("button", name="Show what will change").click()
        await expect(tab.page.get_by_text("Nothing has changed yet")).to_be_visible()
        await tab.page.get_by_role("button", name="Copy to other").click()
        await tab.page.get_by_role("link", name="Show Ada in other").click()
        await expect(tab.page.get_by_text("lives in Rome", exact=True).first).to_be_visible()

    assert "space=other" in tab.page.url
    assert tab.faults == []
