"""Notices after forms: a fact that disagrees, and an undo only where something changed."""

import httpx2
import pytest

from tests.explorer.markup import Document
from tests.explorer.siege import Siege
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Browser, Place

pytestmark = pytest.mark.anyio


def _read_valid(place: Place) -> set[str]:
    rows = place.owner.execute(
        "select content from textrawl.fact where is_valid(valid_from, valid_until, closed_at)"
    )
    return {row[0] for row in rows.fetchall()}


async def _send(browser: Browser, action: str, **fields: str) -> httpx2.Response:
    """Send a form, and return the page that tells what it did."""
    answer = await browser.post(action, **{"space": "team", "confirmed": "1", **fields})
    return await browser.follow(answer)


_ZOE = {"name": "Zoe Unger", "text": "lives in Graz", "valid_from": "2026-11-01"}
_LEFT = {
    ("undo-change", 0): {"lives in Lisbon", "likes old maps"},
    ("remember", 1): {"lives in Graz"},  # the first form for it is that of the header
    ("dismiss", 0): {"lives in Graz", "lives in Lisbon"},
}
"""Valid facts after each button of the notice, without the fact that a correction replaces."""


@pytest.mark.parametrize("way", ["remember", "correct"])
@pytest.mark.parametrize("button", _LEFT)
async def test_a_fact_that_disagrees_is_told_and_can_be_replaced_kept_or_undone(
    place: Place, way: str, button: tuple[str, int]
) -> None:
    for text in ("lives in Lisbon", "likes old maps"):
        remember(place.owner, "Zoe Unger", text)
    [(fact,)] = place.owner.execute(
        "select id::text from textrawl.fact where content = 'likes old maps'"
    ).fetchall()
    async with place.browse("keeper") as browser:
        await browser.get("search")
        shown = await _send(browser, way, **_ZOE, **({"fact": fact} if way == "correct" else {}))
        pressed = await browser.press(shown, *button)
        told, after = Document(shown.text), await browser.follow(pressed)
        pairs = await browser.get("compare")

    kept = {"likes old maps"} if way == "remember" else set[str]()
    assert "It has another value than lives in Lisbon" in " ".join(told.text.split())
    assert _read_valid(place) == _LEFT[button] | kept
    assert 'role="status"' in after.text
    assert "lives in Lisbon" not in Document(pairs.text).prose


async def test_a_fact_in_nearly_the_same_words_is_told(place: Place) -> None:
    remember(place.owner, "Zoe Unger", "prefers the colour green")
    async with place.browse("writer") as browser:
        await browser.get("search")
        shown = await _send(browser, "remember", name="Zoe Unger", text="Prefers the colour GREEN.")

    assert "It is nearly the same as prefers the colour green" in " ".join(
        Document(shown.text).text.split()
    )


async def test_a_relation_that_disagrees_is_told_and_can_be_ended(place: Place) -> None:
    async with place.browse("writer") as browser:
        await browser.get("search")
        given = {"name": "Zoe Unger", "relation": "lives in"}
        shown = [
            await _send(browser, "relate", **given, other=at, asked=at, meant=at)
            for at in ("Oslo", "Graz")
        ]
        ended = await browser.follow(await browser.press(shown[1], "end"))
    rows = place.owner.execute(
        "select e.name from textrawl.relation r join entity e on e.id = r.to_entity"
        " where is_valid(r.valid_from, r.valid_until, r.closed_at)"
    )

    texts = [" ".join(Document(page.text).text.split()) for page in shown]
    assert ["It has another value than lives_in → Oslo" in text for text in texts] == [False, True]
    assert "Ended." in ended.text
    assert rows.fetchall() == [("Graz",)]


_IDLE = {
    "remember": {"name": "Ada", "text": "sings"},
    "relate": {"name": "Ada", "relation": "knows", "other": "Cora"},
    "end": {"name": "Ada", "relation": "likes", "other": "Tea"},
    "alias": {"name": "Ada", "alias": "Countess"},
    "edit": {"name": "Ada", "text": "a countess"},
    "dismiss": {"kind": "stale", "back": "/explore/stale"},
}
"""Forms that are sent twice: the second time, nothing changes."""


async def test_an_undo_is_offered_where_something_changed_and_nowhere_else(siege: Siege) -> None:
    async with siege.browse("boss") as browser:
        for action, form in _IDLE.items():
            given = {**form, **({"one": siege.team.fact} if action == "dismiss" else {})}
            first, second = [await _send(browser, action, **given) for _ in range(2)]

            assert [_offers_undo(page) for page in (first, second)] == [True, False], action
            assert 'role="status"' in second.text, action


def _offers_undo(page: httpx2.Response) -> bool:
    return '/explore/undo-change"' in page.text.partition('role="status"')[2].partition("<h1")[0]


async def test_a_proposal_that_was_made_before_is_not_offered_for_an_undo(siege: Siege) -> None:
    async with siege.browse("suggester") as browser:
        given = {"name": "Ada", "text": "sings"}
        pages = [await _send(browser, "remember", **given) for _ in range(2)]

    assert "It was proposed already." in pages[1].text
    assert [_offers_undo(page) for page in pages] == [True, False]


async def test_the_plan_of_an_undo_without_steps_has_no_button(place: Place) -> None:
    """Repetitions are no steps, but an undo takes them back. To raise an origin is a step."""
    remember(place.owner, "Ada", "likes tea")
    place.owner.execute("update observation set origin = 'said'")
    async with place.browse("keeper") as browser, place.browse("writer") as writer:
        await writer.get("search")
        later = await browser.get("undo", author="writer", since="2020-01-01")
        await _send(writer, "remember", name="Ada", text="likes tea")
        repeated = await browser.get("undo", author="writer", since="2020-01-01")

    assert ("There is nothing to undo" in later.text, "danger" in later.text) == (True, False)
    assert ("Undo the repetitions" in repeated.text, "Undo 0" in repeated.text) == (True, False)


async def test_facts_that_a_new_one_has_ended_by_its_words_are_told(place: Place) -> None:
    remember(place.owner, "Zoe Unger", "works at Acme as an engineer")
    async with place.browse("writer") as browser:
        await browser.get("search")
        given = {"name": "Zoe Unger", "text": "now works at Globex"}
        shown = await _send(browser, "remember", **given)
        told, ended = Document(shown.text).text, _read_valid(place)
        await browser.press(shown, "undo-change")

    assert "works at Acme as an engineer : it ended now" in " ".join(told.split())
    assert ended == {"now works at Globex"}
    assert _read_valid(place) == {"works at Acme as an engineer"}


async def test_a_new_entity_that_is_likely_a_known_one_leads_to_the_merge_of_both(
    place: Place,
) -> None:
    remember(place.owner, "Node.js", "runs on servers")
    given = {"name": "nodejs", "asked": "nodejs", "meant": "nodejs", "text": "is fast"}
    async with place.browse("reviewer") as browser:
        await browser.get("search")
        shown = await _send(browser, "remember", **given)
        link = next(each for each in Document(shown.text).links if "/merge?" in each)
        plan = await browser.http.get(f"{place.root}{link}")

    assert "may be another spelling of it" in shown.text
    assert (plan.status_code, "Nothing has changed yet" in plan.text) == (200, True)
