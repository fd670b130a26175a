"""A walk reaches what a breadth-first search in Python reaches, over the same nodes and edges."""

import random
from typing import Any

import pytest

from tests.conftest import Connect
from tests.toolsets.mind.graph import Graph

pytestmark = pytest.mark.anyio

_BUDGET = 200_000  # tokens, so that no answer is shortened
_KINDS = ("knows", "loves")


@pytest.fixture
async def graph(connect: Connect) -> Graph:
    return Graph(await connect(toolsets=["mind"], max_graph_tokens=_BUDGET))


async def _grow(graph: Graph, dice: random.Random) -> None:
    """Write a random graph, with edges that ended and a node that was deleted."""
    labels = [f"t{number}" for number in range(30)]
    edges: list[dict[str, Any]] = []
    for _ in range(60):
        ended = {"validUntil": "2020-01-01"} if dice.random() < 0.2 else {}
        edges.append({
            "fromLabel": dice.choice(labels), "toLabel": dice.choice(labels),
            "type": dice.choice(_KINDS), "weight": dice.choice((0.1, 0.5, 0.9)), **ended,
        })  # fmt: skip
    nodes = [{"type": "topic", "label": label} for label in labels]
    await graph("write_transaction", nodes=nodes, edges=edges)
    await graph("node_delete", id=await graph.node("t7"))


def _hop(edge: dict[str, Any], node: str, direction: str) -> list[str]:
    ends = [(edge["fromId"], edge["toId"], "out"), (edge["toId"], edge["fromId"], "in")]
    return [end for start, end, way in ends if start == node and direction in (way, "both")]


def _search(
    edges: list[dict[str, Any]], start: str, direction: str, depth: int, limit: int
) -> list[tuple[str, list[str], int]]:
    """A breadth-first search: each node by the first node before it, by its strongest edge."""
    visited, level, found = {start}, [(start, list[str]())], list[tuple[str, list[str], int]]()
    for distance in range(1, depth + 1):
        following = list[tuple[str, list[str]]]()
        for node, path in level:
            for edge in sorted(edges, key=lambda edge: (-edge["weight"], edge["id"])):
                for end in _hop(edge, node, direction):
                    if end not in visited:
                        visited.add(end)
                        following.append((end, [*path, edge["id"]]))
        level = following
        found += [(node, path, distance) for node, path in level]
    return found[:limit]


@pytest.mark.slow
async def test_a_walk_is_the_breadth_first_search_of_valid_edges(graph: Graph) -> None:
    for seed in range(4):
        dice = random.Random(seed)  # noqa: S311 - the same graph in every run
        await _grow(graph, dice)
        live = {node["id"] for node in (await graph("node_list"))["nodes"]}
        edges = (await graph("edge_get", onlyValid=True, limit=500))["edges"]
        assert all({edge["fromId"], edge["toId"]} <= live for edge in edges)

        for start in sorted(live):
            direction, depth = dice.choice(("out", "in", "both")), dice.randint(1, 5)
            kinds = dice.choice((None, [dice.choice(_KINDS)]))
            limit = dice.choice((3, 200))
            wish = {"direction": direction, "maxDepth": depth, "limit": limit, "edgeTypes": kinds}
            walk = await graph("traverse", startNodeId=start, **wish)
            wanted = [edge for edge in edges if kinds is None or edge["type"] in kinds]
            assert [(hit["node"]["id"], hit["path"], hit["depth"]) for hit in walk["results"]] == (
                _search(wanted, start, direction, depth, limit)
            )
