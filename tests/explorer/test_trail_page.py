"""The trail, the undo and the erasure of a person: for administrators, with the plan before."""

import json
from collections.abc import Callable
from hashlib import sha256
from urllib.parse import parse_qsl, urlsplit

import psycopg
import pytest

from tests.explorer.markup import Document
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Browser, Place, open_place
from textrawl.settings import Settings

pytestmark = pytest.mark.anyio


def _count(place: Place) -> int:
    rows = place.owner.execute("select count(*) from textrawl.fact").fetchall()
    return rows[0][0]


async def _plan_newest(browser: Browser) -> Document:
    """Follow the link of the newest event to the plan of its undo."""
    trail = Document((await browser.get("trail")).text)
    link = next(link for link in trail.links if link.startswith("/explore/undo?"))
    return Document((await browser.get("undo", **dict(parse_qsl(urlsplit(link).query)))).text)


_EMPTY = sha256().hexdigest()  # of a plan without steps
_UNDO = ("author", "since", "space", "planned", "confirmed")


def _read_form(page: Document, *names: str) -> dict[str, str]:
    return {name: page.fields[name] for name in names}


async def test_an_undo_shows_its_plan_then_does_it_and_can_be_put_back(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    remember(place.owner, "Ada", "likes cake")
    async with place.browse("admin") as browser:
        plan = await _plan_newest(browser)
        planned = _count(place)
        unconfirmed = await browser.post("undo", **_read_form(plan, *_UNDO[:-1]))
        still = _count(place)
        done = Document((await browser.post("undo", **_read_form(plan, *_UNDO))).text)
        undone = _count(place)
        unsaid = await browser.post("revert", **_read_form(done, "undo", "space"))
        gone = _count(place)
        back = await browser.post("revert", **_read_form(done, "undo", "space", "confirmed"))
        trail = Document((await browser.follow(back)).text)

    assert "1 step" in plan.texts
    assert "likes cake" in plan.texts
    assert (unconfirmed.status_code, unsaid.status_code) == (400, 400)
    assert (planned, still, undone, gone, _count(place)) == (2, 2, 1, 1, 2)
    assert "It is as before the undo." in trail.texts
    assert any("textrawl explorer" in text for text in trail.texts)
    assert trail.faults + plan.faults + done.faults == []


async def test_an_undo_takes_back_no_more_than_its_plan_said(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    async with place.browse("admin") as browser:
        plan = await _plan_newest(browser)
        remember(place.owner, "Ada", "likes cake")
        refused = await browser.post("undo", **_read_form(plan, *_UNDO))
        kept, again = _count(place), Document(refused.text)
        await browser.post("undo", **_read_form(again, *_UNDO))

    assert (refused.status_code, "Look again." in refused.text) == (409, True)
    assert ("likes cake" in plan.texts, "likes cake" in again.texts) == (False, True)
    assert (kept, _count(place)) == (2, 0)


async def test_nobody_else_sees_the_trail_or_undoes_anything(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    scope = {"author": "admin", "since": "2020-01-01", "space": "team", "confirmed": "1"}
    for person in ("reader", "writer"):
        async with place.browse(person) as browser:
            await browser.get("search")
            answers = [
                await browser.get("trail"),
                await browser.get("undo", **scope),
                await browser.post("undo", **scope),
                await browser.post("revert", undo="1", confirmed="1"),
            ]

        assert [answer.status_code for answer in answers] == [403] * 4
        assert "likes tea" not in "".join(answer.text for answer in answers)
        assert _count(place) == 1


async def test_an_administrator_undoes_nothing_in_another_space(place: Place) -> None:
    place.owner.execute("select create_space('other')")
    remember(place.owner, "Ada", "likes tea", "other")
    author = place.owner.execute(
        "select a.name from observation join actor a on a.id = author_id"
    ).fetchall()[0][0]
    async with place.browse("admin") as browser:
        shown = await browser.get("undo", author=author, since="2020-01-01")
        form = {"author": author, "since": "2020-01-01", "planned": _EMPTY, "confirmed": "1"}
        await browser.post("undo", **form)
        named = await browser.post("undo", **form | {"space": "other"})

    assert "likes tea" not in shown.text
    assert ("There is nothing to undo" in shown.text, "danger" in shown.text) == (True, False)
    assert named.status_code == 404
    assert _count(place) == 1


async def test_a_server_that_only_reads_undoes_nothing(
    settings: Callable[..., Settings], owner: psycopg.Connection
) -> None:
    given = settings(embedding_provider="none", read_only=True)
    async with open_place(given, owner) as place, place.browse("admin") as browser:
        await browser.get("trail")
        answer = await browser.post("undo", author="admin", since="2020-01-01")

    assert answer.status_code == 403
    assert "TEXTRAWL_READ_ONLY" in answer.text


async def test_a_person_is_erased_as_the_plan_said_and_the_receipt_is_shown(place: Place) -> None:
    remember(place.owner, "Zoe", "likes <b>tea</b>")
    remember(place.owner, "Ada", "knows Zoe")
    remember(place.owner, "Ada", "likes cake")
    async with place.browse("admin") as browser:
        empty = Document((await browser.get("erase")).text)
        plan = Document((await browser.get("erase", name="Zoe")).text)
        form = {key: plan.fields[key] for key in ("name", "also", "keep", "planned", "space")}
        form["typed"] = "Zoe"
        unconfirmed = await browser.post("erase", **form)
        untyped = await browser.post("erase", **form | {"typed": "Ada"}, confirmed="1")
        remember(place.owner, "Zoe", "likes milk")
        changed = await browser.post("erase", **form, confirmed="1")
        again = Document((await browser.get("erase", name="Zoe")).text)
        form["planned"] = again.fields["planned"]
        done = Document((await browser.post("erase", **form, confirmed="1")).text)
    async with place.browse("writer") as browser:
        refused = await browser.get("erase", name="Zoe")

    assert "likes <b>tea</b>" in plan.text
    assert untyped.status_code == 400
    assert any(text.startswith("delete facts by others: ") for text in plan.texts)
    assert (unconfirmed.status_code, changed.status_code, refused.status_code) == (400, 400, 403)
    assert empty.faults + plan.faults + done.faults == []
    [text] = [text for text in done.texts if '"receipts"' in text]
    [receipt] = json.loads(text)["receipts"]
    assert (receipt["space"], receipt["counts"]["observation"]["rows"]) == ("team", 3)
    facts = place.owner.execute("select content from textrawl.observation").fetchall()
    assert facts == [("likes cake",)]
