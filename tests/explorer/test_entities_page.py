"""The table of all entities."""

import re

import pytest

from tests.explorer.markup import Document
from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio

_FILL = """select remember_fact('Thing ' || n, (array['person', 'project', 'location'])[1 + n % 3],
  'was number ' || n, space => (select id from space where name = 'team'))
from generate_series(1, 500) n"""


async def test_numbers_of_types_add_up_and_the_table_is_sorted_paged_and_a_file(
    place: Place,
) -> None:
    place.owner.execute(_FILL)
    place.owner.execute(
        "select remember_fact('Thing 7', 'project', 'was ' || n, space => s.id)"
        " from generate_series(1, 2) n, space s where s.name = 'team'"
    )
    async with place.browse("reader") as browser:
        whole = (await browser.get("entities")).text
        named = (await browser.get("entities", sort="name", **{"as": "json"})).json()
        most = (await browser.get("entities", sort="facts", **{"as": "json"})).json()
        people = Document((await browser.get("entities", type="person", skip="150")).text)
        nothing = await browser.get("entities", type="fact")

    first, counts = Document(whole), re.findall(r'type-\w+">\w+</span>(\d+)</a>', whole)
    assert (len(counts), sum(map(int, counts))) == (3, 500)
    assert len([link for link in first.links if link.startswith("/explore/entity?")]) == 50
    assert "/explore/entities?skip=50" in first.links
    assert [row["name"] for row in named[:3]] == ["Thing 1", "Thing 10", "Thing 100"]
    assert (most[0]["name"], most[0]["facts"], most[0]["author"]) == (
        "Thing 7",
        3,
        "textrawl_owner",
    )
    assert len([link for link in people.links if link.startswith("/explore/entity?")]) == 16
    assert "/explore/entities?type=person&skip=100" in people.links
    assert "There is no such entity" in nothing.text
    assert {"/explore/entities", "/explore/entities?type=person"} <= {*Document(nothing.text).links}
