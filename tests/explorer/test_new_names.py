"""Names that no entity has: nothing is stored before the person says which entity is meant."""

from typing import LiteralString

import pytest

from tests.explorer.markup import Forms
from tests.explorer.siege import HIDDEN, Siege
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio

_FORMS = {
    "remember": ("name", {"name": "Zoe Ungr", "text": "likes olives", "type": "person"}),
    "relate": (
        "other",
        {"name": "Ada", "relation": "knows", "other": "Zoe Ungr", "type": "person"},
    ),
}
_ENTITIES: LiteralString = "select name, entity_type from textrawl.entity order by name"
_KNOWN = [("Ada", "person"), ("Zoe Unger", "person")]


def _look(place: Place) -> list[tuple[str, str]]:
    return place.owner.execute(_ENTITIES).fetchall()


@pytest.mark.parametrize("action", _FORMS)
@pytest.mark.parametrize("meant", ["Zoe Unger", "Zoe Ungr"])
async def test_an_unknown_name_makes_no_entity_until_it_is_called_new(
    place: Place, action: str, meant: str
) -> None:
    for name in ("Ada", "Zoe Unger"):
        remember(place.owner, name, "likes tea")
    field, typed = _FORMS[action]
    async with place.browse("writer") as browser:
        await browser.get("search")
        asked = await browser.post(action, **typed, space="team", confirmed="1")
        before, form = _look(place), Forms(asked.text).find(action)
        done = await browser.send(action, {**form, "meant": meant})
        shown = await browser.follow(done)

    assert {**typed, "asked": "Zoe Ungr"}.items() <= form.items()
    assert (asked.status_code, before, "meant" in form) == (400, _KNOWN, False)
    assert f'id="fault-{"new-name" if field == "name" else field}"' in asked.text
    assert [f'name="meant" value="{each}"' in asked.text for each in ("Zoe Unger", "Zoe Ungr")] == [
        True,
        True,
    ]
    new = [("Zoe Ungr", "person")] if meant == "Zoe Ungr" else []
    assert _look(place) == _KNOWN + new
    assert 'role="status"' in shown.text


async def test_an_answer_for_another_name_counts_no_more(place: Place) -> None:
    remember(place.owner, "Zoe Unger", "likes tea")
    chosen = {"asked": "Zoe Ungr", "meant": "Zoe Unger", "confirmed": "1"}
    async with place.browse("writer") as browser:
        await browser.get("search")
        answer = await browser.post("remember", name="Kim", text="sings", **chosen)

    assert (answer.status_code, len(_look(place))) == (400, 1)
    assert "New: <q" in answer.text


async def test_while_one_types_the_question_is_there_only_for_an_unknown_name(
    place: Place,
) -> None:
    remember(place.owner, "Zoe Unger", "likes tea")
    async with place.browse("writer") as browser:
        asked = {
            name: (await browser.get("suggest", q=name, new="name")).text
            for name in ("Zoe Ungr", "zoe unger", "a question of more than five words")
        }
        search = await browser.get("suggest", q="Zoe Ungr")

    assert ["New: <q" in text for text in asked.values()] == [True, False, False]
    assert 'value="Zoe Unger"' in asked["Zoe Ungr"]
    assert "<fieldset" not in search.text


async def test_a_name_that_somebody_cannot_read_is_never_offered(siege: Siege) -> None:
    given = {"name": f"{HIDDEN[0]}s", "text": "sings", "confirmed": "1"}
    async with siege.browse("boss") as boss, siege.browse("scribe") as scribe:
        asked = await boss.post("remember", **given)
        stored = await scribe.post("remember", **given)  # who reads nothing is asked nothing

    assert (asked.status_code, f'value="{HIDDEN[0]}"' in asked.text) == (400, False)
    assert stored.status_code == 303


async def test_the_type_is_asked_only_for_a_new_entity(siege: Siege) -> None:
    """Somebody who cannot read gets the field always, because the page cannot tell."""
    async with siege.browse("boss") as boss, siege.browse("scribe") as scribe:
        fields = [
            Forms((await browser.get("remember")).text).find("remember")
            for browser in (boss, scribe)
        ]

    assert ["type" in each for each in fields] == [False, True]


@pytest.mark.parametrize(
    ("page", "given", "field"),
    [
        ("remember", {}, "name"),
        ("remember", {"name": "Ada"}, "text"),
        ("relate", {"name": "Ada"}, "relation"),
        ("alias", {"name": "Ada"}, "alias"),
    ],
)
async def test_the_cursor_is_in_the_first_empty_field_without_a_script(
    siege: Siege, page: str, given: dict[str, str], field: str
) -> None:
    async with siege.browse("boss") as browser:
        shown = (await browser.get(page, **given)).text
    first = shown[shown.index(" autofocus") - 200 : shown.index(" autofocus")]

    assert f'name="{field}"' in first.rpartition("<")[2]
