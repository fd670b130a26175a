"""Scopes, spaces and concurrent writers of the mind tools."""

import anyio
import psycopg
import pytest

from tests.attacks.site import add_spaces, issue
from tests.conftest import Connect
from tests.toolsets.mind.graph import Graph

pytestmark = pytest.mark.anyio

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
