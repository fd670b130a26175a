"""A reviewer decides, and shares a fact, in a real browser: also by keyboard without a script."""

import re

import pytest
from playwright.async_api import expect

from tests.explorer.chromium import marks, open_tab, sign_in
from tests.explorer.test_proposals_page import read_states
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
            await expect(tab.page.get_by_role("status")).to_be_visible()

    states = read_states(filled)
    assert (states["likes cake"], states["prefers green tea"]) == ("accepted", "rejected")
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
