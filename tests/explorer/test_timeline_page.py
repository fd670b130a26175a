"""The timeline of what was said and ended, and the stream of what is new, without a text."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import anyio
import httpx2
import psycopg
import pytest

from tests.attacks.site import issue, revoke
from tests.explorer.markup import Document
from tests.explorer.test_graph_page import relate
from tests.explorer.test_proposals_page import propose
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Browser, Place
from textrawl.access.access_token import hash_token

pytestmark = pytest.mark.anyio

WORDS = ("new", "replaced", "wrong", "ended")


def correct(owner: psycopg.Connection, name: str, former: str, text: str) -> None:
    """Replace a fact with another client."""
    owner.execute(
        "select remember_fact(%s, 'person', %s, replaces => %s, client => 'chat 2.1', space => 2)",
        (name, text, former),
    )


def read_changes(page: Document) -> list[str]:
    return [text for text in page.texts if text in WORDS]


async def test_a_timeline_shows_what_was_said_replaced_revised_and_ended(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    correct(place.owner, "Ada", "lives in Oslo", "lives in Rome")
    remember(place.owner, "Ada", "likes cake")
    place.owner.execute("select revise_fact('Ada', 'likes cake', 'it was pie', space => 2)")
    relate(place.owner, "Ada", "Ben")
    place.owner.execute("select end_relation('Ada', 'knows', 'Ben', space => 2)")
    async with place.browse("reader") as browser:
        page = Document((await browser.get("timeline")).text)

    changes = read_changes(page)
    assert changes[:4] == ["ended", "new", "wrong", "new"]
    assert sorted(changes[4:]) == ["new", "new", "replaced"]  # two at the same time
    assert f"{datetime.now(UTC):%Y-%m-%d}" in page.texts
    assert "it was pie" in page.texts
    assert "chat 2.1" in page.texts
    assert page.texts.count("lives in Rome") == 2  # said, and instead of Oslo
    assert not [link for link in page.links if "correct" in link or "share" in link]


FILTERS = {
    "all": {},
    "ada": {"entity": "ADA"},
    "day": {"since": "2024-02-10", "until": "2024-02-10"},
    "before": {"until": "2024-02-09"},
    "author": {"author": "textrawl_owner"},
    "nobody": {"author": "reader"},
    "unknown": {"author": "nobody at all"},
}


async def test_a_timeline_is_filtered_by_author_entity_and_days(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    remember(place.owner, "Ben", "likes cake")
    place.owner.execute(
        "update observation set said_at = '2024-02-10T12:00Z', valid_from = '2024-02-10T12:00Z'"
        " where content = 'likes cake'"
    )
    shown: dict[str, list[str]] = {}
    async with place.browse("reader") as browser:
        for name, given in FILTERS.items():
            texts = Document((await browser.get("timeline", **given)).text).texts
            shown[name] = [fact for fact in ("likes tea", "likes cake") if fact in texts]
        wrong = [await browser.get("timeline", since="soon")]
        wrong += [await browser.get("timeline", until="later")]

    assert shown == {
        "all": ["likes tea", "likes cake"],
        "ada": ["likes tea"],
        "day": ["likes cake"],
        "before": [],
        "author": ["likes tea", "likes cake"],
        "nobody": [],
        "unknown": [],
    }
    assert [answer.status_code for answer in wrong] == [400, 400]


async def test_a_timeline_shows_only_spaces_that_the_person_reads(place: Place) -> None:
    place.owner.execute("select create_space('secret')")
    remember(place.owner, "Ada", "likes tea")
    remember(place.owner, "Ada", "hides a canary", "secret")
    propose(place, "Ada", "proposes a canary")
    async with place.browse("reader") as browser:
        page = await browser.get("timeline", entity="Ada")
        named = await browser.get("timeline", space="secret")

    assert "likes tea" in page.text
    assert "canary" not in page.text
    assert named.status_code == 404


async def test_paging_shows_every_entry_once_also_if_all_have_the_same_time(place: Place) -> None:
    facts = [f"likes tea number {number}" for number in range(120)]
    for fact in facts:
        remember(place.owner, "Ada", fact)
    place.owner.execute(
        "update observation set said_at = '2024-02-10T12:00Z', valid_from = '2024-02-10T12:00Z'"
    )
    seen: list[str] = []
    async with place.browse("reader") as browser:
        link = "timeline"
        while link:
            page = Document((await browser.get(link)).text)
            seen += [text for text in page.texts if text in facts]
            earlier = [each for each in page.links if "before=" in each]
            link = earlier[0].removeprefix("/explore/") if earlier else ""

    assert sorted(seen) == sorted(facts)


async def test_paging_shows_the_beginning_and_the_end_of_a_fact_at_the_same_time(
    place: Place,
) -> None:
    for number in range(26):
        remember(place.owner, "Ada", f"likes tea number {number}")
    place.owner.execute(
        "update observation set said_at = '2024-02-10T12:00Z', valid_from = '2024-02-10T12:00Z',"
        " valid_until = '2024-02-10T12:00Z'"
    )
    remember(place.owner, "Ada", "likes cake")  # so that a page ends between the two
    async with place.browse("reader") as browser:
        first = Document((await browser.get("timeline")).text)
        [earlier] = [each for each in first.links if "before=" in each]
        second = Document((await browser.get(earlier.removeprefix("/explore/"))).text)

    changes = [*read_changes(first), *read_changes(second)]
    assert len(read_changes(first)) == 50
    assert changes == ["new", *["ended", "new"] * 26]


@pytest.mark.ordinary("the page shows spaces of several cells")
async def test_writers_can_act_on_valid_facts_of_a_timeline_and_of_a_search(place: Place) -> None:
    place.owner.execute(
        "select create_space('other'), grant_access('writer', 'other', '{read,write}')"
    )
    remember(place.owner, "Ada", "likes tea")
    async with place.browse("writer") as browser:
        for page in ("timeline", "search?q=tea", "entity?name=Ada"):
            links = Document((await browser.get(page)).text).links
            offered = {link.partition("?")[0] for link in links if "&fact=" in link}
            assert offered == {"/explore/correct", "/explore/share", "/explore/forget"}


@asynccontextmanager
async def follow(browser: Browser) -> AsyncGenerator[httpx2.Response]:
    """An open stream of a browser, as a proxy would see it."""
    address, headers = f"{browser.root}/explore/live", {"accept-encoding": "gzip"}
    async with browser.http.stream("GET", address, headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in answer.headers
        assert answer.headers["x-accel-buffering"] == "no"
        yield answer


async def read_event(lines: AsyncIterator[str]) -> dict[str, int]:
    """Return the numbers of the next event, without signs of life."""
    async for line in lines:
        if line.startswith("data: "):
            return json.loads(line.removeprefix("data: "))
    return {}


async def test_a_page_hears_how_many_facts_are_new_and_by_whom_in_the_spaces_of_its_reader(
    place: Place,
) -> None:
    codex = hash_token(issue(place.owner, "codex", "team", "read", "write"))
    place.owner.execute("select create_space('secret')")

    def remember(number: int) -> None:
        place.owner.execute(
            "select remember_fact('Ada', 'person', 'likes tea ' || n, credential => %s),"
            " remember_fact('Canary', 'person', 'sings ' || n, space => s.id)"
            " from generate_series(1, %s) n, space s where s.name = 'secret'",
            (codex, number),
        )

    async with place.browse("reader") as browser, follow(browser) as answer:
        lines = answer.aiter_lines()
        remember(3)
        with anyio.fail_after(30):
            heard = await read_event(lines)
            page = await browser.get("search")
            revoke(place.owner, place.tokens["reader"])
            remember(4)
            rest = [line async for line in lines if line.startswith("data")]

    assert heard == {"codex": 3}
    assert (page.status_code, rest) == (200, [])


async def test_streams_are_few_and_end_with_the_session_and_need_a_right(place: Place) -> None:
    async with place.browse("reader") as browser, place.browse() as stranger:
        code = 0
        async with anyio.create_task_group() as group, follow(browser):
            for _ in range(9):
                await group.start(_hold, browser)
            code = (await browser.get("live")).status_code
            group.cancel_scope.cancel()
        asked = (await stranger.get("live")).status_code
        with anyio.fail_after(30):  # a stream whose browser is gone leaves its place
            async with follow(browser) as answer:
                lines = answer.aiter_lines()
                await browser.get("search")
                await browser.post("sign-out")
                place.owner.execute(
                    "select remember_fact('Ada', 'person', 'likes tea', space => id)"
                    " from space where name = 'team'"
                )
                rest = [line async for line in lines if line.startswith("data")]

    assert (code, asked, rest) == (204, 303, [])


async def _hold(browser: Browser, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    async with follow(browser):
        task_status.started()
        await anyio.sleep_forever()
