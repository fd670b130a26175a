"""graph_edge_*, walks and statistics of the mind tools, and who may call them."""

import random
from typing import Any

import anyio
import psycopg
import pytest

from tests.attacks.site import add_spaces, issue
from tests.conftest import Connect
from tests.toolsets.mind.conftest import Graph
from textrawl.memory.mind import change_graph

pytestmark = pytest.mark.anyio

NOBODY = "00000000-0000-0000-0000-000000000000"


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


async def test_an_update_succeeds_if_another_client_then_deletes_the_edge(
    graph: Graph, owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge, change = await graph.edge(await graph.node("Ada"), await graph.node("tea")), change_graph

    async def change_and_delete(*asked: Any, **arguments: Any) -> Any:
        changed = await change(*asked, **arguments)
        owner.execute("select from textrawl.delete_edge(%s)", [edge])
        return changed

    monkeypatch.setattr("textrawl.memory.mind.change_graph", change_and_delete)

    changed = await graph("edge_update", id=edge, weight=0.7)

    assert changed["message"] == f"Updated edge: {edge}"


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


_KINDS = ("knows", "loves")


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
        assert edges
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


_WRITERS = 8


async def test_a_token_that_only_writes_reads_nothing_back(
    connect: Connect, owner: psycopg.Connection
) -> None:
    add_spaces(owner)
    reader = Graph(await connect(toolsets=["mind"], access_token=issue(owner, "r", "red", "read")))
    token = issue(owner, "w", "red", "write")
    writer = Graph(await connect(toolsets=["mind"], access_token=token))
    hidden = await writer("node_create", type="person", label="ADA", confidence=0.9)

    made = await writer("node_create", type="topic", label="tea", description="a drink")
    edge = await writer(
        "edge_create", fromId=made["node"]["id"], toId=hidden["node"]["id"], type="x", evidence="e"
    )
    changed = await writer("node_update", id=made["node"]["id"], confidence=0.9)

    assert set(hidden["node"]) == set(made["node"]) == {"id", "type", "label"}
    assert hidden["node"]["label"] == "ADA"
    assert set(edge["edge"]) == {"id", "type"}
    assert "node" not in changed
    assert "Not allowed" in await writer.refuse("node_get", id=made["node"]["id"])
    assert "Not allowed" in await reader.refuse("node_create", type="x", label="y")
    seen = (await reader("node_get", id=made["node"]["id"]))["node"]
    assert (seen["description"], seen["confidence"]) == ("a drink", 0.9)


async def test_a_deletion_needs_the_scope_forget(
    connect: Connect, owner: psycopg.Connection
) -> None:
    add_spaces(owner)
    token = issue(owner, "w", "red", "read", "write")
    graph = Graph(await connect(toolsets=["mind"], access_token=token))
    node = await graph.node("tea")
    edge = await graph.edge(node, node)

    for tool, id in (("node_delete", node), ("edge_delete", edge)):
        assert "Not allowed" in await graph.refuse(tool, id=id)
    assert "Not allowed" in await graph.refuse("node_delete", id=node, permanent=True)
    assert (await graph("edge_get", id=edge))["edges"][0]["version"] == 1


async def test_ids_of_another_space_are_not_found_in_the_words_of_ids_that_nobody_has(
    connect: Connect, owner: psycopg.Connection
) -> None:
    add_spaces(owner)
    scopes = ("read", "write", "forget")
    red = Graph(await connect(toolsets=["mind"], access_token=issue(owner, "r", "red", *scopes)))
    blue = Graph(await connect(toolsets=["mind"], access_token=issue(owner, "b", "blue", *scopes)))
    theirs = await blue.node("secret")
    edge = await blue.edge(theirs, theirs)
    own = await red.node("tea")
    nobody = "00000000-0000-0000-0000-000000000000"

    for tool in (
        "node_get",
        "node_update",
        "node_delete",
        "edge_get",
        "edge_update",
        "edge_delete",
    ):
        foreign = theirs if tool.startswith("node") else edge
        assert await red.refuse(tool, id=foreign) == (await red.refuse(tool, id=nobody)).replace(
            nobody, foreign
        )
    for ends in ({"fromId": own, "toId": theirs}, {"fromId": theirs, "toId": own}):
        assert "Node not found" in await red.refuse("edge_create", type="x", **ends)
    assert (await red("traverse", startNodeId=theirs))["results"] == []
    assert "Node not found" in await red.refuse("subgraph", nodeId=theirs)


async def test_concurrent_writers_of_the_same_node_and_edge_make_one(connect: Connect) -> None:
    graphs = [Graph(await connect(toolsets=["mind"])) for _ in range(_WRITERS)]
    made = list[tuple[int, int]]()

    async def write(graph: Graph, number: int) -> None:
        nodes = [{"type": "topic", "label": label} for label in ("Tea", "Ada", "rain")]
        edges = [{"fromLabel": "ada", "toLabel": "tea", "type": "loves", "weight": number / 10}]
        done = await graph("write_transaction", nodes=nodes[:: number % 2 * 2 - 1], edges=edges)
        made.append((done["nodesCreated"], done["edgesCreated"]))

    async with anyio.create_task_group() as group:
        for number, graph in enumerate(graphs):
            group.start_soon(write, graph, number)

    assert (sum(nodes for nodes, _ in made), sum(edges for _, edges in made)) == (3, 1)
    stats = await graphs[0]("stats")
    assert (stats["totalNodes"], stats["totalEdges"]) == (3, 1)
    [edge] = (await graphs[0]("edge_get"))["edges"]
    assert (edge["weight"], edge["version"]) == (0.7, _WRITERS)
