"""Errors on the pages: whoever has signed in keeps the navigation, and finds the way back."""

import httpx2
import pytest

from tests.explorer.markup import Document
from tests.explorer.siege import PAGES
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Browser, Place

pytestmark = pytest.mark.anyio


async def _fail(browser: Browser, referrer: str) -> httpx2.Response:
    """Ask for an entity without a name, from another page."""
    address = f"{browser.root}/explore/entity?name="
    return await browser.http.get(address, headers={"referer": referrer})


async def test_after_an_error_the_navigation_stays_and_a_link_leads_back(place: Place) -> None:
    async with place.browse("keeper") as browser:
        before = f"{browser.root}/explore/merge?name=Ada&space=team"
        page = Document((await _fail(browser, before)).text)
        nowhere = await browser.get("nowhere")
        pages = [await browser.get(each, space="absent") for each in ("search", "trail")]

    assert {"/explore/trail", "/explore/sign-out"} <= set(page.links)
    assert "/explore/merge?name=Ada&space=team" in page.links
    assert [answer.status_code for answer in (nowhere, *pages)] == [404] * 3
    for answer in (nowhere, *pages):
        assert {"/explore/trail", "/explore/search"} <= set(Document(answer.text).links)


async def test_a_form_that_failed_is_shown_on_its_page(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    async with place.browse("writer") as browser:
        await browser.get("alias", name="Ada", space="team")
        given = {"form_token": browser.form_token, "name": "Ada", "space": "team", "alias": ""}
        given["confirmed"] = "1"
        # The second page of a form has no parameters in its address.
        steps = ("/explore/alias", "/explore/alias?name=Ada&space=team")
        pages = [
            await browser.send("alias", given, {"referer": f"{browser.root}{step}"})
            for step in steps
        ]
        silent = await browser.send("alias", given)

    for answer in (*pages, silent):
        assert answer.status_code == 400
        page = Document(answer.text)
        assert (page.fields["name"], page.fields["space"]) == ("Ada", "team")
        assert "The name is missing. Give the name of an entity." in page.texts


async def test_the_way_back_never_leads_to_another_host_or_out_of_the_pages(place: Place) -> None:
    async with place.browse("reader") as browser:
        host = browser.root.partition("://")[2]
        pages = [
            (await _fail(browser, referrer)).text
            for referrer in (
                "https://evil.example/explore/search",
                f"http://{host}.evil.example/explore/search?q=evil.example",
                f"http://{host}@evil.example/explore/search",
                f"http://{host}//evil.example/explore",
                f"http://{host}/explore/..//evil.example",
                f"http://{host}/explore/sign-in?next=evil.example",
                f"http://{host}/mcp?evil.example",
                "http://[evil.example",
                "javascript:alert('evil.example')",
                "//evil.example",
                "",
            )
        ]
        quoted = Document((await _fail(browser, f'{browser.root}/explore/search?q="><b>')).text)

    for page in pages:
        assert ("evil.example" in page, "Go to the first page" in page) == (False, True)
    assert quoted.faults == []


async def test_a_parameter_of_any_name_breaks_no_page(shared_place: Place) -> None:
    odd: dict[str, str] = dict.fromkeys(
        ("page", "self", "changed", "parameters", "template", "values"), "x"
    )
    async with shared_place.browse("keeper") as browser:
        codes = {
            page: (await browser.http.get(f"{browser.root}/explore/{page}", params=odd)).status_code
            for page in PAGES
        }

    assert {page: code for page, code in codes.items() if code >= 500} == {}


async def test_without_a_session_an_error_shows_no_navigation(place: Place) -> None:
    async with place.browse() as browser:
        page = Document((await browser.get("nowhere")).text)

    assert "/explore/sign-out" not in page.links
    assert "/explore/home" in page.links
