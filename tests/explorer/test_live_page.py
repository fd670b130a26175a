"""The stream that says how many facts are new: for whoever reads the space, without a text."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest

from tests.attacks.site import issue, revoke
from tests.explorer.visiting import Browser, Place
from textrawl.access.access_token import hash_token

pytestmark = pytest.mark.anyio


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
