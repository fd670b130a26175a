"""The graph around an entity: what relations connect, within the spaces that a person can read."""

import random
from functools import partial
from itertools import combinations

import psycopg
import pytest

from tests.explorer.markup import Document
from tests.explorer.visiting import Place
from textrawl.explorer.graph_drawing import (
    FONT,
    PlacedLabel,
    draw,
    find_communities,
    measure,
    place_nodes,
)
from textrawl.explorer.site import Record

pytestmark = pytest.mark.anyio


def relate(owner: psycopg.Connection, first: str, second: str, space: str = "team") -> None:
    owner.execute(
        "select relate_entities(%s, 'knows', %s, 'person', 'person',"
        " space => (select id from space where name = %s))",
        (first, second, space),
    )


async def test_a_graph_has_what_relations_connect_up_to_a_depth(place: Place) -> None:
    for first, second in (("Ada", "Ben"), ("Ben", "Cleo"), ("Cleo", "Dan"), ("Eve", "Finn")):
        relate(place.owner, first, second)
    place.owner.execute("select create_space('secret')")
    relate(place.owner, "Ada", "Canary", "secret")
    async with place.browse("reader") as browser:
        near = Document((await browser.get("graph", name="ada")).text)
        far = Document((await browser.get("graph", name="Ada", depth="2")).text)
        cut = Document((await browser.get("graph", name="Ada", depth="4", most="2")).text)
        missing = await browser.get("graph", name="Canary")

    assert "2 entities and 1 relation in the space team." in near.text
    assert "3 entities and 2 relations in the space team." in far.text
    assert "2 entities and 1 relation in the space team, and there are more." in cut.text
    assert "Ada knows Ben" in near.texts
    assert "/explore/entity?name=Cleo" in far.links
    assert missing.status_code == 404
    assert near.faults + far.faults == []


async def test_the_way_to_another_entity_is_told_and_marked_with_what_is_beside_it(
    place: Place,
) -> None:
    for first, second in (("Ada", "Ben"), ("Cleo", "Ben"), ("Ada", "Dan"), ("Dan", "Eve")):
        relate(place.owner, first, second)
    relate(place.owner, "Finn", "Gus")
    async with place.browse("reader") as browser:
        found = await browser.get("graph", name="ada", other="cleo")
        few = Document((await browser.get("graph", name="Ada", other="Cleo", most="2")).text)
        none = Document((await browser.get("graph", name="Ada", other="Finn")).text)

    page = Document(found.text)
    assert "The way to Cleo has 2 relations: Ada, Ben, Cleo." in page.prose
    assert found.text.count('class="way"') == 2
    assert "4 entities and 3 relations in the space team, and there are more." in page.text
    assert "3 entities and 2 relations in the space team, and there are more." in few.text
    assert "No way of at most 4 relations leads to Finn." in none.prose
    assert page.faults == []


async def test_the_way_is_found_by_an_alias_and_no_way_is_told_of_what_was_searched(
    place: Place,
) -> None:
    relate(place.owner, "Ada", "Ben")
    relate(place.owner, "Ben", "Cleo")
    place.owner.execute(
        "select name_entity('Cleo', 'Cleopatra', space => s.id) from space s where name = 'team'"
    )
    place.owner.execute(
        "insert into entity (space_id, name, name_key, entity_type, fts)"
        " select e.space_id, 'Pal ' || n, 'pal ' || n, 'person', '' from entity e,"
        " generate_series(1, 520) n where e.name = 'Ada'"
    )
    place.owner.execute(
        "insert into relation select (jsonb_populate_record(r,"
        " jsonb_build_object('id', gen_random_uuid(), 'to_entity', p.id))).* from entity p,"
        " relation r join entity e on e.id = r.from_entity"
        " where e.name = 'Ada' and p.name like 'Pal %'"
    )
    relate(place.owner, "Cleo", "Dan")
    async with place.browse("reader") as browser:
        found = Document((await browser.get("graph", name="Ben", other="cleopatra")).text)
        far = Document((await browser.get("graph", name="Ada", other="Dan")).text)

    assert "The way to Cleo has 1 relation: Ben, Cleo." in found.prose
    assert "leads to Dan among the 500 nearest entities." in far.prose


async def test_a_graph_is_drawn_as_it_was_on_a_day(place: Place) -> None:
    relate(place.owner, "Ada", "Ben")
    relate(place.owner, "Ada", "Cleo")
    place.owner.execute(
        "update relation set valid_from = '2025-01-01', valid_until = '2025-06-01'"
        " where to_entity = (select id from entity where name = 'Ben')"
    )
    async with place.browse("reader") as browser:
        then = Document((await browser.get("graph", name="Ada", as_of="2025-03-01")).text)
        now = Document((await browser.get("graph", name="Ada")).text)
        other = Document((await browser.get("graph", name="Ada", type="project")).text)

    assert "Ada knows Ben" in then.texts
    assert "Ada knows Cleo" not in then.texts
    assert "Ada knows Ben" not in now.texts
    assert "1 entity and 0 relations in the space team." in other.text


async def test_a_graph_is_filtered_by_types_of_relations_and_entities(place: Place) -> None:
    for first, verb, second, kind in (
        ("Ada", "knows", "Ben", "person"), ("Ada", "uses", "Engine", "project"),
        ("Ada", "likes", "Tea", "concept"), ("Ben", "uses", "Tea", "concept"),
    ):  # fmt: skip
        place.owner.execute(
            "select relate_entities(%s, %s, %s, 'person', %s,"
            " space => (select id from space where name = 'team'))",
            (first, verb, second, kind),
        )
    async with place.browse("reader") as browser:
        whole = await browser.get("graph", name="Ada")
        look = partial(browser.get, "graph", name="Ada", depth="2")
        uses = Document((await look(relation=["uses", "knows"])).text)
        kinds = Document((await look(type=["person", "project"])).text)
        free = Document((await look(type=["person", "nothing"])).text)

    assert all(f'name="relation" value="{verb}"' in whole.text for verb in ("knows", "likes"))
    assert "4 entities and 3 relations in the space team." in uses.text
    assert "3 entities and 2 relations in the space team." in kinds.text
    assert "/explore/graph?name=Ben&depth=2&most=60&type=person&type=project" in kinds.links
    assert "2 entities and 1 relation in the space team." in free.text


async def test_the_graph_without_a_name_has_the_best_connected_entities_of_all_spaces(
    place: Place,
) -> None:
    for first, second in (("Ada", "Ben"), ("Ada", "Cleo"), ("Eve", "Finn")):
        relate(place.owner, first, second)
    place.owner.execute(
        "select create_space('other'), create_space('secret'),"
        " grant_access('reader', 'other', '{read}')"
    )
    relate(place.owner, "Gus", "Hana", "other")
    relate(place.owner, "Canary", "Bird", "secret")
    async with place.browse("reader") as browser:
        whole = Document((await browser.get("graph")).text)
        most = Document((await browser.get("graph", most="2")).text)
        one = Document((await browser.get("graph", space="other")).text)

    assert "7 entities and 4 relations." in whole.text
    assert {"Ada knows Ben", "Gus knows Hana"} <= set(whole.texts)
    assert "/explore/graph?name=Gus&depth=1&most=60&space=other" in whole.links
    assert "2 entities and 1 relation, and there are more." in most.text
    assert "Ada knows Ben" in most.texts
    assert "2 entities and 1 relation." in one.text
    assert not any("Canary" in text for text in whole.texts + one.texts)


async def test_relations_of_another_time_are_there_for_the_slider(place: Place) -> None:
    relate(place.owner, "Ada", "Ben")
    relate(place.owner, "Ada", "Cleo")
    relate(place.owner, "Ben", "Cleo")
    place.owner.execute(
        "update relation set valid_from = '2025-01-01', valid_until = '2025-06-01'"
        " where from_entity = (select id from entity where name = 'Ben')"
    )
    async with place.browse("reader") as browser:
        page = (await browser.get("graph", name="Ada", depth="2")).text

    assert 'class="past"' in page
    assert 'data-since="2025-01-01" data-until="2025-06-01"><title>Ben knows Cleo' in page
    assert 'data-days="2025-01-01 2025-06-01 ' in page
    assert "3 entities and 2 relations in the space team." in Document(page).text


async def test_types_of_relations_are_written_if_there_are_few(place: Place) -> None:
    relate(place.owner, "Ada", "Ben")
    async with place.browse("reader") as browser:
        few = Document((await browser.get("graph", name="Ada")).text)
        for number in range(50):
            relate(place.owner, "Ada", f"Friend {number}")
        many = Document((await browser.get("graph", name="Ada")).text)

    assert ("knows" in few.texts, "marker" in few.faults) == (True, False)
    assert sum(text == "knows" for text in few.texts) == sum(t == "knows" for t in many.texts) - 49


def test_nodes_have_places_of_their_own_and_connected_nodes_are_near() -> None:
    edges = [(0, number) for number in range(1, 10)] + [(10, number) for number in range(11, 20)]
    communities = find_communities(20, [*edges, (0, 10)])
    place = partial(place_nodes, size=(1000, 600))
    places = place(20, [*edges, (0, 10)], communities, radii=[8] * 20)

    def measure(first: int, second: int) -> float:
        return abs(complex(*places[first]) - complex(*places[second]))

    assert min(measure(one, other) for one, other in combinations(range(20), 2)) >= 15
    assert all(0 <= x <= 1000 and 0 <= y <= 600 for x, y in places)
    assert measure(0, 1) < measure(1, 11)
    assert place(20, [*edges, (0, 10)], communities, radii=[8] * 20) == places
    assert len(place(1, [(0, 0)], [0], radii=[8])) == 1


def test_communities_are_the_parts_with_more_relations_inside_than_outside() -> None:
    ring = [(number, (number + step) % 5) for number in range(5) for step in (1, 2)]
    edges = [*ring, *((one + 5, other + 5) for one, other in ring), (0, 5)]

    assert find_communities(11, edges) == [0] * 5 + [1] * 5 + [2]
    assert find_communities(0, []) == []


@pytest.mark.parametrize("count", [1, 30, 60, 200])
def test_labels_never_overlap_at_any_zoom_and_a_closer_look_shows_more(count: int) -> None:
    drawing = draw(_make_graph(count))
    zooms = [zoom for zoom, _ in drawing["labels"]]
    for zoom in zooms:
        seen = [label for each, group in drawing["labels"] if each <= zoom for label in group]
        for one, other in combinations([_find_box(label, zoom) for label in seen], 2):
            assert (
                one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            )
    owners = [label.owner for _, group in drawing["labels"] for label in group]

    assert zooms == sorted(zooms)
    assert owners[0] == 0  # the entity that was asked for
    assert len(set(owners)) >= 0.9 * count


def test_names_keep_out_of_the_way_of_lines_and_a_star_shows_many() -> None:
    chain = draw(_join_all([(n, n // 2) for n in range(1, 12)]))
    ways = [(chain["nodes"][line.start], line) for line in chain["lines"]]
    names = [label for _, group in chain["labels"] for label in group if label.owner is not None]
    crossed = [
        name.text
        for name in names
        for start, line in ways
        if _is_crossed(_find_box(name, 1.0), (start.x, start.y), (line.x, line.y))
    ]
    star = draw(_join_all([(0, n) for n in range(1, 500)]))
    shown = [label for zoom, group in star["labels"] if zoom <= star["usual"] for label in group]

    assert (len(names), len(crossed) <= 1) == (12, True), crossed
    assert len(shown) >= 30


def _join_all(pairs: list[tuple[int, int]]) -> Record:
    nodes = [
        {"name": f"worker {n}", "type": "project", "space": "team"} for n in range(len(pairs) + 1)
    ]
    edges = [{"from": a, "to": b, "relation": "has", "since": "2026-01-01"} for a, b in pairs]
    return Record(space="team", nodes=nodes, edges=edges, past=[], relations=[], complete=True)


def _is_crossed(
    box: tuple[float, float, float, float], start: tuple[float, float], end: tuple[float, float]
) -> bool:
    """Whether a point of a line is in a box."""
    steps = [step / 500 for step in range(501)]
    points = [
        (start[0] + (end[0] - start[0]) * s, start[1] + (end[1] - start[1]) * s) for s in steps
    ]
    return any(box[0] < x < box[2] and box[1] < y < box[3] for x, y in points)


def _make_graph(count: int) -> Record:
    dice = random.Random(count)  # noqa: S311 - the same in every run
    nodes = [
        {
            "name": f"scheduler worker {n}" if n % 3 else f"観測 {n}",
            "type": "project",
            "space": "team",
        }
        for n in range(count)
    ]
    edges = [
        {
            "from": n,
            "to": int(count * dice.random() ** 2),
            "relation": "uses",
            "since": "2026-01-01",
        }
        for n in range(count)
        for _ in range(2)
    ]
    return Record(
        space="team", nodes=nodes, edges=edges, past=[], relations=["uses"], complete=True
    )


def _find_box(label: PlacedLabel, zoom: float) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of a text on the screen, in units of the drawing."""
    width, height = (size * FONT / zoom for size in (measure(label.text), 1.2))
    gap = 0.35 * FONT / zoom
    spot = label.spot
    gap = 0 if " " in spot.side else gap
    upright, _, across = spot.side.rpartition(" ")
    left = {"right": spot.x + gap, "left": spot.x - gap - width}.get(across, spot.x - width / 2)
    top = {"below": spot.y, "above": spot.y - height}.get(upright or across, spot.y - height / 2)
    return left, top, left + width, top + height
