"""What undo takes back of nodes and edges, and what its revert puts back."""

import random
from typing import Any, LiteralString

import psycopg
import pytest

from tests.conftest import ACTOR, Connect
from tests.toolsets.mind.graph import Graph

pytestmark = pytest.mark.anyio

Sql = psycopg.Connection[Any]

_STEPS = 25
_LABELS = ("Ada", "Bo", "tea", "rain", "Mercury")
_KINDS = ("person", "topic")
_BUDGET = 200_000  # tokens, so that no answer is shortened
_FACTS: LiteralString = (
    "select id, entity_id, content, valid_until, replaced_by from observation order by id"
)


@pytest.fixture
async def graph(connect: Connect) -> Graph:
    return Graph(await connect(toolsets=["mind", "graph"], max_graph_tokens=_BUDGET))


async def look(graph: Graph, owner: Sql) -> dict[str, Any]:
    """Every node, edge and fact of the memory, without the times of the last change."""
    nodes = (await graph("node_list", includeDeleted=True, limit=500))["nodes"]
    edges = (await graph("edge_get", includeDeleted=True, limit=500))["edges"]
    kept = [{k: v for k, v in node.items() if k != "updatedAt"} for node in nodes]
    return {
        "nodes": sorted(kept, key=lambda node: node["id"]),
        "edges": sorted(edges, key=lambda edge: edge["id"]),
        "facts": owner.execute(_FACTS).fetchall(),
    }


def now(owner: Sql) -> Any:
    [(moment,)] = owner.execute("select clock_timestamp()").fetchall()
    return moment


def undo(owner: Sql, since: Any, actor: str = ACTOR) -> int:
    [(number,)] = owner.execute("select undo_id from undo_author(%s, %s)", (actor, since))
    return number


async def _change(graph: Graph, dice: random.Random, moment: int) -> None:
    """Make one random change. It may be refused, if it would make a second node of a label."""
    nodes = (await graph("node_list", limit=500))["nodes"]
    edges = (await graph("edge_get", limit=500))["edges"]
    values = {"confidence": dice.random(), "properties": {"at": moment}}
    node = dice.choice(nodes)["id"] if nodes else None
    edge = dice.choice(edges)["id"] if edges else None
    choice = dice.randrange(8) if node else 0
    if choice == 0 or node is None:
        more = {"description": f"said {moment}"} if dice.random() < 0.5 else {}
        await graph.node(dice.choice(_LABELS), dice.choice(_KINDS), **values, **more)
    elif choice in (1, 2):
        await graph.edge(node, dice.choice(nodes)["id"], dice.choice(_KINDS), weight=dice.random())
    elif choice == 3:
        text = dice.choice((f"said {moment}", "said before"))
        await graph("node_update", id=node, description=text, **values)
    elif choice == 4:
        renamed = {"label": dice.choice(_LABELS), "type": dice.choice(_KINDS)}
        await graph.client.call_tool("graph_node_update", {"id": node, **renamed})
    elif choice == 5 and edge:
        until = dice.choice(({"validUntil": "2020-01-01"}, {"validUntil": "2090-01-01"}, {}))
        arguments = {"id": edge, "weight": dice.random(), "evidence": f"{moment}", **until}
        await graph.client.call_tool("graph_edge_update", arguments)
    elif choice == 6 and edge:
        await graph("edge_delete", id=edge)
    elif choice == 7:
        await graph("node_delete", id=node)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
async def test_an_undo_of_any_changes_restores_the_state_before_and_its_revert_the_state_after(
    graph: Graph, owner: Sql, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311 - the same changes in every run
    for moment in range(_STEPS):
        await _change(graph, dice, moment)
    before, since = await look(graph, owner), now(owner)
    for moment in range(_STEPS, 2 * _STEPS):
        await _change(graph, dice, moment)
    after = await look(graph, owner)

    assert after != before
    number = undo(owner, since)

    assert await look(graph, owner) == before
    owner.execute("select revert_undo(%s)", (number,))
    assert await look(graph, owner) == after


async def test_an_undo_of_everything_leaves_nothing(graph: Graph, owner: Sql) -> None:
    since = now(owner)
    ada = await graph.node("Ada", "person", description="drinks tea")
    await graph.edge(ada, await graph.node("tea"), evidence="seen")

    undo(owner, since)

    assert await look(graph, owner) == {"nodes": [], "edges": [], "facts": []}
    for table in ("graph_node", "graph_edge", "graph_change"):
        assert owner.execute(f"select from {table}").fetchall() == []


async def test_values_of_others_stay_and_are_not_taken_back(graph: Graph, owner: Sql) -> None:
    owner.execute("select register_actor('ben')")
    since = now(owner)
    ada = await graph.node("Ada", "person", confidence=0.2, properties={"a": 1})
    owner.execute("set session authorization default")
    owner.execute('select update_node(%s, \'{"confidence": 0.9, "memory": "daily"}\')', (ada,))

    undo(owner, since)

    node = (await graph("node_get", id=ada))["node"]
    assert (node["confidence"], node.get("properties")) == (0.9, None)
    assert node["sourceMemoryId"] == "daily"


async def test_a_plan_names_the_values_that_an_undo_resets(graph: Graph, owner: Sql) -> None:
    ada = await graph.node("Ada", "person")
    since = now(owner)
    await graph("node_update", id=ada, confidence=0.9, properties={"a": 1})

    plan = owner.execute(
        "select action, kind, entity_name, content from plan_undo(%s, %s)", (ACTOR, since)
    ).fetchall()

    assert plan == [("reset", "entity", "Ada", "confidence, properties, version")]
