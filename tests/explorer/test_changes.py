"""Corrections and deletions: what will change is shown first, and only who may do it does it."""

import html
import re

import pytest

from tests.explorer.markup import Document
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio


def _read_facts(place: Place) -> list[tuple[str, bool]]:
    return place.owner.execute(
        "select content, is_valid(valid_from, valid_until, closed_at) from textrawl.fact"
        " order by created_at, content"
    ).fetchall()


def _find_id(place: Place) -> str:
    rows = place.owner.execute("select id::text from textrawl.fact").fetchall()
    return rows[0][0]


async def test_a_correction_returns_to_its_place_which_takes_it_back(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    given = {"name": "Ada", "fact": _find_id(place), "space": "team"}
    async with place.browse("writer") as browser:
        search = Document((await browser.get("search", q="Oslo")).text)
        link = next(link for link in search.links if link.startswith("/explore/correct?"))
        asked = await browser.http.get(f"{place.root}{link}")
        back = Document(asked.text).fields["back"]
        text = {"text": "lives in Rome", "kind": "ended", "back": back}
        unconfirmed = await browser.post("correct", **given, **text)
        before = _read_facts(place)
        done = await browser.post("correct", **given, **text, confirmed="1")
        after = _read_facts(place)
        shown = await browser.follow(done)
        seen = await browser.follow(done)
        undone = await browser.press(shown, "undo-change")
        again = await browser.follow(undone)

    assert "lives in Oslo" in asked.text
    assert (unconfirmed.status_code, before) == (400, [("lives in Oslo", True)])
    assert after == [("lives in Oslo", False), ("lives in Rome", True)]
    assert (
        back == done.headers["location"] == undone.headers["location"] == "/explore/search?q=Oslo"
    )
    assert ["Corrected." in page.text for page in (shown, seen)] == [True, False]
    assert "Undone." in again.text
    assert _read_facts(place) == before


async def test_a_page_elsewhere_is_never_a_place_to_return_to(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    given = {"name": "Ada", "space": "team", "text": "likes tea", "confirmed": "1"}
    wrong = (
        "//evil.example/explore/search",
        "https://evil.example/",
        "/explore/../x",
        "javascript:",
        "/explore/search\r\nset-cookie: x=1",
        "\\\\evil.example",
        "/explore/" + "a" * 3000,
    )
    async with place.browse("writer") as browser:
        await browser.get("search")
        targets = {
            (await browser.post("remember", **given, back=back)).headers["location"]
            for back in wrong
        }

    assert targets == {"/explore/entity?name=Ada&space=team"}


async def test_a_wrong_fact_is_revised_with_its_reason(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    given = {"name": "Ada", "fact": _find_id(place), "space": "team"}
    text = {"text": "lives in Bergen", "kind": "wrong", "confirmed": "1"}
    async with place.browse("writer") as browser:
        await browser.get("correct", **given)
        await browser.post("correct", **given, **text, reason="she said Bergen")
        page = Document((await browser.get("entity", name="Ada")).text)

    assert "she said Bergen" in page.texts
    assert _read_facts(place) == [("lives in Oslo", False), ("lives in Bergen", True)]


async def test_a_wrong_fact_can_end_without_another_in_its_place(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    given = {"name": "Ada", "fact": _find_id(place), "space": "team", "kind": "void", "text": ""}
    async with place.browse("writer") as browser:
        await browser.get("correct", **given)
        unknown = await browser.post("correct", **given | {"kind": "lost"}, confirmed="1")
        before = _read_facts(place)
        await browser.post("correct", **given, confirmed="1")
        page = Document((await browser.get("entity", name="Ada")).text)

    assert (unknown.status_code, before) == (400, [("lives in Oslo", True)])
    assert "corrected without a reason" in page.texts
    assert _read_facts(place) == [("lives in Oslo", False)]


async def test_a_deletion_says_what_goes_and_then_deletes_it(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    remember(place.owner, "Ada", "likes tea")
    async with place.browse("writer") as browser:
        one = await browser.get("forget", name="Ada", fact="likes tea", space="team")
        plan = _read_plan(one.text)
        unconfirmed = await browser.post("forget", **plan)
        unplanned = await browser.post("forget", **plan | {"planned": ""}, confirmed="1")
        still = _read_facts(place)
        await browser.post("forget", **plan, confirmed="1")
        left = _read_facts(place)
        whole = await browser.get("forget", name="Ada", space="team")
        sure = {**_read_plan(whole.text), "confirmed": "1"}
        untyped = [
            await browser.post("forget", **sure, typed=each, part=part)
            for each, part in (("", "1"), ("Adda", ""))
        ]
        await browser.post("forget", **sure, typed="ada")
        gone = await browser.get("forget", name="Ada", space="team")

    assert "This deletes one fact" in one.text
    assert (unconfirmed.status_code, unplanned.status_code, len(still)) == (400, 400, 2)
    assert left == [("lives in Oslo", True)]
    assert [answer.status_code for answer in untyped] == [400, 400]
    assert "the entity with 1 fact and 0 relations for good" in whole.text
    assert (gone.status_code, _read_facts(place)) == (404, [])


async def test_a_deletion_lists_every_fact_with_its_author_before_a_name_confirms_it(
    place: Place,
) -> None:
    for number in range(60):
        remember(place.owner, "Ada", f"said number {number}")
    place.owner.execute(
        "select relate_entities('Ben', 'knows', 'Ada', space => id) from space where name = 'team'"
    )
    async with place.browse("admin") as browser:
        pages = [await browser.get("forget", name="Ada", skip=each) for each in ("0", "50")]
        beyond = await browser.get("forget", name="Ada", skip="500")
        refused = await browser.post("forget", **_read_plan(pages[0].text), confirmed="1")
        erased = [await browser.get("erase", name="Ada", skip=each) for each in ("0", "50")]

    facts = place.owner.execute("select id::text from fact").fetchall()
    for listed in (pages, erased):
        links = [link for page in listed for link in Document(page.text).links]
        assert {f"/explore/entity?name=Ada&fact={each}&space=team" for (each,) in facts} <= {*links}
    for page in (*pages, *erased):
        assert page.text.count("textrawl_owner") >= 10
    assert "knows" in pages[1].text
    assert "said number 59" in beyond.text
    assert "/explore/forget?name=Ada&space=team&skip=50" in Document(refused.text).links
    assert "knows" in erased[1].text


async def test_a_deletion_takes_no_more_than_its_plan_said(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    remember(place.owner, "Ben", "likes tea")
    async with place.browse("writer") as browser:
        plan = _read_plan((await browser.get("forget", name="Ada", space="team")).text)
        place.owner.execute(
            "select merge_entities('Ben', 'Ada', space => id) from space where name = 'team'"
        )
        refused = await browser.post("forget", **plan, typed="Ada", confirmed="1")

    assert (refused.status_code, "look again" in refused.text) == (400, True)
    assert len(_read_facts(place)) == 2


async def test_a_deletion_of_one_fact_takes_no_more_than_its_plan_said(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    async with place.browse("writer") as browser:
        shown = await browser.get("forget", name="Ada", fact="lives in Oslo", space="team")
        plan = _read_plan(shown.text)
        place.owner.execute(
            "select forget_entity('Ada', space => id) from space where name = 'team'"
        )
        remember(place.owner, "Ada", "lives in Oslo")
        refused = await browser.post("forget", **plan, typed="Ada", confirmed="1")

    assert (refused.status_code, "look again" in refused.text) == (400, True)
    assert _read_facts(place) == [("lives in Oslo", True)]


def _read_plan(page: str) -> dict[str, str]:
    """The fields of the form that deletes an entity."""
    fields = re.findall(r'name="(name|fact|planned|space)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in fields}


async def test_a_reader_changes_nothing_and_is_offered_nothing(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    given = {"name": "Ada", "fact": _find_id(place), "confirmed": "1"}
    text = {"text": "lives in Rome", "kind": "ended"}
    async with place.browse("reader") as browser:
        page = Document((await browser.get("entity", name="Ada")).text)
        answers = [
            await browser.get("correct", **given),
            await browser.post("correct", **given, **text),
            await browser.post("correct", **given, **text, space="team"),
            await browser.post("forget", **given),
            await browser.post("forget", name="Ada", fact="", confirmed="1", space="team"),
        ]

    assert [answer.status_code for answer in answers] == [403] * 5
    assert [link for link in page.links if "correct" in link or "forget" in link] == []
    assert _read_facts(place) == [("lives in Oslo", True)]


async def test_a_writer_changes_nothing_in_another_space(place: Place) -> None:
    place.owner.execute(
        "select create_space('other'), create_space('open'),"
        " grant_access('writer', 'open', '{read}')"
    )
    for space in ("other", "open"):
        remember(place.owner, "Ada", "lives in Oslo", space)
    given = {"name": "Ada", "fact": "lives in Oslo", "confirmed": "1"}
    text = {"text": "lives in Rome", "kind": "ended"}
    async with place.browse("writer") as browser:
        await browser.get("search")
        codes = [
            (await browser.post(action, **given, **text, space=space)).status_code
            for action in ("correct", "forget")
            for space in ("other", "open", "")
        ]

    assert set(codes) <= {400, 403, 404}
    assert _read_facts(place) == [("lives in Oslo", True)] * 2


async def test_a_text_that_cannot_be_stored_is_refused(place: Place) -> None:
    remember(place.owner, "Ada", "lives in Oslo")
    given = {"name": "Ada", "fact": _find_id(place), "kind": "ended", "confirmed": "1"}
    texts = ("", " ", "lives in Oslo", "x" * 2001, "lives\u202e in Oslo")
    async with place.browse("writer") as browser:
        await browser.get("search")
        answers = [await browser.post("correct", **given, text=text) for text in texts]

    assert [answer.status_code for answer in answers] == [400] * 5
    assert _read_facts(place) == [("lives in Oslo", True)]


async def test_a_relation_is_corrected_whole_or_not_at_all(place: Place) -> None:
    place.owner.execute(
        "select relate_entities('Ada', 'works at', 'Acme', space => id) from space"
        " where name = 'team'"
    )
    given = {"name": "Ada", "relation": "works at", "other": "Globex", "space": "team"}
    former = {"former_relation": "works at", "confirmed": "1"}
    found: list[tuple[int, list[tuple[str, bool]]]] = []
    async with place.browse("writer") as browser:
        await browser.get("search")
        for other in ("Nobody", "Acme"):
            answer = await browser.post("relate", **given, **former, former=other)
            found.append((answer.status_code, _read_relations(place)))
        await browser.press(await browser.follow(answer), "undo-change")

    assert found == [
        (400, [("Acme", True)]),
        (303, [("Acme", False), ("Globex", True)]),
    ]
    assert _read_relations(place) == [("Acme", True)]


def _read_relations(place: Place) -> list[tuple[str, bool]]:
    return place.owner.execute(
        "select e.name, is_valid(r.valid_from, r.valid_until, r.closed_at) from textrawl.relation r"
        " join textrawl.entity e on e.space_id = r.space_id and e.id = r.to_entity order by 1"
    ).fetchall()
