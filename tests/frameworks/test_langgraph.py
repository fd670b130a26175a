"""LangGraph's store on items passes the framework's own tests, and holds langmem's memories."""

import hashlib
import random

from anyio.to_thread import run_sync

from tests.clients.script import Step
from tests.frameworks.running import MARKS, Frameworks, frameworks, provide
from tests.support.providers import EmbeddingServer

__all__ = ["frameworks"]

pytestmark = MARKS

SOURCES = ("langgraph-checkpoint==4.3.2",)  # has the tests of stores
REMEMBER = Step("remember", "manage_memory", {"content": "likes jasmine tea"})
SEARCH = Step("search", "search_memory", {"query": "which tea?"})


def embed_characters(text: str, dimensions: int) -> list[float]:
    """The sum of random vectors of the characters, as the embeddings of LangGraph's tests."""
    total = [0.0] * dimensions
    for character in text:
        seed = hashlib.blake2b(character.encode(), digest_size=8).digest()
        chance = random.Random(seed)  # noqa: S311 - no secret
        total = [number + chance.gauss() for number in total]
    return total


async def test_its_own_tests_of_stores_pass(frameworks: Frameworks) -> None:
    sources = await run_sync(provide, "sources", SOURCES)

    with EmbeddingServer(dimensions=500, embed=embed_characters) as provider:
        await frameworks.run(
            "LangGraph",
            "langgraph_own_tests.py",
            variables={"SOURCES": str(sources)},
            embedding_provider="openai",
            openai_base_url=provider.openai_url,
            openai_api_key="none",
        )


async def test_operations_find_what_those_of_its_store_in_memory_find(
    frameworks: Frameworks,
) -> None:
    await frameworks.run("LangGraph", "langgraph_operations.py")


async def test_langmem_keeps_the_memories_of_each_user_apart(frameworks: Frameworks) -> None:
    outcome = await frameworks.run(
        "LangGraph", "langgraph_agent.py", script=(REMEMBER, SEARCH), ending="Noted."
    )

    results = outcome.turns[-1].results
    assert results["remember"].startswith("created memory ")
    assert "likes jasmine tea" in results["search"]
