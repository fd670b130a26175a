"""The slider of a history and the drawing of a graph, in a real browser."""

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest
from playwright.async_api import expect
from psycopg.types.json import Jsonb

from tests.explorer.chromium import Tab, marks, open_tab, sign_in
from tests.explorer.test_entity_history import live_through
from tests.explorer.visiting import Place

pytestmark = marks


@pytest.fixture(scope="module")
async def crowd(shared_place: Place) -> Place:
    """The life of Ada, and a hub that meets 499 people, who follow each other in a ring."""
    live_through(shared_place.owner)
    # One call, because 998 calls take twenty times as long.
    pairs = [("Hub", "meets", f"Friend {number}") for number in range(499)]
    pairs += [(f"Friend {n}", "follows", f"Friend {(n + 1) % 499}") for n in range(499)]
    types = {"from_type": "person", "to_type": "person"}
    edges = [{"from": a, "relation": relation, "to": b, **types} for a, relation, b in pairs]
    shared_place.owner.execute(
        "select build_knowledge(relations => %s,"
        " space => (select id from space where name = 'team'))",
        (Jsonb(edges),),
    )
    shared_place.owner.execute(
        "update relation set valid_from = '2025-01-01' where relation_type = 'meets';"
        "update relation set valid_from = '2025-06-01' where relation_type = 'follows'"
    )
    return shared_place


async def test_a_slider_shows_the_entity_on_each_day_of_a_change(crowd: Place) -> None:
    async with open_tab(crowd) as tab:
        await sign_in(tab, crowd.tokens["reader"])
        await tab.go("entity?name=Ada")
        await tab.page.get_by_text("Filters").click()
        slider = tab.page.get_by_label("Day of a change")
        await expect(slider).to_have_attribute("aria-valuetext", "now")
        await slider.focus()
        await tab.page.keyboard.press("ArrowLeft")
        await expect(slider).to_have_attribute("aria-valuetext", "2025-03-02")
        await tab.page.keyboard.press("Home")
        await expect(slider).to_have_attribute("aria-valuetext", "2025-01-01")
        await expect(tab.page.get_by_text("1 valid of 1")).to_be_visible()
        await expect(tab.page.get_by_text("lives in Rome", exact=True)).to_have_count(0)
        await tab.page.wait_for_url("**/entity?*as_of=2025-01-01*")
        await tab.page.keyboard.press("ArrowRight")
        await expect(tab.page.get_by_text("knows")).to_be_visible()
        await tab.page.get_by_role("link", name="Show now").click()
        await expect(slider).to_have_attribute("aria-valuetext", "now")

    assert tab.faults == []


async def test_without_javascript_the_date_field_shows_the_entity_on_a_day(crowd: Place) -> None:
    async with open_tab(crowd, java_script_enabled=False) as tab:
        await sign_in(tab, crowd.tokens["reader"])
        await tab.go("entity?name=Ada")
        await tab.page.get_by_text("Filters").click()
        await expect(tab.page.get_by_label("Day of a change")).to_be_hidden()
        await tab.page.get_by_label("As of").fill("2025-02-10")
        await tab.page.get_by_role("button", name="Show").click()
        await expect(tab.page.get_by_text("knows")).to_be_visible()


async def _read_view(tab: Tab) -> list[Any]:
    """The visible part of the drawing, and how what is painted is moved."""
    return await tab.page.evaluate(
        "() => { const graph = document.getElementById('graph');"
        " return [graph.getAttribute('viewBox'), graph.style.transform]; }"
    )


async def _wait_for_view(tab: Tab, old: str, *, other: bool = True) -> None:
    """Wait until the drawing is painted with another view than before, or with the same."""
    await tab.page.wait_for_function(
        "([old, other]) => other"
        " === (document.getElementById('graph').getAttribute('viewBox') !== old)",
        arg=[old, other],
    )


async def test_500_entities_are_moved_as_one_layer_and_no_label_ever_overlaps(
    crowd: Place,
) -> None:
    async with open_tab(crowd) as tab:
        await sign_in(tab, crowd.tokens["reader"])
        await tab.page.clock.install()
        await tab.go("graph?name=Hub&most=500")
        before = await _read_view(tab)
        shown = [await tab.count_labels()]
        await tab.page.locator("#graph a").first.focus()
        # The drawing is painted when keys rest. A slow machine must not look like a rest.
        await tab.page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
        during = [await _move(tab, step) for step in range(30)]
        await tab.page.clock.resume()
        await _wait_for_view(tab, before[0])
        after = await _read_view(tab)
        shown.append(await tab.count_labels())
        await tab.page.keyboard.press("0")
        await _wait_for_view(tab, before[0], other=False)
        entities = await tab.page.locator("#graph a").count()
        stops = await tab.page.locator("#graph a[tabindex='0']").count()

    assert (entities, stops) == (500, 1)
    assert {view for view, _ in during} == {before[0]}
    assert len({transform for _, transform in during}) >= 20
    assert (before[1], after[1]) == ("none", "none")
    assert shown[0][0] > 10
    assert [overlap for _, overlap in shown] == [0, 0]
    assert tab.faults == []


async def _move(tab: Tab, step: int) -> list[Any]:
    """Press a key, and return the view of the next frame."""
    await tab.page.keyboard.press("Shift+ArrowLeft" if step % 2 else "+")
    await tab.page.clock.run_for(20)  # milliseconds
    return await _read_view(tab)


async def test_a_drawing_is_walked_by_keys_filtered_played_searched_and_saved(
    crowd: Place,
) -> None:
    async with open_tab(crowd) as tab:
        await sign_in(tab, crowd.tokens["reader"])
        await tab.go("graph?name=Hub&most=30")
        await _walk(tab)
        lines = tab.page.locator("#graph line:not(.gone)")
        await tab.page.get_by_label("Day of the drawing").fill("0")
        early = await lines.count()
        await tab.page.get_by_role("button", name="Play").click()
        await expect(tab.page.locator("#moment")).to_have_text("now")
        late = await lines.count()
        await tab.page.get_by_role("checkbox", name="person").check(force=True)
        async with tab.page.expect_download() as download:
            await tab.page.get_by_role("button", name="Save as SVG").click()
        picture = await anyio.Path(await (await download.value).path()).read_text(encoding="utf-8")

        shadows = await _filter_communities(tab, crowd)

    assert (early, late > early) == (29, True)
    assert shadows == [[True, True], [False, True]]
    assert picture.startswith("<svg")
    assert ("Friend" in picture, "href" in picture) == (True, False)
    assert tab.faults == []


async def test_groups_are_named_and_isolated_relations_told_and_a_drawing_is_extended_in_place(
    place: Place,
) -> None:
    _relate_two_groups(place)
    async with open_tab(place) as tab:
        await sign_in(tab, place.tokens["reader"])
        await tab.go("graph?name=North+1&depth=2")
        seen = tab.page.locator("#graph a:not(.gone)")
        group = tab.page.get_by_role("button", name="South 1 and")
        every = await seen.count()
        await group.click()
        alone = await seen.evaluate_all("all => all.map((each) => each.textContent)")
        await group.click()
        await tab.page.get_by_label("Find in the drawing").fill("Far")
        await tab.page.get_by_label("Find in the drawing").press("Enter")
        offered = await tab.page.get_by_role("link", name="Far is not in").get_attribute("href")
        await tab.page.locator("#graph a", has_text="South 2").focus()
        told = await tab.page.locator(".told").all_text_contents()
        before = await _list_places(tab)
        await tab.page.keyboard.press("Enter")
        await tab.page.get_by_role("button", name="Expand here").click()
        await expect(seen).to_have_count(every + 1)
        after = await _list_places(tab)

    assert (every, len(alone)) == (8, 4)
    assert all("South" in each for each in alone)
    assert offered is not None
    assert "name=Far" in offered
    assert {*told} == {"meets"}
    assert {name: after[name] for name in before} == before
    assert [name for name in after if name not in before] == ["Far (person)"]
    assert tab.faults == []


def _relate_two_groups(place: Place) -> None:
    place.owner.execute(
        "select relate_entities(side || a, 'meets', side || b, 'person', 'person',"
        "  space => (select id from space where name = 'team'))"
        " from unnest(array['North ', 'South ']) side, generate_series(1, 4) a,"
        " generate_series(1, 4) b where a < b;"
        " select relate_entities(one, word, other, 'person', 'person',"
        "  space => (select id from space where name = 'team'))"
        " from (values ('North 1', 'writes to', 'South 1'), ('South 2', 'knows', 'Far'))"
        " pair (one, word, other)"
    )


async def _list_places(tab: Tab) -> dict[str, list[str]]:
    return await tab.page.evaluate(
        "() => Object.fromEntries([...document.querySelectorAll('#graph a')].map((each) =>"
        " [each.querySelector('title').textContent, ['cx', 'cy'].map((name) =>"
        " each.querySelector('circle').getAttribute(name))]))"
    )


async def _filter_communities(tab: Tab, place: Place) -> list[list[bool]]:
    """Choose one of two communities, and return before and after which of them have a shadow."""
    for side, kind in (("North ", "person"), ("South ", "project")):
        place.owner.execute(
            "select relate_entities(%s || a, 'meets', %s || b, %s, %s,"
            "  space => (select id from space where name = 'team'))"
            " from generate_series(1, 4) a, generate_series(1, 4) b where a < b",
            (side, side, kind, kind),
        )
    place.owner.execute(
        "select relate_entities('North 1', 'meets', 'South 1',"
        " space => (select id from space where name = 'team'))"
    )
    await tab.go("graph?name=North+1&depth=3")
    paths = tab.page.locator("#graph .shadow")
    seen = "paths => paths.map((each) => each.getAttribute('d') !== '').sort()"
    before = await paths.evaluate_all(seen)
    await tab.page.get_by_role("checkbox", name="project").check(force=True)
    await expect(paths.first).to_have_css("opacity", "0.1")
    return [before, await paths.evaluate_all(seen)]


async def _walk(tab: Tab) -> None:
    """Walk from entity to entity, look at one beside the drawing, and find another one."""
    graph, panel = tab.page.locator("#graph"), tab.page.locator("#panel")
    await graph.locator("a").first.focus()
    await tab.page.keyboard.press("ArrowRight")
    await expect(graph).to_have_class("lit")
    await tab.page.keyboard.press("Enter")
    await expect(panel).to_be_focused()
    await expect(panel).to_contain_text("Friend")
    await tab.page.keyboard.press("Escape")
    await expect(panel).to_be_hidden()
    await tab.page.get_by_label("Find in the drawing").fill("friend 48")
    await expect(graph.locator(".match").first).to_be_visible()


async def test_the_wheel_and_one_finger_pass_until_the_drawing_is_meant(crowd: Place) -> None:
    async with open_tab(crowd, has_touch=True, viewport={"width": 390, "height": 800}) as tab:
        await sign_in(tab, crowd.tokens["reader"])
        await tab.go("graph?name=Hub&most=20")
        box = await tab.page.get_by_role("group", name="Drawing").bounding_box()
        assert box is not None
        assert box["y"] <= 320
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        before = await _read_view(tab)
        await tab.page.mouse.move(x, y)
        await tab.page.mouse.wheel(0, 40)
        await tab.page.wait_for_function("() => scrollY > 0")
        await tab.page.evaluate("() => scrollTo(0, 0)")
        assert await _read_view(tab) == before
        await tab.page.mouse.down()
        await tab.page.mouse.move(x + 60, y + 30, steps=5)
        await tab.page.mouse.up()
        await _wait_for_view(tab, before[0])
        dragged = await _read_view(tab)
        await tab.page.mouse.wheel(0, 40)
        await _wait_for_view(tab, dragged[0])
        wheeled = await _read_view(tab)
        await _pinch(tab, x, y)
        await _wait_for_view(tab, wheeled[0])
        pinched = await _read_view(tab)

    assert float(pinched[0].split()[2]) < float(wheeled[0].split()[2]) / 2
    assert tab.faults == []


async def _pinch(tab: Tab, x: float, y: float) -> None:
    """Move two fingers apart, around a point."""
    browser: Any = await tab.page.context.new_cdp_session(tab.page)
    for kind, apart in (("touchStart", 20), ("touchMove", 60), ("touchMove", 100)):
        points = [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        await browser.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    await browser.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
