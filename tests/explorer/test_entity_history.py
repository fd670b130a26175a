"""The history of an entity: the days on which it changed, and what was valid on each of them."""

import psycopg
import pytest

from tests.explorer.markup import Document
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio


def live_through(owner: psycopg.Connection) -> None:
    """Ada moved from Oslo to Rome on 2 March 2025, and knew Ben in February 2025."""
    remember(owner, "Ada", "lives in Oslo")
    remember(owner, "Ada", "lives in Rome")
    owner.execute(
        "select relate_entities('Ada', 'knows', 'Ben',"
        " space => (select id from space where name = 'team'))"
    )
    owner.execute(
        "update observation set valid_from = '2025-01-01', valid_until = '2025-03-02 12:00Z'"
        " where content = 'lives in Oslo'"
    )
    owner.execute(
        "update observation set valid_from = '2025-03-02 12:00Z' where content = 'lives in Rome'"
    )
    owner.execute("update relation set valid_from = '2025-02-01', valid_until = '2025-03-01'")


async def test_the_slider_has_the_days_on_which_the_entity_changed(place: Place) -> None:
    live_through(place.owner)
    remember(place.owner, "Ada", "likes tea")
    async with place.browse("reader") as browser:
        page = await browser.get("entity", name="Ada")
        other = await browser.get("entity", name="Ben")

    assert 'data-days="2025-01-01 2025-02-01 2025-03-01 2025-03-02"' in page.text
    assert 'data-days="2025-02-01 2025-03-01"' in other.text
    assert Document(page.text).faults == []


async def test_an_entity_that_changed_only_today_has_no_slider(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    async with place.browse("reader") as browser:
        page = await browser.get("entity", name="Ada")

    assert "data-days" not in page.text


async def test_facts_and_relations_are_shown_as_of_a_day(place: Place) -> None:
    live_through(place.owner)
    async with place.browse("reader") as browser:
        texts = [
            Document((await browser.get("entity", name="Ada", as_of=day, part="1")).text).text
            for day in ("2025-02-10", "2025-03-01", "2025-03-02")
        ]

    assert ["knows" in text for text in texts] == [True, False, False]
    assert ["1 valid of 1" in text for text in texts] == [True, True, False]
    assert "1 valid of 2" in texts[2]
    assert not any("Sign out" in text for text in texts)


async def test_beyond_the_last_fact_the_last_page_is_shown(place: Place) -> None:
    for number in range(52):
        remember(place.owner, "Ada", f"likes tea number {number}")
    async with place.browse("reader") as browser:
        last = Document((await browser.get("entity", name="Ada", skip="50")).text)
        beyond = Document((await browser.get("entity", name="Ada", skip="99999")).text)
        before = await browser.get("entity", name="Ada", skip="9", as_of="2020-01-01")

    assert "52 valid of 52" in beyond.texts
    assert beyond.text == last.text
    assert sum(text.startswith("likes tea number") for text in set(beyond.texts)) == 2
    assert "It has no facts at that time." in before.text


@pytest.mark.ordinary("the session of the owner does not merge answers")
def test_days_are_those_of_the_spaces_that_a_caller_reads(owner: psycopg.Connection) -> None:
    owner.execute("select create_space('team'), create_space('other')")
    live_through(owner)
    remember(owner, "Ada", "likes tea", "other")
    owner.execute("update observation set valid_from = '2024-01-01' where content = 'likes tea'")
    days = (
        "select s.name, count(d.day), min(d.day)::text from space s,"
        " entity_days('ada', spaces => array[s.id]) d where s.name <> 'default'"
        " group by s.name order by s.name"
    )
    found = owner.execute(days).fetchall()
    newest = owner.execute("select day::text from entity_days('Ada', 2)").fetchall()

    assert found == [("other", 1, "2024-01-01"), ("team", 4, "2025-01-01")]
    assert newest == [("2025-03-01",), ("2025-03-02",)]


KNOWN = ("likes tea", "likes cake", "lives in Oslo")


async def test_facts_are_filtered_and_sorted_and_relations_say_who_wrote_them(
    place: Place,
) -> None:
    for fact in KNOWN:
        remember(place.owner, "Ada", fact)
    place.owner.execute(
        "select revise_fact('Ada', 'likes cake', 'she never did', null, space => s.id),"
        " relate_entities('Ben', 'knows', 'Ada', space => s.id) from space s where name = 'team'"
    )
    asked = ({"words": "LIKES"}, {"state": "wrong"}, {"state": "valid", "sort": "text"},
             {"author": "nobody"}, {"sort": "oldest", "state": "x"})  # fmt: skip
    found: list[list[str]] = []
    async with place.browse("reader") as browser:
        for each in asked:
            page = Document((await browser.get("entity", name="Ada", part="1", **each)).text)
            found.append([text for text in page.texts if text in KNOWN])
        whole = (await browser.get("entity", name="Ada")).text

    assert [sorted(each) for each in found[:2]] == [["likes cake", "likes tea"], ["likes cake"]]
    assert found[2:4] == [["likes tea", "lives in Oslo"], []]
    assert len(found[4]) == 3
    assert whole.count('<svg class="life valid"') == 2
    assert whole.count('<svg class="life wrong"') == 1
    assert "textrawl_owner" in whole[whole.index('id="relations"') :]
    assert '<a href="#relations">Relations 1</a>' in whole


COMMON = {"name": "Ada", "source": "team", "confirmed": "1"}


async def test_several_facts_are_ended_dated_copied_and_deleted_at_once(place: Place) -> None:
    ids = _remember_five(place)
    async with place.browse("writer") as browser:
        plan = Document((await browser.get("selection", **COMMON, change="end", id=ids[:2])).text)
        for change, chosen in (("end", ids[:2]), ("said", ids[2:3]), ("share", ids[2:4])):
            form = {"day": "2026-01-31", "target": "other", "ids": " ".join(chosen)}
            answer = await browser.post("selection", **COMMON, change=change, **form)
            assert answer.status_code == 303, answer.text
        kept = _list_facts(place)
        await browser.post("selection", **COMMON, change="forget", ids=" ".join(ids))

    assert ("fact 1" in plan.texts, "fact 2" in plan.texts) == (True, False)
    assert kept[:5] == [(f"fact {n}", "team", n > 1) for n in range(5)]
    assert kept[5:] == [("fact 2", "other", True), ("fact 3", "other", True)]
    assert _list_facts(place) == kept[5:]


async def test_a_change_of_several_facts_that_one_of_them_refuses_changes_none(
    place: Place,
) -> None:
    ids = _remember_five(place)
    sure, every = COMMON, " ".join(ids)
    async with place.browse("writer") as browser:
        answers = [
            await browser.get("selection", **sure, change="end"),
            await browser.post("selection", name="Ada", source="team", change="forget", ids=every),
            await browser.post("selection", **sure, change="end", day="2026-01-31", ids=every),
        ]
    async with place.browse("reader") as browser:
        answers.append(await browser.get("selection", **sure, change="forget", id=ids[:1]))

    assert [answer.status_code for answer in answers] == [400, 400, 400, 403]
    assert _list_facts(place) == [(f"fact {number}", "team", True) for number in range(5)]


def _remember_five(place: Place) -> list[str]:
    """Store five facts, of which three are old, and give the writer a second space."""
    for number in range(5):
        remember(place.owner, "Ada", f"fact {number}")
    place.owner.execute(
        "select create_space('other'), grant_access('writer', 'other', '{read,write}')"
    )
    place.owner.execute("update observation set valid_from = '2026-01-01' where content < 'fact 3'")
    rows = place.owner.execute("select id::text from fact order by content").fetchall()
    return [number for (number,) in rows]


def _list_facts(place: Place) -> list[tuple[str, str, bool]]:
    return place.owner.execute(
        "select f.content, s.name, is_valid(f.valid_from, f.valid_until, f.closed_at)"
        " from fact f join space s on s.id = f.space_id order by s.name desc, f.content"
    ).fetchall()


async def test_a_fact_that_an_llm_found_has_its_sentence(place: Place) -> None:
    said = '"evidence": "Now Ada sings <b>here</b>.", "evidence_start": 7'
    fact = f'[{{"entity": "Ada", "observation": "sings here", {said}}}]'
    place.owner.execute(
        "select build_knowledge(facts => %s, space => s.id) from space s where name = 'team'",
        [fact],
    )
    async with place.browse("reader") as browser:
        page = await browser.get("entity", name="Ada")

    assert "(at character 7 of the text)" in page.text
    assert "Now Ada sings &lt;b&gt;here&lt;/b&gt;.</span>" in page.text
    assert Document(page.text).faults == []


async def test_a_fact_is_pinned_and_unpinned_where_it_stands(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    pins = "select content from textrawl.list_pins()"
    async with place.browse("writer") as browser:
        page = await browser.get("entity", name="Ada")
        pinned = await browser.follow(await browser.press(page, "pin"))
        during = place.owner.execute(pins).fetchall()
        freed = await browser.follow(await browser.press(pinned, "pin"))
    async with place.browse("reader") as browser:
        seen = await browser.get("entity", name="Ada")

    assert ", pinned" in pinned.text
    assert during == [("likes tea",)]
    assert ", pinned" not in freed.text
    assert place.owner.execute(pins).fetchall() == []
    assert 'action="/explore/pin"' in page.text
    assert "/explore/pin" not in seen.text
