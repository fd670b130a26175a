"""A server that is restricted to a graph: the tools for facts say that it holds documents."""

from typing import Any

import psycopg
import pytest

from tests.conftest import Connect
from tests.support.tool_calls import refuse

pytestmark = pytest.mark.anyio

FACT = {"entityName": "Ada", "entityType": "person", "observation": "likes tea"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("query_memory", {"mode": "list"}),
    ("query_memory", {"query": "tea"}),
    ("query_memory", {"entityName": "Ada"}),
    ("remember_fact", FACT),
    ("build_knowledge", {"facts": [FACT]}),
    ("relate_entities", {"fromEntity": "Ada", "relation": "knows", "toEntity": "Ben"}),
    ("forget_entity", {"entityName": "Ada", "confirm": True}),
    ("memory_stats", {}),
    ("search_nodes", {"query": "tea"}),
    ("graph_node_list", {}),
    ("memory_list", {}),
    ("identity_get_all", {}),
]


async def test_a_tool_for_facts_refuses_a_graph_and_changes_nothing(
    connect: Connect, graphs: psycopg.Connection[Any]
) -> None:
    client = await connect(toolsets=["all"], space="work")

    for tool, arguments in CALLS:
        title, fix = await refuse(client, tool, **arguments)
        assert title == "The space work is a graph, which holds documents", tool
        assert "recall and remember" in fix

    assert graphs.execute("select count(*) from entity").fetchone() == (0,)
