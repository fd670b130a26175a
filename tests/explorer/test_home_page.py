"""The first page: what happened today and by whom, what waits, and what there is."""

import numpy as np
import pytest

from tests.explorer.markup import Document
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place
from textrawl.explorer.graph_page import choose_fullest, find_directions

pytestmark = pytest.mark.anyio


async def test_the_first_page_says_what_happened_today_and_what_waits(filled: Place) -> None:
    filled.owner.execute("select create_space('secret')")
    remember(filled.owner, "Vault", "hides gold", "secret")
    async with filled.browse("keeper") as browser:
        page = Document((await browser.get("home")).text)
    async with filled.browse("reader") as browser:
        other = Document((await browser.get("home")).text)

    assert "/explore/timeline?author=textrawl_owner" in page.links
    assert "/explore/proposals" in page.links
    assert "5 proposals" in " ".join(page.text.split())
    assert "proposal" not in other.text  # nobody else learns that there are some
    assert "hides gold" not in page.text + other.text
    assert page.faults == []


async def test_an_empty_memory_shows_three_next_steps_until_the_first_fact(place: Place) -> None:
    async with place.browse("writer") as browser:
        before = Document((await browser.get("home")).text)
        remember(place.owner, "Ada", "likes tea")
        after = Document((await browser.get("home")).text)

    steps = ("Connect a client", "Remember a first fact", "Bring your history")
    assert all(step in before.text and step not in after.text for step in steps)
    assert "likes tea" in after.text


async def test_everybody_sets_the_price_of_the_tokens_that_were_saved(filled: Place) -> None:
    """The answers of the material cost 300 to 2,700 tokens, and thrice as many as verbose text."""
    shown: list[str] = []
    codes: list[int] = []
    async with filled.browse("reader") as browser:
        for price in ("3", "1000", "no number"):
            await browser.get("home")
            codes.append((await browser.post("preferences", price=price)).status_code)
            texts = Document((await browser.get("home")).text).texts
            shown += [text for text in texts if text.startswith("$")]

    assert shown == ["$0.08", "$27.00", "$27.00"]
    assert codes == [303, 303, 400]


async def test_the_map_has_points_and_names_only_of_spaces_that_the_person_can_read(
    place: Place,
) -> None:
    place.owner.execute("select create_space('secret')")
    place.owner.execute("select register_embedding_model('fixed', 3, .05, .75, .5)")
    for number in range(1, 15):
        remember(place.owner, f"Person {number}", f"owns {number}")
        remember(place.owner, "Vault", f"hides {number}", "secret")
    place.owner.execute(
        "insert into embedding_1 (space_id, observation_id, vector) select space_id, id,"
        " array[1, random(), random()]::vector::halfvec from fact"
    )
    async with place.browse("reader") as browser:
        page = Document((await browser.get("home")).text)

    assert "Map of all facts" in page.texts
    assert {f"Person {number}" for number in range(1, 15)} & set(page.texts)
    assert "Vault" not in page.text
    assert page.faults == []


async def test_a_name_in_two_cells_of_the_map_stands_at_the_fuller_one_in_its_turn() -> None:
    points = [{"name": name, "facts": facts} for name, facts in (("A", 9), ("B", 5), ("A", 1))]

    assert choose_fullest(points) == points[:2]


async def test_the_directions_of_the_map_are_those_in_which_vectors_differ_most() -> None:
    vectors = np.random.default_rng(1).standard_normal((300, 8)).astype(np.float32)
    vectors *= np.array([1, 1, 9, 1, 1, 4, 1, 1], np.float32)
    x, y = find_directions(vectors)

    assert (int(np.argmax(x)), int(np.argmax(y))) == (2, 5)
    assert np.allclose([x @ x, y @ y, x @ y], [1, 1, 0], atol=1e-3)
