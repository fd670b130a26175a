"""The slider of a history and the drawing of a graph, in a real browser."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.explorer.chromium import Tab, marks, open_tab, sign_in
from tests.explorer.test_entity_history import live_through
from tests.explorer.visiting import Place

pytestmark = marks


async def test_a_slider_shows_the_entity_on_each_day_of_a_change(place: Place) -> None:
    live_through(place.owner)
    async with open_tab(place) as tab:
        await sign_in(tab, place.tokens["reader"])
        await tab.go("entity?name=Ada")
        slider = tab.page.get_by_label("Day of a change")
        await expect(slider).to_have_attribute("aria-valuetext", "now")
        await slider.focus()
        await tab.page.keyboard.press("ArrowLeft")
        await expect(slider).to_have_attribute("aria-valuetext", "Sunday, March 2, 2025")
        await tab.page.keyboard.press("Home")
        await expect(slider).to_have_attribute("aria-valuetext", "Wednesday, January 1, 2025")
        await expect(tab.page.get_by_text("1 valid of 1")).to_be_visible()
        await expect(tab.page.get_by_text("lives in Rome", exact=True)).to_have_count(0)
        await tab.page.wait_for_url("**/entity?*as_of=2025-01-01*")
        await tab.page.keyboard.press("ArrowRight")
        await expect(tab.page.get_by_text("knows")).to_be_visible()
        await tab.page.get_by_role("link", name="Show now").click()
        await expect(slider).to_have_attribute("aria-valuetext", "now")

    assert tab.faults == []


async def test_without_javascript_the_date_field_shows_the_entity_on_a_day(place: Place) -> None:
    live_through(place.owner)
    async with open_tab(place, java_script_enabled=False) as tab:
        await sign_in(tab, place.tokens["reader"])
        await tab.go("entity?name=Ada")
        await expect(tab.page.get_by_label("Day of a change")).to_be_hidden()
        await tab.page.get_by_label("As of").fill("2025-02-10")
        await tab.page.get_by_role("button", name="Show").click()
        await expect(tab.page.get_by_text("knows")).to_be_visible()


@pytest.fixture
async def crowd(place: Place) -> Place:
    """Ada knows 499 people, who know each other in a ring."""
    place.owner.execute(
        "select relate_entities('Ada', 'knows', 'Friend ' || n, 'person', 'person',"
        "  space => (select id from space where name = 'team')),"
        " relate_entities('Friend ' || n, 'follows', 'Friend ' || 1 + n % 499, 'person', 'person',"
        "  space => (select id from space where name = 'team'))"
        " from generate_series(1, 499) n"
    )
    return place


async def _read_view(tab: Tab) -> list[Any]:
    """The visible part of the drawing, and how what is painted is moved."""
    return await tab.page.evaluate(
        "() => { const graph = document.getElementById('graph');"
        " return [graph.getAttribute('viewBox'), graph.style.transform]; }"
    )


async def test_500_entities_are_moved_as_one_layer_and_painted_after_the_movement(
    crowd: Place,
) -> None:
    async with open_tab(crowd) as tab:
        await sign_in(tab, crowd.tokens["reader"])
        await tab.go("graph?name=Ada&most=500")
        drawing = tab.page.get_by_role("group", name="Drawing")
        before = await _read_view(tab)
        during = await tab.page.evaluate(_MOVE)
        await tab.page.wait_for_function(
            "old => document.getElementById('graph').getAttribute('viewBox') !== old", arg=before[0]
        )
        after = await _read_view(tab)
        await drawing.focus()
        await tab.page.keyboard.press("0")
        await tab.page.wait_for_function(
            "old => document.getElementById('graph').getAttribute('viewBox') === old", arg=before[0]
        )
        entities = await tab.page.locator("#graph a").count()

    assert entities == 500
    assert {view for view, _ in during} == {before[0]}
    assert len({transform for _, transform in during}) >= 20
    assert (before[1], after[1]) == ("none", "none")
    assert tab.faults == []


_MOVE = """async () => {
  const graph = document.getElementById("graph");
  const seen = [];
  for (let step = 0; step < 30; step++) {
    const press = step % 2 ? { key: "ArrowLeft" } : { key: "+" };
    graph.dispatchEvent(new KeyboardEvent("keydown", { ...press, bubbles: true }));
    await new Promise(requestAnimationFrame);
    seen.push([graph.getAttribute("viewBox"), graph.style.transform]);
  }
  return seen;
}"""


async def test_a_click_walks_on_and_a_drag_and_two_fingers_do_not(crowd: Place) -> None:
    async with open_tab(crowd, viewport={"width": 360, "height": 800}, has_touch=True) as tab:
        await sign_in(tab, crowd.tokens["reader"])
        await tab.go("graph?name=Ada&most=20")
        box = await tab.page.get_by_role("group", name="Drawing").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        before = await _read_view(tab)
        await tab.page.mouse.move(x, y)  # Ada is in the middle on a narrow window
        await tab.page.mouse.down()
        await tab.page.mouse.move(x + 60, y + 30, steps=5)
        await tab.page.mouse.up()
        await expect(tab.page.locator("#graph")).not_to_have_attribute("viewBox", before[0])
        dragged = await _read_view(tab)
        await _pinch(tab, x, y)
        await expect(tab.page.locator("#graph")).not_to_have_attribute("viewBox", dragged[0])
        pinched = await _read_view(tab)
        await tab.page.locator("#graph a").nth(3).focus()
        await tab.page.keyboard.press("Enter")
        await expect(tab.page.get_by_role("heading", name="Graph of Friend")).to_be_visible()

    assert float(pinched[0].split()[2]) < float(dragged[0].split()[2]) / 3
    assert tab.faults == []


async def _pinch(tab: Tab, x: float, y: float) -> None:
    """Move two fingers apart, around a point."""
    browser: Any = await tab.page.context.new_cdp_session(tab.page)
    for kind, apart in (("touchStart", 20), ("touchMove", 60), ("touchMove", 100)):
        points = [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        await browser.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    await browser.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
