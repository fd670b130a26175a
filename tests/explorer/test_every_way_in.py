"""The odd inputs of `tests/toolsets/memory/test_every_way_in.py`, through forms."""

import pytest

from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place
from tests.support.odd_inputs import TEXTS, find_different_texts

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_forms_store_odd_inputs_as_the_tools_do(place: Place) -> None:
    async with place.browse("writer") as browser:
        await browser.get("search")
        for number, text in enumerate(TEXTS):
            name = f"form text {number}"
            place.owner.execute(
                "select relate_entities(%s, 'is', 'there', 'person', space => s.id)"
                " from space s where s.name = 'team'",
                (name,),
            )
            given = {"name": name, "space": "team", "text": text}
            answer = await browser.post("edit", **given, confirmed="1")
            assert answer.status_code == 303, (text, answer.text)

    assert find_different_texts(place.owner, "form") == {}


async def test_a_form_says_that_hidden_characters_are_not_stored(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    async with place.browse("writer") as browser:
        await browser.get("search")
        given = {"name": "Ada", "space": "team", "confirmed": "1"}
        answers = [
            await browser.follow(await browser.post("edit", **given, text=text))
            for text in ("a coun\u00adtess", "a countess\r\nin London")
        ]
    cleaned, plain = answers

    assert "a countess" in cleaned.text
    assert "Hidden characters were left out" in cleaned.text
    assert "Hidden characters" not in plain.text
