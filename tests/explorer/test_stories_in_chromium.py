"""What a reader, a writer and an administrator do with the pages, in a real browser."""

import re

import pytest
from playwright.async_api import expect

from tests.explorer.chromium import Tab, marks, open_tab, sign_in
from tests.explorer.visiting import Place

pytestmark = marks


@pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])
async def test_a_reader_finds_an_entity_and_its_graph_and_is_offered_no_change(
    filled: Place, scripts: bool
) -> None:
    async with open_tab(filled, java_script_enabled=scripts) as tab:
        await sign_in(tab, filled.tokens["reader"])
        await _search(tab, "who lives in Rome?")
        await tab.page.get_by_role("link", name="Ada", exact=True).click()
        await expect(tab.page.get_by_text("lives in Rome", exact=True).first).to_be_visible()
        await tab.page.get_by_role("link", name="Show the graph").click()
        await expect(tab.page.get_by_role("heading", name="Graph of Ada")).to_be_visible()
        await tab.page.locator("#graph a").filter(has_text="Ben").click()
        await expect(tab.page.get_by_role("heading", name="Graph of Ben")).to_be_visible()
        await tab.page.get_by_role("heading").get_by_role("link", name="Ben").click()
        await expect(tab.page.get_by_role("heading", name="Ben")).to_be_visible()
        offered = await tab.page.get_by_role("link").all_inner_texts()

    assert [text for text in offered if text.startswith(("Correct", "Forget", "Trail"))] == []
    assert tab.faults == []


async def test_a_writer_corrects_a_fact_and_an_administrator_undoes_it(filled: Place) -> None:
    async with open_tab(filled) as tab:
        await _correct(tab, filled)
        await tab.page.get_by_role("button", name="Sign out").click()
        await _undo(tab, filled)

    assert tab.faults == []


async def test_a_writer_forgets_a_fact_by_keyboard_alone(filled: Place) -> None:
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["writer"])
        await tab.go("entity?name=Ada")
        await _press(tab, "link", "Forget.*prefers green tea")
        await expect(tab.page.get_by_text("This deletes one fact")).to_be_visible()
        await _press(tab, "button", "Delete")
        await expect(tab.page.get_by_role("heading", name="Ada")).to_be_visible()

    assert _find_facts(filled, "prefers%") == []
    assert tab.faults == []


async def _correct(tab: Tab, place: Place) -> None:
    """Correct a fact of Ada as a writer."""
    await sign_in(tab, place.tokens["writer"])
    await tab.go("entity?name=Ada")
    await tab.page.get_by_role("link", name=re.compile("Correct.*prefers green tea")).click()
    await tab.page.get_by_label("What is right").fill("prefers mint tea")
    await tab.page.get_by_label("was wrong from the beginning").check()
    await tab.page.get_by_label("If it was wrong: why").fill("she said so")
    await tab.page.get_by_role("button", name="Show what will change").click()
    await expect(tab.page.get_by_text("Nothing has changed yet")).to_be_visible()
    assert _find_facts(place, "prefers%") == ["prefers green tea"]
    await tab.page.get_by_role("button", name="Change it").click()
    await expect(tab.page.get_by_text("Wrong: she said so")).to_be_visible()
    assert _find_facts(place, "prefers%") == ["prefers mint tea"]


async def _undo(tab: Tab, place: Place) -> None:
    """Undo what the writer did as an administrator, and put it back."""
    await sign_in(tab, place.tokens["admin"])
    await tab.page.get_by_role("link", name="Trail").click()
    await tab.page.get_by_label("Author").fill("writer")
    await tab.page.get_by_role("button", name="Show").click()
    undo = tab.page.get_by_role("link", name="Undo what this author wrote from here on")
    await undo.last.click()
    await expect(tab.page.get_by_text("prefers mint tea").first).to_be_visible()
    assert _find_facts(place, "prefers%") == ["prefers mint tea"]
    await tab.page.get_by_role("button", name="Undo").click()
    await expect(tab.page.get_by_role("button", name="Put")).to_be_visible()
    assert _find_facts(place, "prefers%") == ["prefers green tea"]
    await tab.page.get_by_role("button", name="Put").click()
    assert _find_facts(place, "prefers%") == ["prefers mint tea"]


async def _search(tab: Tab, question: str) -> None:
    await tab.page.get_by_label("Question or keywords").fill(question)
    await tab.page.keyboard.press("Enter")
    await tab.page.wait_for_url("**/search?*q=*")


async def _press(tab: Tab, role: str, name: str) -> None:
    """Walk to a link or a button with the Tab key, as people without a mouse do, and use it."""
    wanted = tab.page.get_by_role(role, name=re.compile(name))  # pyright: ignore[reportArgumentType]
    for _ in range(_MOST_STEPS):
        await tab.page.keyboard.press("Tab")
        if await wanted.evaluate("(element) => element === document.activeElement"):
            await tab.page.keyboard.press("Enter")
            return
    pytest.fail(f"The Tab key does not reach {name}")


_MOST_STEPS = 60


def _find_facts(place: Place, pattern: str) -> list[str]:
    """The valid facts with such a text."""
    rows = place.owner.execute(
        "select content from textrawl.fact where content like %s"
        " and textrawl.is_valid(valid_from, valid_until, closed_at) order by 1",
        (pattern,),
    )
    return [content for (content,) in rows.fetchall()]
