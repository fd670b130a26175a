"""One name in several spaces: every page says where it acts, and acts only there."""

import pytest

from tests.explorer.markup import Document
from tests.explorer.test_search_page import remember
from tests.explorer.visiting import Place

pytestmark = pytest.mark.anyio


def fill_spaces(place: Place, *spaces: str) -> None:
    """Give the writer all rights in a space `other`, and store Ada in these spaces."""
    place.owner.execute(
        "select create_space('other'), create_space('secret'),"
        " grant_access('writer', 'other', '{read,write,forget}')"
    )
    for space in spaces:
        remember(place.owner, "Ada", f"works in {space}", space)


def read_spaces(place: Place) -> list[str]:
    """The spaces that have an entity with facts."""
    rows = place.owner.execute(
        "select distinct s.name from textrawl.fact f join space s on s.id = f.space_id order by 1"
    ).fetchall()
    return [name for (name,) in rows]


@pytest.mark.ordinary("the page shows spaces of several cells")
async def test_an_entity_of_several_spaces_offers_each_action_for_each_space(place: Place) -> None:
    fill_spaces(place, "team", "other", "secret")
    async with place.browse("writer") as browser:
        both = Document((await browser.get("entity", name="ada")).text)
        one = Document((await browser.get("entity", name="Ada", space="other")).text)
    for page in (both, one):
        page.links = [link.partition("&back=")[0] for link in page.links]

    for action, parameter in (("alias", "space"), ("merge", "space"), ("forget", "space")):
        links = {f"/explore/{action}?name=Ada&{parameter}={each}" for each in ("team", "other")}
        assert links <= set(both.links)
        assert links & set(one.links) == {f"/explore/{action}?name=Ada&{parameter}=other"}
    assert "/explore/share?name=Ada&source=other" in both.links
    assert {"Forget this entity in team", "Forget this entity in other"} <= set(both.texts)
    assert "/explore/entity?name=Ada&space=other" in both.links
    assert "2 spaces have an entity of this name" in both.text
    assert "secret" not in both.text
    assert ("spaces have" in one.text, "Forget this entity" in one.texts) == (False, True)


async def test_an_unknown_name_leads_on_in_the_same_space(place: Place) -> None:
    fill_spaces(place, "team")
    async with place.browse("writer") as browser:
        pages = [await browser.get(page, name="Adda", space="team") for page in ("entity", "graph")]

    for page in pages:
        links = Document(page.text).links
        assert "/explore/entity?name=Ada&space=team" in links
        assert "/explore/search?q=Adda&space=team" in links


async def test_a_name_in_another_space_than_home_is_deleted_where_the_plan_says(
    place: Place,
) -> None:
    fill_spaces(place, "other", "secret")
    async with place.browse("writer") as browser:
        plan = Document((await browser.get("forget", name="Ada")).text)
        form = {name: plan.fields[name] for name in ("name", "fact", "planned", "confirmed")}
        form["typed"] = "Ada"
        nowhere = await browser.post("forget", **form)
        before = read_spaces(place)
        await browser.post("forget", **form, space=plan.fields["space"])

    assert "in the space other" in plan.text
    assert (nowhere.status_code, before) == (400, ["other", "secret"])
    assert read_spaces(place) == ["secret"]


async def test_a_deletion_without_a_space_names_its_space_and_leads_to_the_others(
    place: Place,
) -> None:
    fill_spaces(place, "team", "other", "secret")
    async with place.browse("writer") as browser:
        plan = Document((await browser.get("forget", name="Ada")).text)
        names = ("name", "fact", "planned", "space", "confirmed")
        await browser.post("forget", **{name: plan.fields[name] for name in names}, typed="Ada")

    assert "in the space team" in plan.text
    assert "/explore/forget?name=Ada&space=other" in plan.links
    assert "secret" not in plan.text
    assert read_spaces(place) == ["other", "secret"]
