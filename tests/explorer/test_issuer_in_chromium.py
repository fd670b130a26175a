"""Signing in at a provider of another site, in a real browser with its rules for cookies."""

from playwright.async_api import expect

from tests.explorer.chromium import marks, open_tab
from tests.explorer.test_issuer_sign_in import Gate, gate, provider

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
