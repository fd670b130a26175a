"""Sharing: what would go to another space is shown first, and rights count in both spaces."""

from itertools import product

import pytest

from tests.explorer.markup import Document
from tests.explorer.test_graph_page import relate
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio


def open_spaces(place: Place, *scopes: str) -> None:
    """Make a space `other`, in which the writer has these scopes, and one of nobody."""
    place.owner.execute("select create_space('other'), create_space('secret')")
    place.owner.execute("select grant_access('writer', 'other', %s)", (list(scopes),))


def read_facts(place: Place) -> dict[str, list[tuple[str, str]]]:
    """The valid facts of each space, with their authors."""
    rows = place.owner.execute(
        "select s.name, f.content, a.name from textrawl.fact f join space s on s.id = f.space_id"
        " join actor a on a.id = f.author_id"
        " where is_valid(f.valid_from, f.valid_until, f.closed_at)"
        " order by f.content"
    ).fetchall()
    spaces: dict[str, list[tuple[str, str]]] = {}
    for space, content, author in rows:
        spaces.setdefault(space, []).append((content, author))
    return spaces


def find_id(place: Place, text: str) -> str:
    rows = place.owner.execute(
        "select id::text from textrawl.fact where content = %s", (text,)
    ).fetchall()
    return rows[0][0]


@pytest.mark.ordinary("these spaces are in different cells")
async def test_a_copy_says_what_goes_and_then_goes_with_its_author(place: Place) -> None:
    open_spaces(place, "read", "write")
    remember(place.owner, "Ada", "likes tea")
    remember(place.owner, "Ada", "likes cake")
    remember(place.owner, "Ada", "likes tea", "other")
    relate(place.owner, "Ada", "Ben")
    before = read_facts(place)
    given = {"name": "Ada", "source": "team"}
    async with place.browse("writer") as browser:
        asked = Document((await browser.get("share", **given)).text)
        plan = await browser.get("share", **given, target="other")
        unconfirmed = await browser.post("share", **given, target="other")
        between = read_facts(place)
        done = await browser.post("share", **given, target="other", confirmed="1")

    assert "other" in asked.texts
    assert "secret" not in asked.texts
    assert "stores 1 fact and 1 relation there. 1 fact is there already" in plan.text
    assert (unconfirmed.status_code, between) == (400, before)
    assert "1 fact and 1 relation are new in other, and 1 fact was there already." in done.text
    assert "/explore/entity?name=Ada&space=other" in Document(done.text).links
    after = read_facts(place)
    assert (after["team"], after["other"]) == (before["team"], before["team"])


@pytest.mark.ordinary("these spaces are in different cells")
async def test_a_fact_is_moved_by_who_may_forget_it(place: Place) -> None:
    open_spaces(place, "write")
    remember(place.owner, "Ada", "likes tea")
    remember(place.owner, "Ada", "likes cake")
    fact = find_id(place, "likes tea")
    given = {"name": "Ada", "fact": fact, "source": "team", "target": "other", "move": "1"}
    async with place.browse("writer") as browser:
        plan = await browser.get("share", **given)
        done = await browser.post("share", **given, confirmed="1")
        again = await browser.post("share", **given, confirmed="1")

    assert "takes 1 fact and 0 relations away from team" in plan.text
    assert "1 fact and 0 relations were taken away from team." in done.text
    assert "Show" not in Document(done.text).texts  # who cannot read the target gets no link
    assert again.status_code == 400
    facts = read_facts(place)
    assert [text for text, _ in facts["team"]] == ["likes cake"]
    assert [text for text, _ in facts["other"]] == ["likes tea"]


async def test_nobody_shares_without_the_rights_in_both_spaces(place: Place) -> None:
    open_spaces(place, "read")
    place.owner.execute("select grant_access('proposer', 'other', '{read,propose}')")
    for space in ("team", "other", "secret"):
        remember(place.owner, "Ada", "likes tea", space)
        remember(place.owner, "Ada", f"knows {space}", space)
    before = read_facts(place)
    pairs = [("team", "other"), ("team", "secret"), ("secret", "team"), ("team", "team")]
    pairs += [("", "team"), ("team", ""), ("none", "team")]
    codes: set[int] = set()
    for person in ("reader", "proposer", "writer"):
        async with place.browse(person) as browser:
            await browser.get("search")
            for (source, target), move in product(pairs, ("", "1")):
                given = {"name": "Ada", "source": source, "target": target, "move": move}
                codes.add((await browser.post("share", **given, confirmed="1")).status_code)
            planned = await browser.get("share", name="Ada", source="secret", target="other")
            codes.add(planned.status_code)

    assert codes <= {400, 403, 404}
    assert read_facts(place) == before


@pytest.mark.ordinary("these spaces are in different cells")
async def test_a_reviewer_without_forget_is_offered_no_move(place: Place) -> None:
    open_spaces(place, "read", "write")
    place.owner.execute("select grant_access('reviewer', 'other', '{read,write,review}')")
    remember(place.owner, "Ada", "likes tea")
    given = {"name": "Ada", "source": "team", "target": "other", "move": "1", "confirmed": "1"}
    async with place.browse("reviewer") as browser:
        asked = await browser.get("share", name="Ada", source="team")
        moved = await browser.post("share", **given)
        entity = Document((await browser.get("entity", name="Ada")).text)
    async with place.browse("reader") as browser:
        reader = Document((await browser.get("entity", name="Ada")).text)

    assert "taken away" not in asked.text
    assert moved.status_code == 403
    assert "/explore/share?name=Ada&source=team" in entity.links
    assert not [link for link in reader.links if "share" in link]
