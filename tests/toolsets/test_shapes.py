"""Arguments in every shape that users reported models to send, where the meaning is certain.

Lists, numbers and booleans written as strings are a habit of Claude Desktop, nulls for optional
parameters one of OpenAI's strict mode, snake_case and other words for a type one of all models.
"""

from typing import Any

import pytest
from mcp import Client

from tests.toolsets.calls import Connect, read, remember

pytestmark = pytest.mark.anyio

SEARCHES: list[dict[str, Any]] = [
    {"mode": "search"}, {"mode": "SEARCH"}, {"mode": " Search "}, {"mode": None}, {"mode": ""},
    {"mode": "null"}, {},
    {"entityTypes": None}, {"entityTypes": ""}, {"entityTypes": "null"}, {"entityTypes": []},
    {"entityTypes": ["person"]}, {"entityTypes": '["person"]'}, {"entityTypes": "person"},
    {"entityTypes": "person, project"}, {"entityTypes": ["Person"]}, {"entityTypes": ["PEOPLE"]},
    {"entityTypes": ["persons", "companies"]}, {"entityTypes": '["user"]'},
    {"entity_types": ["person"]},
    {"limit": 5}, {"limit": "5"}, {"limit": 5.0}, {"limit": None}, {"limit": "null"},
    {"limit": 0}, {"limit": 10_000},
    {"searchMode": "Hybrid"}, {"search_mode": "hybrid"}, {"searchMode": None},
    {"maxTokens": "500"}, {"max_tokens": 500}, {"maxTokens": None}, {"maxTokens": ""},
    {"asOf": None}, {"asOf": "null"}, {"asOf": "2999-01-01"}, {"as_of": "2999-01-01T00:00:00Z"},
    {"includeIds": "false"}, {"includeIds": "False"}, {"include_ids": None},
    {"entityName": None}, {"entityName": "", "offset": "0", "includeRelated": "true"},
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


@pytest.mark.parametrize("shape", FACTS, ids=str)
async def test_a_fact_is_understood_in_any_certain_shape(
    teller: Client, shape: dict[str, Any]
) -> None:
    arguments = {"observation": "sells anvils", **shape}
    stored = await teller.call_tool("remember_fact", arguments)

    assert not stored.is_error
    assert stored.structured_content is not None
    assert stored.structured_content["entityType"] == "organization"


@pytest.mark.parametrize("shape", BATCHES, ids=str)
async def test_a_batch_is_understood_in_any_certain_shape(
    teller: Client, shape: dict[str, Any]
) -> None:
    stored = read(await teller.call_tool("build_knowledge", shape))

    assert stored == {"ok": True, "facts": {"new": 1, "dup": 0}, "rel": 0}
