"""Names of entities: aliases and merges are shown first, and only who may write changes them."""

from typing import Any

import pytest
from tenacity import AsyncRetrying, stop_after_delay, wait_fixed

from tests.explorer.markup import Document
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio


def _read_aliases(place: Place) -> list[str]:
    rows = place.owner.execute(
        "select name from textrawl.entity_alias where removed_at is null order by name"
    ).fetchall()
    return [name for (name,) in rows]


def _read_facts(place: Place) -> list[tuple[Any, ...]]:
    return place.owner.execute(
        "select e.name, o.content, is_valid(o.valid_from, o.valid_until, o.closed_at)"
        " from textrawl.fact o"
        " join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id order by 1, 2"
    ).fetchall()


async def test_an_alias_is_added_and_a_notice_takes_it_back(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    given = {"name": "Ada", "space": "team"}
    async with place.browse("writer") as browser:
        asked = await browser.get("alias", **given)
        unconfirmed = await browser.post("alias", **given, alias="Countess")
        before = _read_aliases(place)
        added = await browser.post("alias", **given, alias="Countess", confirmed="1")
        after = _read_aliases(place)
        page = await browser.get("entity", name="countess")
        await browser.press(page, "undo-change")

    assert "The other name" in asked.text
    assert unconfirmed.status_code == 400
    assert added.headers["location"] == "/explore/entity?name=Ada&space=team"
    assert {"Ada", "Countess", "writer"} <= set(Document(page.text).texts)
    assert (before, after, _read_aliases(place)) == ([], ["Countess"], [])


async def test_an_alias_is_removed_and_a_notice_takes_that_back(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    given = {"name": "Ada", "space": "team", "alias": "Countess"}
    async with place.browse("writer") as browser:
        await browser.get("search")
        await browser.post("alias", **given, confirmed="1")
        again = await browser.follow(await browser.post("alias", **given, confirmed="1"))
        unsaid = await browser.post("unname", **given)
        before = _read_aliases(place)
        await browser.press(again, "unname")
        after = _read_aliases(place)
        await browser.press(await browser.get("entity", name="Ada"), "undo-change")

    assert "It had this name already." in again.text
    assert unsaid.status_code == 400
    assert (before, after, _read_aliases(place)) == (["Countess"], [], ["Countess"])


async def test_the_name_the_type_and_the_description_are_edited_in_one_form(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    before = _read_facts(place)
    given = {"name": "Ada", "space": "team", "confirmed": "1"}
    values = {"new_name": "Ada King", "type": "project", "text": "a countess"}
    async with place.browse("writer") as browser:
        asked = Document((await browser.get("edit", name="Ada", space="team")).text)
        done = await browser.post("edit", **given, **values)
        page = await browser.follow(done)
        facts = _read_facts(place)
        former = await browser.get("entity", name="Ada")
        await browser.press(page, "edit")

    assert asked.fields["new_name"] == "Ada"
    assert done.headers["location"] == "/explore/entity?name=Ada+King&space=team"
    assert "Ada King" in Document(former.text).texts
    assert {"a countess", "project"} <= set(Document(page.text).texts)
    assert {name for name, _, _ in facts} == {"Ada King"}
    assert [fact for fact in _read_facts(place) if fact[1] == "likes tea"] == before


async def test_the_name_of_another_entity_leads_to_the_merge(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    remember(place.owner, "Countess", "likes tea")
    given = {"name": "Ada", "space": "team", "confirmed": "1"}
    async with place.browse("writer") as browser:
        await browser.get("search")
        shown = await browser.post("alias", **given, alias="Countess")
        before = _read_facts(place)
        refused = await browser.post(
            "edit", **given, new_name="Countess", type="project", text="a countess"
        )

    assert shown.headers["location"] == "/explore/merge?name=Ada&other=Countess&space=team"
    assert (refused.status_code, _read_aliases(place)) == (400, [])
    assert _read_facts(place) == before


async def test_a_merge_is_planned_then_done_and_a_split_restores_both(place: Place) -> None:
    remember(place.owner, "Jeff Miller", "pays for Atlas")
    remember(place.owner, "jmiller", "pays for Atlas")
    remember(place.owner, "jmiller", "prefers Monday")
    before = _read_facts(place)
    given = {"name": "Jeff Miller", "space": "team"}
    async with place.browse("writer") as browser:
        choice = Document((await browser.get("merge", **given)).text)
        plan = Document((await browser.get("merge", **given, other="jmiller")).text)
        unconfirmed = await browser.post("merge", **given, other="jmiller")
        planned = _read_facts(place)
        done = await browser.post("merge", **given, other="jmiller", confirmed="1")
        merged = _read_facts(place)
        page = Document((await browser.get("entity", name="jmiller")).text)
        remember(place.owner, "jmiller", "is on leave")
        parting = Document((await browser.get("split", name="jmiller", space="team")).text)
        unsaid = await browser.post("split", name="jmiller", space="team")
        together = _read_facts(place)
        await browser.post("split", name="jmiller", space="team", confirmed="1")

    assert "/explore/merge?name=Jeff+Miller&other=jmiller&space=team" in choice.links
    assert "2 facts and 0 relations of " in plan.texts
    assert "1 fact and 0 relations of them end" in plan.text
    assert (unconfirmed.status_code, unsaid.status_code, planned) == (400, 400, before)
    assert done.headers["location"] == "/explore/entity?name=Jeff+Miller&space=team"
    assert {name for name, _, _ in merged} == {"Jeff Miller"}
    assert (len(together), ("Jeff Miller", "is on leave", True) in together) == (4, True)
    assert "/explore/split?name=jmiller&space=team" in page.links
    assert {"is on leave", "goes to "} <= set(parting.texts)
    assert sorted([*before, ("jmiller", "is on leave", True)]) == sorted(_read_facts(place))


async def test_names_are_changed_only_by_who_may_write_there(place: Place) -> None:
    place.owner.execute(
        "select create_space('other'), create_space('open'),"
        " grant_access('writer', 'open', '{read}')"
    )
    for space in ("team", "other", "open"):
        remember(place.owner, "Ada", "likes tea", space)
        remember(place.owner, "Bea", "likes tea", space)
    given = {"name": "Ada", "other": "Bea", "alias": "Countess", "confirmed": "1"}
    given |= {"text": "a countess"}
    actions = ("alias", "edit", "merge", "split")
    codes: list[int] = []
    async with place.browse("reader") as reader, place.browse("writer") as writer:
        page = Document((await reader.get("entity", name="Ada")).text)
        await writer.get("search")
        for action in actions:
            codes.append((await reader.get(action, **given)).status_code)
            codes.append((await reader.post(action, **given)).status_code)
            codes.append((await writer.get(action, **given, space="open")).status_code)
            codes.append((await writer.post(action, **given, space="open")).status_code)
            codes.append((await writer.post(action, **given, space="other")).status_code)

    assert set(codes) <= {403, 404}
    assert not any(f"/{name}?" in link for name in actions for link in page.links)
    assert (_read_aliases(place), len(_read_facts(place))) == ([], 6)


async def test_pairs_of_entities_have_reasons_and_lead_to_the_merge(place: Place) -> None:
    place.owner.execute("select create_space('secret')")
    for space in ("team", "secret"):
        for name in ("Jeff Miller", "jmiller"):
            remember(place.owner, f"{name} {space}", "pays for Atlas", space)
    remember(place.owner, "Acme", "makes anvils")
    async with place.browse("reader") as reader, place.browse("writer") as writer:
        page = Document((await reader.get("same")).text)
        offered = Document((await writer.get("same", name="jmiller team")).text)
        none = Document((await writer.get("same", name="Acme")).text)
        high = Document((await writer.get("same", score="100")).text)
        unknown = await writer.get("same", name="Jeff Miller secret")

    merge = "/explore/merge?name=Jeff+Miller+team&other=jmiller+team&space=team"
    assert ("1 fact in common" in page.text, "secret" in page.text) == (True, False)
    assert ("Same entities" in page.texts, "Same entities" in offered.texts) == (False, True)
    assert (merge in page.links, merge in offered.links) == (False, True)
    assert "There is no such pair." in none.texts
    assert "There is no such pair." in high.texts
    assert unknown.status_code == 404
    assert page.faults + offered.faults == []


async def test_pairs_are_found_again_after_a_write(place: Place) -> None:
    remember(place.owner, "Jeff Miller", "pays for Atlas")
    async with place.browse("writer") as writer:
        before = Document((await writer.get("same")).text)
        remember(place.owner, "jmiller", "pays for Atlas")
        async for attempt in AsyncRetrying(stop=stop_after_delay(60), wait=wait_fixed(0.05)):
            with attempt:  # on a slow machine the page shows the former pairs once
                after = Document((await writer.get("same")).text)
                assert "jmiller" in after.texts
        await writer.post("merge", name="Jeff Miller", other="jmiller", confirmed="1")
        merged = Document((await writer.get("same")).text)

    assert ["jmiller" in page.texts for page in (before, merged)] == [False, False]
