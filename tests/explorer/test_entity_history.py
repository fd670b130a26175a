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
    assert sum("likes tea number" in text for text in beyond.texts) == 2
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
