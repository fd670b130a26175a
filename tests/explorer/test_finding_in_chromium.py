"""Suggestions, palette, keys and what is new, in a real browser; and the same without a script."""

import anyio
from playwright.async_api import Route, expect

from tests.explorer.chromium import Tab, marks, open_tab, sign_in
from tests.explorer.visiting import Place
from textrawl.access.access_token import hash_token

pytestmark = marks


async def test_people_find_by_keyboard_and_hear_what_is_new_without_a_reload(filled: Place) -> None:
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["keeper"])
        barriers = [*await _take_a_suggestion(tab), *await _go_by_the_palette(tab)]
        await _walk_and_edit(tab)
        async with tab.page.expect_response("**/explore/live"):
            await tab.go("entity?name=Ada&space=team")  # a page listens when it stands still
        for number in range(2):
            filled.owner.execute(
                "select remember_fact('Ben', 'person', 'hears ' || %s, credential => %s)",
                (number, hash_token(filled.tokens["writer"])),
            )
        await expect(tab.page.get_by_text("2 new facts by writer")).to_be_visible()
        await tab.page.get_by_role("link", name="Show", exact=True).click()
        await expect(tab.page.get_by_role("heading", name="Ada")).to_be_visible()

    assert (barriers, tab.faults) == ([], [])


async def test_people_without_a_script_find_entities_documents_and_the_journal(
    filled: Place,
) -> None:
    async with open_tab(filled, java_script_enabled=False) as tab:
        await sign_in(tab, filled.tokens["keeper"])
        await tab.go("health")
        await tab.page.get_by_label("Search the memory").fill("ada")
        await tab.page.keyboard.press("Enter")
        await tab.page.get_by_role("link", name="go to this entity").click()
        await expect(tab.page.get_by_role("heading", name="Ada", exact=True)).to_be_visible()
        await tab.page.get_by_label("Search the memory").fill("when is tea served?")
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.locator("mark").first).to_be_visible()
        await tab.page.get_by_role("link", name="meals.md").first.click()
        await expect(tab.page.get_by_text("Coffee is served at nine.")).to_be_visible()
        await tab.page.get_by_label("Search the memory").fill("who drinks green tea in Oslo?")
        await tab.page.keyboard.press("Enter")
        await tab.page.get_by_role("link", name="journal 2026-05-01").first.click()
        await expect(tab.page.get_by_text("drinks green tea in Oslo")).to_be_visible()

    assert tab.faults == []


async def _take_a_suggestion(tab: Tab) -> list[str]:
    """Go to an entity by the first letters of its name, and return the barriers on the way."""
    await tab.go("spaces")
    await tab.page.keyboard.press("/")
    await tab.page.keyboard.type("ad")
    await expect(tab.page.locator("#suggestions a").first).to_be_visible()
    barriers = await tab.find_barriers()
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_role("heading", name="Ada", exact=True)).to_be_visible()
    return barriers


async def _go_by_the_palette(tab: Tab) -> list[str]:
    """Go to a page by its name, and return the barriers on the way."""
    await tab.page.keyboard.press("?")
    await expect(tab.page.get_by_role("dialog", name="Keys")).to_be_visible()
    barriers = await tab.find_barriers()
    await tab.page.keyboard.press("Escape")
    await tab.page.keyboard.press("Control+k")
    palette = tab.page.get_by_role("dialog", name="Go to")
    await expect(palette.get_by_role("searchbox")).to_be_focused()
    await tab.page.keyboard.type("fading")
    await expect(palette.get_by_role("link")).to_have_text(["Fading memories"])
    barriers += await tab.find_barriers()
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_url("**/fading")
    return barriers


async def test_enter_in_the_palette_waits_for_the_suggestions_of_what_is_typed(
    filled: Place,
) -> None:
    answers = anyio.Event()

    async def hold(route: Route) -> None:
        if "ben" in route.request.url:
            await answers.wait()
        await route.continue_()

    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["reader"])
        await tab.page.route("**/suggest?*", hold)
        await tab.page.keyboard.press("Control+k")
        await tab.page.keyboard.type("ada")
        palette = tab.page.get_by_role("dialog", name="Go to")
        await expect(palette.get_by_role("link")).to_contain_text(["Ada"])
        box = palette.get_by_role("searchbox")
        async with tab.page.expect_request("**/suggest?q=ben"):
            await box.fill("ben")
        await tab.page.keyboard.press("Enter")
        answers.set()
        await expect(tab.page.get_by_role("heading", name="Ben", exact=True)).to_be_visible()

    assert tab.faults == []


async def _walk_and_edit(tab: Tab) -> None:
    """Go to the second fact of a page and back to the first, and open its correction."""
    await tab.go("search?q=green+tea")
    await tab.page.get_by_role("heading", name="facts").focus()
    await tab.page.evaluate("document.activeElement.blur()")
    facts = tab.page.locator("main .facts > li")
    for key, place in (("j", 0), ("j", 1), ("k", 0)):
        await tab.page.keyboard.press(key)
        await expect(facts.nth(place)).to_be_focused()
