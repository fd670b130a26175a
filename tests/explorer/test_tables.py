"""Lists as CSV and JSON, at the address of their page."""

import csv
from io import StringIO

import pytest

from tests.explorer.markup import Document
from tests.explorer.siege import HIDDEN, Siege
from tests.explorer.test_proposals_page import propose
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio

LISTS = {
    "timeline": {},
    "trail": {},
    "search": {"q": "tea"},
    "proposals": {},
    "stale": {},
    "entities": {},
    "decisions": {},
    "documents": {},
}


@pytest.mark.parametrize("page", LISTS)
async def test_a_list_is_also_a_table_and_has_nothing_of_spaces_that_one_cannot_read(
    siege: Siege, page: str
) -> None:
    given = LISTS[page]
    async with siege.browse("boss") as browser:
        links = Document((await browser.get(page, **given)).text).links
        table = await browser.get(page, **given, **{"as": "csv"})
        lines = await browser.get(page, **given, **{"as": "json"})

    assert [any(f"as={kind}" in link for link in links) for kind in ("csv", "json")] == [True, True]
    rows = list(csv.DictReader(StringIO(table.text)))
    assert table.headers["content-type"].startswith("text/csv")
    assert [[*row] for row in rows] == [[*row] for row in lines.json()]
    assert not [text for text in HIDDEN if text in table.text + lines.text]


async def test_a_formula_in_a_table_is_a_text(place: Place) -> None:
    formula = '=HYPERLINK("https://evil.example", "tea")'
    remember(place.owner, "Ada", formula)
    propose(place, "Ada", "@SUM(1)")
    async with place.browse("proposer") as browser:
        asked = await browser.get("proposals", **{"as": "csv"})
    async with place.browse("reader") as browser:
        found = await browser.get("timeline", **{"as": "csv"})
        whole = await browser.get("timeline", **{"as": "json"})

    assert [row["content"] for row in csv.DictReader(StringIO(found.text))] == [f"'{formula}"]
    assert [row["content"] for row in csv.DictReader(StringIO(asked.text))] == ["'@SUM(1)"]
    assert [row["content"] for row in whole.json()] == [formula]


async def test_entities_without_a_question_are_a_table(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    async with place.browse("reader") as browser:
        rows = (await browser.get("search", **{"as": "json"})).json()

    assert [(row["name"], row["entity_type"]) for row in rows] == [("Ada", "person")]
