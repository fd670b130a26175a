"""The erasure of a person in the explorer: the plan before, and the receipt after it."""

import json

import pytest

from tests.explorer.markup import Document
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio


async def test_a_person_is_erased_as_the_plan_said_and_the_receipt_is_shown(place: Place) -> None:
    remember(place.owner, "Zoe", "likes <b>tea</b>")
    remember(place.owner, "Ada", "knows Zoe")
    remember(place.owner, "Ada", "likes cake")
    async with place.browse("admin") as browser:
        empty = Document((await browser.get("erase")).text)
        plan = Document((await browser.get("erase", name="Zoe")).text)
        form = {key: plan.fields[key] for key in ("name", "also", "keep", "planned", "space")}
        unconfirmed = await browser.post("erase", **form)
        remember(place.owner, "Zoe", "likes milk")
        changed = await browser.post("erase", **form, confirmed="1")
        again = Document((await browser.get("erase", name="Zoe")).text)
        form["planned"] = again.fields["planned"]
        done = Document((await browser.post("erase", **form, confirmed="1")).text)
    async with place.browse("writer") as browser:
        refused = await browser.get("erase", name="Zoe")

    assert "likes <b>tea</b>" in plan.texts
    assert any(text.startswith("delete facts by others: ") for text in plan.texts)
    assert (unconfirmed.status_code, changed.status_code, refused.status_code) == (400, 400, 403)
    assert empty.faults + plan.faults + done.faults == []
    [text] = [text for text in done.texts if '"receipts"' in text]
    [receipt] = json.loads(text)["receipts"]
    assert (receipt["space"], receipt["counts"]["observation"]["rows"]) == ("team", 3)
    facts = place.owner.execute("select content from textrawl.observation").fetchall()
    assert facts == [("likes cake",)]
