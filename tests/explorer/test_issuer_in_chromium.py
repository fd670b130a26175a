"""Coming from another site, in a real browser with its rules for cookies."""

from playwright.async_api import expect

from tests.explorer.chromium import marks, open_tab
from tests.explorer.test_issuer_sign_in import Gate, gate, provider
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

__all__ = ["gate", "provider"]

pytestmark = marks


async def test_a_browser_that_comes_back_from_another_site_is_signed_in(gate: Gate) -> None:
    # To a browser, localhost is another site than 127.0.0.1, and another port is not.
    elsewhere = gate.provider.url.replace("127.0.0.1", "localhost")
    gate.provider.metadata["authorization_endpoint"] = f"{elsewhere}/authorize"
    async with open_tab(gate.place) as tab:
        await tab.page.goto(f"{gate.place.root}/explore/health")
        await tab.page.get_by_role("link", name="Sign in with").click()
        await tab.page.wait_for_url("**/explore/health")
        await expect(tab.page.get_by_role("heading", name="Health")).to_be_visible()
        await expect(tab.page.get_by_text("ana", exact=True)).to_be_visible()
        cookies = await tab.page.context.cookies()
    kept = {cookie.get("name", "").rpartition("-")[0]: cookie for cookie in cookies}

    assert kept["textrawl-session"].get("sameSite") == "Strict"
    assert "textrawl-flow" not in kept
    assert gate.provider.asked != []
    assert [fault for fault in tab.faults if elsewhere not in fault] == []


async def test_a_citation_on_another_site_opens_the_fact_for_who_is_signed_in(place: Place) -> None:
    remember(place.owner, "Ada", "likes proofs")
    [(fact,)] = place.owner.execute("select id from fact").fetchall()
    elsewhere = "http://localhost:9/chat"
    link = f'<a href="{place.root}/explore/open?id=fact:{fact}">source</a>'
    async with open_tab(place) as tab:
        await tab.page.route(
            elsewhere, lambda route: route.fulfill(body=link, content_type="text/html")
        )
        await tab.go("sign-in")
        await tab.page.get_by_label("Access token").fill(place.tokens["reader"])
        await tab.page.get_by_role("button", name="Sign in").click()
        await tab.page.wait_for_url("**/explore/home")
        await tab.page.goto(elsewhere)
        await tab.page.get_by_role("link", name="source").click()
        await tab.page.wait_for_url("**/explore/entity?*")
        await expect(tab.page.get_by_text("likes proofs")).to_be_visible()

    assert [fault for fault in tab.faults if elsewhere not in fault] == []
