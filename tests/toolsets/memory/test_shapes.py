"""Arguments in every shape that users reported models to send, where the meaning is certain.

Lists, numbers and booleans written as strings are a habit of Claude Desktop, nulls for optional
parameters one of OpenAI's strict mode, snake_case and other words for a type one of all models.
"""

from typing import Any

import pytest
from mcp import Client

from tests.support.tool_calls import Connect, ask, forget, read, refuse, remember

pytestmark = pytest.mark.anyio

SEARCHES: list[dict[str, Any]] = [
    {"mode": "search"}, {"mode": "SEARCH"}, {"mode": " Search "}, {"mode": None}, {"mode": ""},
    {"mode": "null"}, {},
    {"entityTypes": None}, {"entityTypes": ""}, {"entityTypes": "null"}, {"entityTypes": []},
    {"entityTypes": ["person"]}, {"entityTypes": '["person"]'}, {"entityTypes": "person"},
    {"entityTypes": "person, project"}, {"entityTypes": ["Person"]}, {"entityTypes": ["PEOPLE"]},
    {"entityTypes": ["persons", "companies"]}, {"entityTypes": '["user"]'},
    {"entity_types": ["person"]},
    {"sources": None}, {"sources": ""}, {"sources": []}, {"sources": "[]"}, {"sources": ["facts"]},
    {"sources": "facts"}, {"sources": '["facts"]'}, {"sources": "facts, documents"},
    {"sources": ["Facts", "DOCUMENTS"]},
    {"limit": 5}, {"limit": "5"}, {"limit": 5.0}, {"limit": None}, {"limit": "null"},
    {"limit": 0}, {"limit": 10_000},
    {"searchMode": "Hybrid"}, {"search_mode": "hybrid"}, {"searchMode": None},
    {"maxTokens": "500"}, {"max_tokens": 500}, {"maxTokens": None}, {"maxTokens": ""},
    {"asOf": None}, {"asOf": "null"}, {"asOf": "2999-01-01"}, {"as_of": "2999-01-01T00:00:00Z"},
    {"includeIds": "false"}, {"includeIds": "False"}, {"include_ids": None},
    {"entityName": None}, {"entityName": "", "offset": "0", "includeRelated": "true"},
    # What OpenAI's strict mode makes a model fill in, which may leave nothing out:
    {"maxTokens": 0, "maxObs": 0}, {"maxTokens": "0", "maxObs": "0"}, {"asOf": "none"},
    {"mode": "search", "entityTypes": [], "searchMode": "hybrid", "entityName": "",
     "includeRelated": True, "maxObs": 0, "limit": 10, "offset": 0, "maxTokens": 0, "asOf": "",
     "includeIds": False, "dates": False, "sources": []},
    # What Gemini CLI adds to every tool:
    {"wait_for_previous": True}, {"wait_for_previous": False},
]  # fmt: skip

FACTS: list[dict[str, Any]] = [
    {"entityName": "Acme", "entityType": name}
    for name in ("organization", "Organization", "ORGANIZATION", "organizations", "company",
                 "Companies", "organisation", "business", "university")
] + [
    {"entity_name": "Acme", "entity_type": "company"},
    {"entityName": "Acme", "entityType": "company", "source": "", "confidence": "1.0"},
    {"entityName": "Acme", "entityType": "company", "validUntil": None, "replaces": None},
    {"entityName": "Acme", "entityType": "company", "validUntil": "null", "replaces": "null"},
    {"entityName": "Acme", "entityType": "company", "validUntil": "", "source": "Conversation"},
    {"entityName": "Acme", "entityType": "company", "validUntil": "never", "replaces": "none"},
    {"entityName": "Acme", "entityType": "company", "validUntil": "None", "replaces": "None"},
    {"entityName": "Acme", "entityType": "company", "wait_for_previous": True},
]  # fmt: skip

BATCHES: list[dict[str, Any]] = [
    {"facts": [{"entityName": "Acme", "entityType": "company", "observation": "sells anvils"}]},
    {"facts": '[{"entityName":"Acme","entityType":"company","observation":"sells anvils"}]'},
    {"facts": {"entityName": "Acme", "entityType": "company", "observation": "sells anvils"}},
    {"facts": [{"entity_name": "Acme", "entity_type": "Company", "observation": "sells anvils"}],
     "relations": None},
    {"facts": [{"entityName": "Acme", "entityType": "org", "observation": "sells anvils",
                "validUntil": None, "source": None, "confidence": None, "replaces": ""}],
     "relations": "[]"},
    {"facts": [{"entityName": "Acme", "entityType": "org", "observation": "sells anvils",
                "validUntil": "never", "replaces": "none"}], "wait_for_previous": True},
]  # fmt: skip


@pytest.fixture
async def teller(connect: Connect) -> Client:
    """A client of a memory without vectors: shapes are what is tested here."""
    return await connect(embedding_provider="none")


async def test_a_search_is_understood_in_any_certain_shape(teller: Client) -> None:
    await remember(teller, "Jeff", "likes tea")

    for shape in SEARCHES:
        found = read(await teller.call_tool("query_memory", {"query": "tea", **shape}))

        assert (shape, found["n"]) == (shape, 1)


async def test_a_fact_is_understood_in_any_certain_shape(teller: Client) -> None:
    for shape in FACTS:
        arguments = {"observation": "sells anvils", **shape}
        stored = await teller.call_tool("remember_fact", arguments)

        assert not stored.is_error
        assert stored.structured_content is not None
        assert stored.structured_content["entityType"] == "organization"
        await forget(teller, "Acme", confirm=True)


async def test_a_batch_is_understood_in_any_certain_shape(teller: Client) -> None:
    for shape in BATCHES:
        stored = read(await teller.call_tool("build_knowledge", shape))

        assert stored == {"ok": True, "facts": {"new": 1, "dup": 0}, "rel": 0}
        await forget(teller, "Acme", confirm=True)


async def test_only_the_name_that_gemini_cli_adds_is_dropped(teller: Client) -> None:
    for name in ("wait_for_previous_call", "wait", "waitForPrevious"):
        title, _ = await refuse(teller, "query_memory", mode="list", **{name: True})
        assert title == f"Unknown argument '{name}'"
    fact = {"entityName": "A", "entityType": "person", "observation": "b"}
    item = fact | {"wait_for_previous": True}
    title, fix = await refuse(teller, "build_knowledge", facts=[item])
    assert "wait_for_previous" in fix


async def test_the_word_none_names_no_fact_to_forget_and_forgets_no_entity(teller: Client) -> None:
    await remember(teller, "Acme", "sells anvils")

    title, _ = await refuse(teller, "forget_entity", entityName="Acme", fact="none", confirm=True)

    assert title == "Fact not found"
    assert (await ask(teller, entityName="Acme"))["o"] == ["sells anvils"]


async def test_a_look_up_with_a_filler_for_maxobs_takes_the_default(teller: Client) -> None:
    for number in range(21):
        await remember(teller, "Acme", f"sold anvil {number}")

    answer = await ask(teller, mode="entity", entityName="Acme", maxObs=0, maxTokens=0)

    assert len(answer["o"]) == 20


async def test_a_mode_that_is_missing_is_inferred_though_the_schema_requires_it(
    teller: Client,
) -> None:
    await remember(teller, "Acme", "sells anvils", "organization")

    assert (await ask(teller, query="anvils", entityName="Acme"))["e"][0]["m"]
    assert (await ask(teller, entityName="Acme"))["o"] == ["sells anvils"]
    assert (await ask(teller))["e"] == [{"n": "Acme", "t": "organization"}]
    [tool] = [tool for tool in (await teller.list_tools()).tools if tool.name == "query_memory"]
    assert tool.input_schema["required"] == ["mode"]
