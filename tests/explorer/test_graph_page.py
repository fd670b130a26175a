"""The graph around an entity: what relations connect, within the spaces that a person can read."""

from functools import partial

import psycopg
import pytest

from tests.explorer.markup import Document
from tests.explorer.visiting import Place
from textrawl.explorer.graph_layout import place_nodes

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

    assert "2 entities and 1 relation in the space team." in near.texts
    assert "3 entities and 2 relations in the space team." in far.texts
    assert "2 entities and 1 relation in the space team, and there are more." in cut.texts
    assert "Ada knows Ben" in near.texts
    assert "/explore/entity?name=Cleo" in far.links
    assert missing.status_code == 404
    assert near.faults + far.faults == []


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
    assert "1 entity and 0 relations in the space team." in other.texts


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
    assert "4 entities and 3 relations in the space team." in uses.texts
    assert "3 entities and 2 relations in the space team." in kinds.texts
    assert "/explore/graph?name=Ben&depth=2&most=60&type=person&type=project" in kinds.links
    assert "2 entities and 1 relation in the space team." in free.texts


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
    places = place_nodes(20, [*edges, (0, 10)])

    def measure(first: int, second: int) -> float:
        return abs(complex(*places[first]) - complex(*places[second]))

    assert len(set(places)) == 20
    assert all(0 <= number <= 1 for place in places for number in place)
    assert measure(0, 1) < measure(1, 11)
    assert place_nodes(20, [*edges, (0, 10)]) == places
    assert len(place_nodes(1, [(0, 0)])) == 1
