"""The graph as a resource: for who attaches it, or reads it as the reference memory server's."""

import json

import pytest
from mcp import Client, MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, TextResourceContents

from tests.conftest import Connect, Era
from tests.toolsets.graph.reference import ACME, ALICE, WORKS, ask

pytestmark = pytest.mark.anyio

URI = "memory://knowledge-graph"


async def read(client: Client) -> TextResourceContents:
    [content] = (await client.read_resource(URI)).contents
    assert isinstance(content, TextResourceContents)
    return content


async def test_the_graph_is_read_whole_whatever_the_budget(connect: Connect, era: Era) -> None:
    client = await connect(era, toolsets=["graph"], max_graph_tokens=50)
    await ask(client, "create_entities", entities=[ALICE, ACME])
    await ask(client, "create_relations", relations=[WORKS])

    [listed] = (await client.list_resources()).resources
    content = await read(client)

    assert (listed.uri, listed.name, listed.mime_type) == (
        URI, "knowledge-graph", "application/json"
    )  # fmt: skip
    assert (content.uri, content.mime_type) == (URI, "application/json")
    assert json.loads(content.text) == {"entities": [ALICE, ACME], "relations": [WORKS]}
    assert (await client.list_resource_templates()).resource_templates == []


async def test_resources_are_advertised_with_the_graph_toolset(connect: Connect, era: Era) -> None:
    graph = await connect(era, toolsets=["graph"])
    other = await connect(era, toolsets=["mind"])

    capabilities = graph.server_capabilities.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    assert capabilities["resources"] == {"subscribe": False, "listChanged": False}
    assert other.server_capabilities.resources is None


async def test_what_is_no_resource_is_refused(connect: Connect) -> None:
    client = await connect(toolsets=["graph"])

    with pytest.raises(MCPError) as refused:
        await client.read_resource("memory://stats")
    assert refused.value.error.code == INVALID_PARAMS


async def test_who_may_not_read_is_told_so(connect: Connect) -> None:
    client = await connect(toolsets=["graph"], access_token="trl_" + "x" * 43)

    with pytest.raises(MCPError) as refused:
        await client.read_resource(URI)
    assert refused.value.error.code == INTERNAL_ERROR
    assert "token" in refused.value.error.message
