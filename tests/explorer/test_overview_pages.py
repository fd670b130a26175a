"""The first page, the numbers of spaces, and health: each for those who may know it."""

import numpy as np
import pytest

from tests.attacks.site import issue
from tests.explorer.markup import Document
from tests.explorer.test_grants_page import own_browser
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Browser, Place
from textrawl.explorer.graph_page import choose_fullest, find_directions

__all__ = ["own_browser"]
pytestmark = pytest.mark.anyio


async def test_the_first_page_says_what_happened_today_and_what_waits(filled: Place) -> None:
    filled.owner.execute("select create_space('secret')")
    remember(filled.owner, "Vault", "hides gold", "secret")
    async with filled.browse("keeper") as browser:
        page = Document((await browser.get("home")).text)
    async with filled.browse("reader") as browser:
        other = Document((await browser.get("home")).text)

    today = [link for link in page.links if "timeline?author=textrawl_owner&since=" in link]
    assert len(today) == 1
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


async def test_the_dashboard_counts_what_the_person_can_read(place: Place) -> None:
    place.owner.execute("select create_space('secret')")
    for number in range(3):
        remember(place.owner, f"Entity {number}", "is known")
        remember(place.owner, f"Secret {number}", "is hidden", "secret")
    issue(place.owner, "member", "secret", "read")
    async with place.browse("reader") as browser:
        page = Document((await browser.get("spaces")).text)
        other = await browser.get("spaces", space="secret")

    words = [text.strip() for text in page.texts if text.strip()]
    assert words[words.index("entities") + 1] == "3"
    assert words[words.index("valid facts") + 1] == "3"
    assert other.status_code == 404
    assert page.faults == []


@pytest.mark.ordinary("reports of two cells are refused")
async def test_the_dashboard_of_one_space_counts_only_its_facts(place: Place) -> None:
    place.owner.execute("select create_space('other'), grant_access('admin', 'other', '{read}')")
    remember(place.owner, "Ada", "likes tea")
    remember(place.owner, "Ben", "likes tea", "other")
    place.owner.execute("update token set scopes = '{read,admin}', home_space_id = home_space_id")
    async with place.browse("admin") as browser:
        both = Document((await browser.get("spaces")).text)
        one = Document((await browser.get("spaces", space="other")).text)

    assert "/explore/spaces?space=other" in both.links
    words = [text.strip() for text in one.texts if text.strip()]
    assert words[words.index("entities") + 1] == "1"


async def test_the_numbers_are_right_after_a_write(place: Place) -> None:
    async with place.browse("reader") as browser:
        for number in range(3):
            remember(place.owner, f"Entity {number}", "is known")
            page = Document((await browser.get("spaces")).text)
            again = Document((await browser.get("spaces")).text)
            assert _read_number(page, "valid facts") == str(number + 1)
            assert page.texts == again.texts


async def test_unanswered_questions_and_stale_facts_lead_to_a_place_to_act(place: Place) -> None:
    remember(place.owner, "Ada", "likes tea")
    place.owner.execute("update observation set confidence = 0.2")
    place.owner.execute(
        "insert into recall (space_id, at, mode, format, structured, tokens, budget, items,"
        " dropped, query, query_hash, milliseconds)"
        " select space_id, now(), 'search', 'lines', false, 10, 50, 0, 0, query, hash, 3"
        " from observation,"
        " (values ('who likes rum?', 'a'), (null, 'b')) asked (query, hash)"
    )
    async with place.browse("writer") as browser:
        page = Document((await browser.get("spaces", space="team")).text)
    async with place.browse("reader") as browser:
        reader = Document((await browser.get("spaces", space="team")).text)

    assert _read_number(page, "stale facts") == "1"
    assert _read_number(page, "unanswered questions") == "2"
    assert "/explore/search?q=who+likes+rum%3F&why=1&space=team" in page.links
    assert not any("q=b" in link for link in page.links)  # only its hash was kept
    [fact] = place.owner.execute("select id from observation").fetchone() or []
    for action in ("correct", "forget"):
        link = f"/explore/{action}?name=Ada&fact={fact}&space=team"
        assert link in page.links
        assert link not in reader.links


async def test_facts_to_compare_are_shown_in_pairs_with_ways_to_act(place: Place) -> None:
    for text in ("likes green tea", "likes tea that is green", "has 2 cats", "has 3 cats"):
        remember(place.owner, "Ada", text)
    place.owner.execute("select register_embedding_model('fixed', 2)")
    place.owner.execute(
        "insert into embedding_1 select space_id, id,"
        " case when content like '%%tea%%' then '[1,0]'::halfvec else '[0,1]'::halfvec end"
        " from observation"
    )
    async with place.browse("writer") as browser:
        dashboard = Document((await browser.get("spaces")).text)
        page = Document((await browser.get("compare")).text)

    assert _read_number(dashboard, "possible duplicates") == "1"
    assert _read_number(dashboard, "possible conflicts") == "1"
    assert "/explore/compare#conflict" in dashboard.links
    assert [t for t in page.texts if t.startswith(("likes", "has"))] == [
        "likes green tea", "likes tea that is green", "has 2 cats", "has 3 cats",
    ]  # fmt: skip
    assert sum("/explore/forget?name=Ada&fact=" in link for link in page.links) == 4
    assert page.faults + dashboard.faults == []


def _read_number(page: Document, label: str) -> str:
    """Return the number beside a label."""
    words = [text.strip() for text in page.texts if text.strip()]
    return words[words.index(label) + 1]


async def test_people_on_a_server_see_what_answers_depend_on_and_no_settings(place: Place) -> None:
    for person in ("reader", "admin"):
        async with place.browse(person) as browser:
            page = Document((await browser.get("health")).text)
            refused = await browser.post("health")

        assert "none: searches compare only words" in page.texts
        assert "format compact, with structured content, at most 2,000 tokens" in page.texts
        assert "TEXTRAWL_DATABASE_URL" not in page.text
        assert "127.0.0.1" not in page.text
        assert page.faults == []
        assert refused.status_code == 403


async def test_the_owner_of_the_machine_checks_everything_and_sees_all_settings(
    own_browser: Browser,
) -> None:
    before = Document((await own_browser.get("health")).text)
    answer = await own_browser.post("health")
    after = Document((await own_browser.get("health")).text)

    assert "Nothing has been checked yet since the explorer was started." in before.texts
    assert answer.status_code == 303
    assert {"database", "pgvector", "schema", "login", "embeddings", "tokens"} <= set(after.texts)
    assert any(text.startswith("Checked at ") for text in after.texts)
    assert {"TEXTRAWL_DATABASE_URL", "TEXTRAWL_ENABLE_MEMORY", "TEXTRAWL_EXPLORER"} <= set(
        after.texts
    )
    assert before.faults + after.faults == []
