"""Resources of the memory, which a client attaches to a conversation without a tool call."""

import json
import re

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ResourceTemplateReference,
    TextResourceContents,
)

from tests.conftest import Connect, Era
from tests.support.tool_calls import relate, remember
from tests.toolsets.memory.conftest import Outsiders
from textrawl.tools.memory.resources import (
    read_digest,
    read_entity,
    read_help,
    write_digest,
    write_entity,
    write_help,
)
from textrawl.values.text import clean_name
from textrawl.wire.token_counter import choose_counter

pytestmark = pytest.mark.anyio

NAMES = st.text(min_size=1, max_size=200).map(clean_name).filter(bool)


async def read(client: Client, uri: str) -> str:
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert content.uri == uri
    return content.text


@given(NAMES)
def test_a_name_of_any_characters_comes_back_from_its_address(name: str) -> None:
    assert read_entity(write_entity(name)) == name
    assert read_digest(write_digest(name)) == name
    assert read_help(write_help(name)) == name
    assert re.fullmatch(r"memory://entity/[\w.~%-]+", write_entity(name), re.ASCII)


@given(st.text(max_size=50))
def test_an_address_of_any_characters_has_a_clean_name_or_none(text: str) -> None:
    name = read_entity(f"memory://entity/{text}")
    assert name is None or (name == clean_name(name) and 0 < len(name) <= 200)


async def test_an_entity_is_read_with_its_relations_under_any_name(client: Client) -> None:
    for name in ("C++ / C#", "100% cotton", "..", "Ünïcode 日本 🎉", "a?b#c&d"):
        await remember(client, name, "is known", "concept")
        await relate(client, name, "resembles", "Ada", fromEntityType="concept")
        text = (await read(client, write_entity(name))).removeprefix("\\")
        assert text == f"{name} (concept)\nis known\n→ resembles Ada"
    assert (await read(client, "memory://entity/C++ / C#")).startswith("C++ / C# (concept)")
    [content] = (await client.read_resource(write_entity("Ada"))).contents
    assert content.mime_type == "text/plain"


async def test_an_entity_keeps_to_the_budget_of_answers(connect: Connect) -> None:
    client = await connect(max_response_tokens=200)
    for number in range(120):
        await remember(client, "Ada", f"keeps fact {number} about the harbour of Piran")

    text = await read(client, write_entity("Ada"))

    assert choose_counter().count(text) <= 200
    more, cut = re.findall(r"^(?:more|cut) (\d+)$", text, re.MULTILINE)
    assert int(more) + int(cut) + text.count("harbour") == 120


async def test_the_list_has_the_help_of_every_tool_and_templates(
    connect: Connect, era: Era
) -> None:
    client = await connect(era)
    listed = [one.uri for one in (await client.list_resources()).resources]
    templates = {
        one.name: one for one in (await client.list_resource_templates()).resource_templates
    }

    tools = [tool.name for tool in (await client.list_tools()).tools]
    assert [uri for uri in listed if "help" in uri] == [f"memory://help/{name}" for name in tools]
    assert templates["entity"].uri_template == "memory://entity/{name}"
    assert [uri for uri in listed if "help" not in uri] == ["memory://space/default/digest"]
    assert templates["digest"].uri_template == "memory://space/{name}/digest"
    assert templates["help"].uri_template == "memory://help/{tool}"
    reader = await connect(era, read_only=True)
    [only] = [one for one in (await reader.list_resources()).resources if "help" in one.uri]
    assert only.uri == "memory://help/query_memory"
    with pytest.raises(MCPError):
        await read(reader, "memory://help/remember_fact")


async def test_the_help_of_a_tool_has_all_parameters_and_examples_that_work(
    client: Client,
) -> None:
    for tool in (await client.list_tools()).tools:
        text = await read(client, f"memory://help/{tool.name}")
        assert text.startswith(f"# {tool.name}\n")
        assert [name for name in tool.input_schema["properties"] if f"`{name}`" not in text] == []
        examples = [json.loads(found) for found in re.findall(r"^- `(\{.*\})`$", text, re.M)]
        assert examples
        for arguments in examples:
            result = await client.call_tool(tool.name, arguments)
            assert not result.is_error, (arguments, result.content)


async def test_an_address_of_nothing_is_unknown(connect: Connect) -> None:
    client = await connect()
    for uri in (
        "memory://entity/Nobody", "memory://entity/", "memory://entity/%FF", "memory://entity",
        "memory://entity/%00", f"memory://entity/{'x' * 3000}", f"memory://entity/{'x' * 201}",
        "memory://space/other/digest", "memory://space/default", "memory://space//digest",
        "memory://space/Default/digest", "memory://help/drop",
        "memory://help/", "memory://other/x", "file:///etc/passwd",
    ):  # fmt: skip
        with pytest.raises(MCPError) as refused:
            await read(client, uri)
        assert refused.value.error.code == INVALID_PARAMS


async def test_the_digest_of_a_space_has_only_its_facts_and_no_graph_has_one(
    connect: Connect, owner: psycopg.Connection, client: Client, era: Era
) -> None:
    await remember(client, "Jeff", "prefers dark mode")
    owner.execute("select create_space('team-b')")
    owner.execute("select create_space('papers', tier => 'personal')")
    owner.execute("select create_space('safe', tier => 'sensitive')")
    for space in ("team-b", "papers", "safe"):
        owner.execute("select grant_access('ada', %s, '{read,write}')", (space,))
    both = await connect(era)
    pinned = await connect(era, space="team-b")

    listed = [one.uri for one in (await both.list_resources()).resources if "help" not in one.uri]
    own = [one.uri for one in (await pinned.list_resources()).resources if "help" not in one.uri]

    assert listed == [write_digest("default"), write_digest("team-b")]
    assert own == [write_digest("team-b")]
    assert await read(both, write_digest("default")) == "Jeff (person)\n- prefers dark mode"
    assert "no facts" in await read(both, write_digest("team-b"))
    ref = ResourceTemplateReference(uri="memory://space/{name}/digest")
    found = await both.complete(ref, {"name": "name", "value": ""})
    assert found.completion.values == ["default", "team-b"]
    for who, space in ((pinned, "default"), (both, "papers"), (both, "safe")):
        with pytest.raises(MCPError) as unknown:
            await read(who, write_digest(space))
        assert unknown.value.error.code == INVALID_PARAMS


async def test_an_entity_of_another_space_is_as_unknown_as_no_entity(
    connect: Connect, owner: psycopg.Connection, era: Era, outsiders: Outsiders
) -> None:
    stranger, writer = outsiders
    owner.execute("select grant_access('ada', 'other', '{read}')")
    pinned = await connect(era, space="other")

    errors = list[str]()
    for who, name in ((stranger, "Jeff"), (stranger, "Gone"), (pinned, "Jeff")):
        with pytest.raises(MCPError) as unknown:
            await read(who, write_entity(name))
        assert unknown.value.error.code == INVALID_PARAMS
        errors.append(unknown.value.error.message.replace(name, "NAME"))
    assert len({*errors}) == 1
    with pytest.raises(MCPError) as refused:
        await read(writer, write_entity("Jeff"))
    assert refused.value.error.code == INTERNAL_ERROR
    assert "scope read" in refused.value.error.message
