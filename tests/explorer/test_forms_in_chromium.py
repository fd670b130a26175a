"""Forms in a real browser: what is typed stays there without a network, a session or room."""

import re

from playwright.async_api import Locator, expect

from tests.explorer.chromium import Tab, marks, open_tab, sign_in
from tests.explorer.visiting import Place

pytestmark = marks

LONG = "Pasted text. " * 800  # more than 10,000 characters
_FORMS = {
    "remember": ("home", "summary", "Remember", {"name": "Ada", "text": "sings"}),
    "correct": ("entity?name=Ada&space=team", "a", "Correct: prefers", {"text": "likes milk"}),
    "relate": ("relate?name=Ada&space=team", "", "", {"relation": "loves", "other": "Ben"}),
    "alias": ("alias?name=Ada&space=team", "", "", {"alias": "Countess"}),
    "edit": ("edit?name=Ada&space=team", "", "", {"text": "a countess"}),
    "grant": ("grant?space=team", "", "", {"actor": "dora"}),
}  # fmt: skip
"""For each action, its page, what opens its form there, and what somebody types."""


async def _fill(tab: Tab, action: str) -> Locator:
    """Open the form of an action, type, and return the form."""
    page, opener, words, typed = _FORMS[action]
    await tab.go(page)
    if opener:
        await tab.page.locator(opener).filter(has_text=re.compile(words)).first.click()
    form = tab.page.locator(f'form[action="/explore/{action}"]').filter(visible=True)
    for name, text in typed.items():
        await form.locator(f"[name={name}]").fill(text)
    return form


async def _expect_typed(form: Locator, action: str) -> None:
    for name, text in _FORMS[action][3].items():
        await expect(form.locator(f"[name={name}]")).to_have_value(text)


async def test_without_a_network_not_saved_stands_in_each_form_which_keeps_its_text(
    filled: Place,
) -> None:
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["keeper"])
        for action in _FORMS:
            form = await _fill(tab, action)
            await tab.page.context.set_offline(True)
            await form.locator("button").last.click()
            await expect(form.get_by_role("alert")).to_contain_text("Not saved")
            await _expect_typed(form, action)
            await tab.page.context.set_offline(False)
            await form.locator("button").last.click()
            done = tab.page.locator(".notice").filter(visible=True)
            changes = tab.page.get_by_role("heading", name="This will change")
            await expect(done.or_(changes)).to_be_visible()

    assert [fault for fault in tab.faults if "ERR_INTERNET_DISCONNECTED" not in fault] == []


async def test_after_the_end_of_a_session_each_form_is_there_again_with_its_text(
    filled: Place,
) -> None:
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["keeper"])
        for action in _FORMS:
            form = await _fill(tab, action)
            await tab.page.context.clear_cookies()
            await form.locator("button").last.click()
            await tab.page.wait_for_url("**/sign-in?next=*")
            await expect(tab.page.get_by_role("status")).to_contain_text("is kept: sign in")
            await tab.page.get_by_label("Access token").fill(filled.tokens["keeper"])
            await tab.page.keyboard.press("Enter")
            await tab.page.wait_for_url(f"**/{action}?draft=*")
            await _expect_typed(tab.page.locator(f'main form[action="/explore/{action}"]'), action)

    assert tab.faults == []


async def test_a_long_text_is_counted_refused_at_its_field_and_not_cut(filled: Place) -> None:
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["writer"])
        await tab.page.locator(".remember summary").first.click()
        form = tab.page.locator(".remember form")
        await form.locator("[name=name]").fill("Ada")
        await form.locator("[name=text]").evaluate(
            "(field, text) => { field.focus(); document.execCommand('insertText', false, text); }",
            LONG,
        )
        await expect(form.locator("textarea + .count")).to_have_text(
            f"{len(LONG):,} of 2,000 characters"
        )
        await form.locator("button").last.click()
        reason = form.locator("textarea ~ .fault[role=alert]")
        await expect(reason).to_contain_text("The fact is too long")
        await expect(form.locator("[name=text]")).to_have_value(LONG)
        await form.locator("[name=text]").fill("sings")
        await form.locator("button").last.click()
        await expect(tab.page.locator(".notice").filter(visible=True)).to_contain_text("Remember")


async def test_a_box_begins_in_its_first_empty_field(filled: Place) -> None:
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["writer"])
        for page, field in (("home", "name"), ("entity?name=Ada&space=team", "text")):
            await tab.go(page)
            await tab.page.locator(".remember summary").first.click()
            await expect(tab.page.locator(f".remember [name={field}]")).to_be_focused()


async def test_without_a_network_not_saved_stands_at_a_button_too(filled: Place) -> None:
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["keeper"])
        await tab.go("entity?name=Ada&space=team")
        pin = tab.page.locator('form[action="/explore/pin"]').first
        await tab.page.context.set_offline(True)
        await pin.get_by_role("button").click()
        await expect(pin.get_by_role("alert")).to_contain_text("Not saved")
        await tab.page.context.set_offline(False)
        await pin.get_by_role("button").click()
        told = tab.page.locator(".notice").filter(visible=True)
        await expect(told).to_contain_text("Pinned.")


async def test_an_unknown_name_is_asked_about_at_its_field(filled: Place) -> None:
    """The question is there while one types, and at the latest when the form is sent."""
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["writer"])
        await tab.page.locator(".remember summary").first.click()
        form = tab.page.locator(".remember form")
        naming, kind = form.locator(".naming"), form.get_by_label("Its type")
        await form.locator("[name=name]").press_sequentially("Adda")
        await expect(naming).to_contain_text("Did you mean Ada?")
        await expect(kind).not_to_be_visible()
        await form.get_by_label("New: Adda").check()
        await expect(kind).to_be_visible()
        await form.locator("[name=name]").fill("Ada")
        await expect(naming).to_have_count(0)
        await tab.page.route("**/explore/suggest?*", lambda route: route.abort())
        await form.locator("[name=name]").fill("Adda")
        await form.locator("[name=text]").fill("sings")
        await form.locator("button").last.click()
        await expect(form.get_by_role("alert")).to_contain_text("Not saved")
        await form.get_by_label("Did you mean Ada?").check()
        await form.locator("button").last.click()
        told = tab.page.locator(".notice").filter(visible=True)
        await expect(told.get_by_role("link", name="Ada", exact=True)).to_be_visible()

    names = filled.owner.execute("select name from textrawl.entity where name like 'Ad%'")
    assert names.fetchall() == [("Ada",)]


async def test_a_passage_of_a_long_document_is_short_and_no_barrier(filled: Place) -> None:
    passage = "\n".join(f"Purple elephants get voucher number {number}." for number in range(99))
    async with filled.browse("writer") as browser:
        await browser.get("documents")
        given = {"form_token": browser.form_token, "space": "handbook", "confirmed": "1"}
        await browser.send("upload", given, files=[("file", ("vouchers.md", passage.encode()))])
    async with open_tab(filled) as tab:
        await sign_in(tab, filled.tokens["keeper"])
        await tab.go("search?q=purple+elephants+voucher")
        shown = await tab.page.locator(".facts .text", has_text="elephants").first.inner_text()
        barriers = await tab.find_barriers()

    assert (barriers, "voucher number" in shown, len(shown) <= 404) == ([], True, True)
