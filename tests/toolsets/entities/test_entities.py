"""The tools for entities with several names, through an MCP client."""

from typing import Any

import pytest

from tests.conftest import Connect
from tests.support.tool_calls import read, remember, text_of

pytestmark = pytest.mark.anyio


async def tell(connect: Connect) -> Any:
    """A client that has told about Jeff under two names."""
    client = await connect(toolsets=["memory", "entities"])
    await remember(client, "Jeff Miller", "drinks tea")
    await remember(client, "Jeff Miller", "is tall")
    await remember(client, "jmiller", "drinks tea")
    return client


async def test_candidates_are_merged_after_a_dry_run_and_split_again(connect: Connect) -> None:
    client = await tell(connect)
    pair = {"entityName": "Jeff Miller", "other": "jmiller"}

    found = read(await client.call_tool("find_same_entities", {}))
    plan = read(await client.call_tool("merge_entities", {**pair, "dryRun": True}))
    merged = read(await client.call_tool("merge_entities", pair))
    about = read(
        await client.call_tool("query_memory", {"mode": "entity", "entityName": "JMiller"})
    )
    await remember(client, "jmiller", "sings")
    split = read(await client.call_tool("split_entity", {"name": "jmiller"}))

    assert found["same"][0] | {"s": 0} == {
        "entity": "Jeff Miller", "other": "jmiller", "s": 0, "facts": 1
    }  # fmt: skip
    counts = {"entity": "Jeff Miller", "merged": "jmiller", "facts": 1, "rel": 0, "dup": 1}
    assert plan == {"ok": True, "dry": True, **counts, "dups": ["drinks tea"]}
    assert merged == {"ok": True, **counts}
    assert sorted(about["o"]) == ["drinks tea", "is tall"]
    assert split == {
        "ok": True, "entity": "Jeff Miller", "split": "jmiller", "facts": 2, "rel": 0,
        "later": {"jmiller": ["sings"]},
    }  # fmt: skip


async def test_an_alias_is_added_shown_and_removed(connect: Connect) -> None:
    client = await tell(connect)
    call = {"entityName": "Jeff Miller", "alias": "Jeffrey"}

    added = read(await client.call_tool("name_entity", call))
    found = text_of(await client.call_tool("query_memory", {"query": "jeffrey"}))
    jeff = {"mode": "entity", "entityName": "jeffrey"}
    about = read(await client.call_tool("query_memory", jeff))
    others = await client.call_tool(
        "name_entity", {"entityName": "jmiller", "alias": "Jeffrey", "remove": True}
    )
    removed = read(await client.call_tool("name_entity", {**call, "remove": True}))

    assert others.is_error
    assert "is not an alias" in text_of(others)
    assert added == {"ok": True, "entity": "Jeff Miller", "aka": ["Jeffrey"]}
    assert "drinks tea" in found
    assert "is tall" in found
    assert about["aka"] == ["Jeffrey"]
    assert removed == {"ok": True, "entity": "Jeff Miller"}


async def test_refusals_say_what_to_do(connect: Connect) -> None:
    client = await tell(connect)
    for tool, arguments, says in (
        ("name_entity", {"entityName": "Jeff Miller", "alias": "jmiller"}, "another entity"),
        ("name_entity", {"entityName": "Nobody", "alias": "No"}, "Nobody"),
        ("merge_entities", {"entityName": "jmiller", "other": "JMiller"}, "same entity"),
        ("merge_entities", {"entityName": "jmiller", "other": "Nobody"}, "Nobody"),
        ("split_entity", {"name": "jmiller"}, "Nothing was merged"),
        ("find_same_entities", {"entityName": "Nobody"}, "Nobody"),
    ):
        result = await client.call_tool(tool, arguments)

        assert result.is_error
        assert says in text_of(result)


async def test_lines_show_the_aliases_of_an_entity(connect: Connect) -> None:
    client = await connect(toolsets=["memory", "entities"], compact_responses="lines")
    await remember(client, "Jeff Miller", "is tall")
    await client.call_tool("name_entity", {"entityName": "Jeff Miller", "alias": "Jeffrey"})

    jeff = {"mode": "entity", "entityName": "Jeff Miller"}
    shown = text_of(await client.call_tool("query_memory", jeff))

    assert shown.splitlines()[1:] == ["aka: Jeffrey", "is tall"]


async def test_candidates_that_do_not_fit_into_the_budget_are_counted(connect: Connect) -> None:
    client = await connect(
        toolsets=["memory", "entities"], max_response_tokens=60, structured_content="off"
    )
    for name in ("Jeff Miller", "jmiller", "Jeff Millers"):
        await remember(client, name, "drinks tea")

    found = read(await client.call_tool("find_same_entities", {}))

    assert len(found["same"]) + found["cut"] == 3
