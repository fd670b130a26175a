"""Edges are created once, confirmed, updated, found and deleted; walks follow them."""

import psycopg
import pytest

from tests.conftest import Connect
from tests.toolsets.mind.graph import Graph

pytestmark = pytest.mark.anyio

NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
async def graph(connect: Connect) -> Graph:
    return Graph(await connect(toolsets=["mind", "memory", "graph"]))


async def test_the_same_edge_again_keeps_the_larger_weight_and_takes_new_evidence(
    graph: Graph,
) -> None:
    ada, tea = await graph.node("Ada"), await graph.node("tea")
    first = await graph("edge_create", fromId=ada, toId=tea, type="loves", weight=0.8, evidence="a")

    second = await graph("edge_create", fromId=ada, toId=tea, type="Loves", weight=0.3)
    third = await graph("edge_create", fromId=ada, toId=tea, type="loves", weight=1, evidence="b")

    assert first["message"] == "Created edge"
    assert second["message"] == third["message"] == "Found edge"
    assert {made["edge"]["id"] for made in (first, second, third)} == {first["edge"]["id"]}
    assert (second["edge"]["weight"], second["edge"]["evidence"]) == (0.8, "a")
    assert (third["edge"]["weight"], third["edge"]["evidence"]) == (1.0, "b")
    assert third["edge"]["lastConfirmedAt"] > first["edge"]["lastConfirmedAt"]
    assert third["edge"]["version"] == 3


async def test_an_edge_has_its_dates_and_properties(graph: Graph) -> None:
    ada, tea = await graph.node("Ada"), await graph.node("tea")
    edge = (
        await graph(
            "edge_create", fromId=ada, toId=tea, type="seeks", properties={"cups": 3},
            occurredAt="2026-01-02", validUntil="2099-12-31", instanceId="laptop",
        )
    )["edge"]  # fmt: skip

    assert (edge["weight"], edge["properties"], edge["sourceInstance"]) == (
        0.5, {"cups": 3}, "laptop",
    )  # fmt: skip
    assert edge["occurredAt"] == "2026-01-02T00:00:00Z"
    assert edge["validUntil"].startswith("2099-12-31T23:59:59")
    assert (await graph("edge_get", id=edge["id"]))["edges"] == [edge]
    again = await graph.edge(ada, tea, "seeks")
    assert again == edge["id"]


async def test_an_update_of_an_edge_changes_what_is_given(graph: Graph) -> None:
    edge = await graph.edge(await graph.node("Ada"), await graph.node("tea"), weight=0.2)

    changed = (await graph("edge_update", id=edge, weight=0.7, evidence="seen"))["edge"]
    ended = (await graph("edge_update", id=edge, validUntil="2020-01-01"))["edge"]

    assert (changed["weight"], changed["evidence"], changed["version"]) == (0.7, "seen", 2)
    assert ended["validUntil"].startswith("2020-01-01")
    assert (await graph("edge_get", type="knows", onlyValid=True))["edges"] == []
    [found] = (await graph("edge_get", type="knows"))["edges"]
    assert found["id"] == edge
    open_again = (await graph("edge_update", id=edge, validUntil="never"))["edge"]
    assert (open_again.get("validUntil"), open_again["version"]) == (None, 4)


async def test_two_valid_edges_of_a_type_cannot_connect_the_same_nodes(graph: Graph) -> None:
    ada, tea = await graph.node("Ada"), await graph.node("tea")
    old = await graph.edge(ada, tea, validUntil="2020-01-01")
    new = await graph.edge(ada, tea)

    assert old != new
    assert "Another valid edge" in await graph.refuse("edge_update", id=old, validUntil="never")


async def test_a_deleted_edge_is_history(graph: Graph, owner: psycopg.Connection) -> None:
    ada, tea = await graph.node("Ada"), await graph.node("tea")
    edge = await graph.edge(ada, tea)

    await graph("edge_delete", id=edge)

    assert (await graph("edge_get", fromId=ada))["edges"] == []
    assert "Edge not found" in await graph.refuse("edge_get", id=edge)
    assert "Edge not found" in await graph.refuse("edge_update", id=edge, weight=1)
    assert "Edge not found" in await graph.refuse("edge_delete", id=edge)
    [found] = (await graph("edge_get", fromId=ada, includeDeleted=True))["edges"]
    assert (found["id"], found["deleted"]) == (edge, True)
    [(ended,)] = owner.execute("select valid_until is not null from relation").fetchall()
    assert ended
    assert await graph.edge(ada, tea) != edge


async def test_edges_are_found_by_ends_and_type_with_the_newest_first(graph: Graph) -> None:
    ada, bo, tea = [await graph.node(label) for label in ("Ada", "Bo", "tea")]
    edges = [
        await graph.edge(ada, bo), await graph.edge(ada, tea, "loves"), await graph.edge(bo, tea),
    ]  # fmt: skip

    async def find(**filters: object) -> list[str]:
        return [edge["id"] for edge in (await graph("edge_get", **filters))["edges"]]

    assert await find() == edges[::-1]
    assert await find(fromId=ada) == [edges[1], edges[0]]
    assert await find(toId=tea) == [edges[2], edges[1]]
    assert await find(toId=tea, type="LOVES") == [edges[1]]
    assert (await graph("edge_get", limit=2))["more"] is True


async def test_an_end_that_is_missing_is_named(graph: Graph) -> None:
    ada = await graph.node("Ada")

    message = await graph.refuse("edge_create", fromId=ada, toId=NOBODY, type="knows")

    assert f"Node not found: {NOBODY}" in message


async def test_relations_of_other_tools_are_edges(graph: Graph) -> None:
    relation = {"fromEntity": "Ada", "relation": "works at", "toEntity": "Acme"}
    await graph.client.call_tool("relate_entities", relation)

    [edge] = (await graph("edge_get"))["edges"]

    assert (edge["type"], edge["weight"], edge["version"]) == ("works_at", 1.0, 1)
    changed = (await graph("edge_update", id=edge["id"], weight=0.4))["edge"]
    assert (changed["weight"], changed["version"]) == (0.4, 2)


async def test_a_walk_reaches_the_nearest_first_with_the_edges_on_the_way(graph: Graph) -> None:
    a, b, c, d, e = [await graph.node(label) for label in "abcde"]
    ab, ac = await graph.edge(a, b, weight=0.2), await graph.edge(a, c, weight=0.9)
    bd, _ = await graph.edge(b, d), await graph.edge(d, a)
    await graph.edge(c, e, "loves", validUntil="2020-01-01")

    walk = await graph("traverse", startNodeId=a, maxDepth=3)

    assert walk["startNode"]["id"] == a
    assert [(hit["node"]["id"], hit["path"], hit["depth"]) for hit in walk["results"]] == [
        (c, [ac], 1), (b, [ab], 1), (d, [ab, bd], 2),
    ]  # fmt: skip
    near = await graph("traverse", startNodeId=a, maxDepth=1, limit=1)
    assert [hit["node"]["id"] for hit in near["results"]] == [c]
    back = await graph("traverse", startNodeId=a, direction="in", maxDepth=5)
    assert [hit["node"]["id"] for hit in back["results"]] == [d, b]
    none = await graph("traverse", startNodeId=a, edgeTypes=["loves"])
    assert none["results"] == []


async def test_a_walk_from_an_unknown_node_reaches_nothing(graph: Graph) -> None:
    walk = await graph("traverse", startNodeId=NOBODY)

    assert walk["startNode"] == {"id": NOBODY, "type": "unknown", "label": "unknown"}
    assert walk["results"] == []


async def test_a_walk_leaves_out_deleted_nodes(graph: Graph) -> None:
    a, b, c = [await graph.node(label) for label in "abc"]
    await graph.edge(a, b)
    await graph.edge(b, c)

    await graph("node_delete", id=b)

    assert (await graph("traverse", startNodeId=a, direction="both"))["results"] == []


async def test_a_subgraph_has_the_nodes_around_and_the_edges_that_lead_to_them(
    graph: Graph,
) -> None:
    a, b, c, d = [await graph.node(label) for label in "abcd"]
    ab, ca, bd = await graph.edge(a, b), await graph.edge(c, a), await graph.edge(b, d)
    await graph.edge(b, c, weight=0.1)  # no shortest path

    near = await graph("subgraph", nodeId=a, depth=1)
    far = await graph("subgraph", nodeId=a)

    assert {node["id"] for node in near["nodes"]} == {a, b, c}
    assert {edge["id"] for edge in near["edges"]} == {ab, ca}
    assert {node["id"] for node in far["nodes"]} == {a, b, c, d}
    assert {edge["id"] for edge in far["edges"]} == {ab, ca, bd}


async def test_a_subgraph_has_at_most_a_hundred_nodes(graph: Graph) -> None:
    nodes = [{"type": "topic", "label": f"t{number}"} for number in range(120)]
    edges = [{"fromLabel": "t0", "toLabel": f"t{n}", "type": "has"} for n in range(1, 120)]
    await graph("write_transaction", nodes=nodes, edges=edges)
    middle = (await graph("node_search", query="t0", limit=1))["results"][0]["node"]["id"]

    around = await graph("subgraph", nodeId=middle)

    assert len(around["nodes"]) + around.get("dropped", 0) == 100


async def test_insights_name_bridges_and_clusters(graph: Graph) -> None:
    hub = await graph.node("Ada", "person")
    topics = [await graph.node(f"topic {number}") for number in range(4)]
    edges = [await graph.edge(hub, topic, weight=0.9 - 0.1 * n) for n, topic in enumerate(topics)]

    [bridge, cluster] = (await graph("insights"))["insights"]

    assert bridge == {
        "type": "bridge", "description": "Ada has 4 edges", "nodeIds": [hub], "edgeIds": edges,
        "confidence": 0.4,
    }  # fmt: skip
    assert cluster == {
        "type": "cluster", "description": "4 nodes of type topic", "nodeIds": topics,
        "edgeIds": [], "confidence": 0.7,
    }  # fmt: skip
    assert (await graph("insights"))["insights"] == [bridge, cluster]


async def test_stats_count_live_nodes_and_valid_edges(graph: Graph) -> None:
    assert (await graph("stats"))["totalNodes"] == 0
    ada, tea = await graph.node("Ada", "person"), await graph.node("tea")
    await graph.edge(ada, tea, "loves")
    await graph.edge(ada, tea, "knew", validUntil="2020-01-01")
    await graph("node_delete", id=await graph.node("gone"))

    stats = await graph("stats")

    assert (stats["totalNodes"], stats["totalEdges"]) == (2, 1)
    assert (stats["nodesByType"], stats["edgesByType"]) == ({"person": 1, "topic": 1}, {"loves": 1})
    assert stats["oldestNode"] <= stats["newestNode"]
    assert stats["vectorSearchAvailable"] is True
