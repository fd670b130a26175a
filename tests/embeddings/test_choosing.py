from typing import Any

import pytest

from textrawl.errors import StartRefused
from textrawl.models.choice import choose_embedder
from textrawl.models.embeddings import find_model
from textrawl.settings import Settings, read_settings

pytestmark = pytest.mark.anyio

UNSET: dict[str, Any] = {
    "embedding_provider": "auto",
    "embedding_model": None,
    "openai_api_key": None,
    "openai_base_url": None,
    "ollama_base_url": None,
}
OPENAI = {"embedding_provider": "openai"}
OLLAMA = {"embedding_provider": "ollama"}


def settings_with(**overrides: Any) -> Settings:
    return read_settings(**{**UNSET, **overrides})


@pytest.mark.parametrize(
    ("overrides", "name", "dimensions"),
    [
        ({}, "local:wordllama-l2-supercat-256", 256),
        ({"embedding_model": "wordllama"}, "local:wordllama-l2-supercat-256", 256),
        # A client passes on what was meant for its own model.
        ({"openai_api_key": "sk-1"}, "local:wordllama-l2-supercat-256", 256),
        (
            {"openai_api_key": "sk-1", "openai_base_url": "http://127.0.0.1:9/v1"},
            "local:wordllama-l2-supercat-256",
            256,
        ),
        (
            {"embedding_provider": "openai", "openai_api_key": "sk-1"},
            "openai:text-embedding-3-small",
            1536,
        ),
        (
            {
                "embedding_provider": "openai",
                "openai_api_key": "sk-1",
                "embedding_model": "text-embedding-3-large",
            },
            "openai:text-embedding-3-large",
            3072,
        ),
        (
            {"openai_api_key": "sk-1", "embedding_provider": "local"},
            "local:wordllama-l2-supercat-256",
            256,
        ),
        (
            {"embedding_provider": "openai", "openai_base_url": "http://127.0.0.1:9/v1"},
            "openai:text-embedding-3-small",
            1536,
        ),
        ({"ollama_base_url": "127.0.0.1:9"}, "local:wordllama-l2-supercat-256", 256),
        (
            {"embedding_provider": "ollama", "ollama_base_url": "127.0.0.1:9"},
            "ollama:nomic-embed-text",
            768,
        ),
        ({"embedding_provider": "ollama"}, "ollama:nomic-embed-text", 768),
        (
            {"embedding_provider": "ollama", "embedding_model": "all-minilm:latest"},
            "ollama:all-minilm",
            384,
        ),
        (
            {"embedding_provider": "ollama", "embedding_model": "my/own"},
            "ollama:my/own",
            None,
        ),
    ],
)
async def test_the_settings_choose_the_embedder(
    overrides: dict[str, Any], name: str, dimensions: int | None
) -> None:
    embedder = choose_embedder(settings_with(**overrides))

    assert embedder is not None
    assert (embedder.name, embedder.dimensions) == (name, dimensions)
    await embedder.aclose()


def test_the_provider_none_gives_no_embedder() -> None:
    assert choose_embedder(settings_with(embedding_provider="none", openai_api_key="sk-1")) is None


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"embedding_provider": "openai"}, "TEXTRAWL_OPENAI_API_KEY is not set"),
        (
            {"embedding_provider": "openai", "openai_api_key": " "},
            "TEXTRAWL_OPENAI_API_KEY is not set",
        ),
        (
            {**OPENAI, "openai_api_key": "canary\nkey"},
            "TEXTRAWL_OPENAI_API_KEY contains characters",
        ),
        ({**OPENAI, "openai_api_key": "canary key"}, "TEXTRAWL_OPENAI_API_KEY contains characters"),
        ({**OPENAI, "openai_api_key": "canäry"}, "TEXTRAWL_OPENAI_API_KEY contains characters"),
        ({**OPENAI, "openai_api_key": "sk-1", "openai_base_url": "canary:80"}, "OPENAI_BASE_URL"),
        (
            {**OPENAI, "openai_api_key": "sk-1", "openai_base_url": "http://canary:99999"},
            "OPENAI_BASE_URL",
        ),
        ({**OLLAMA, "ollama_base_url": "http://"}, "OLLAMA_BASE_URL"),
        ({**OLLAMA, "ollama_base_url": "canary:port"}, "OLLAMA_BASE_URL"),
        ({"embedding_provider": "local", "embedding_model": "bge-m3"}, "EMBEDDING_MODEL"),
        (
            {"embedding_provider": "ollama", "embedding_model": "qwen3-embedding"},
            "4096 dimensions, but pgvector indexes at most 4000: set TEXTRAWL_EMBEDDING_MODEL",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused_naming_the_variable(
    overrides: dict[str, Any], said: str
) -> None:
    with pytest.raises(StartRefused) as caught:
        choose_embedder(settings_with(**overrides))

    assert said in str(caught.value)
    assert "canary" not in str(caught.value)


def test_a_model_is_found_in_any_case_with_owner_or_tag() -> None:
    assert find_model("BAAI/bge-m3").dimensions == 1024
    assert find_model("nomic-embed-text:latest").name == "nomic-embed-text"
    assert find_model("qwen3-embedding:0.6b").dimensions == 1024


def test_a_tag_keeps_the_prefixes_and_leaves_the_dimensions_to_be_learnt() -> None:
    model = find_model("snowflake-arctic-embed:22m")

    assert model.dimensions is None
    assert model.query_prefix == find_model("snowflake-arctic-embed").query_prefix != ""


def test_an_unknown_model_has_no_prefixes_and_plain_cosines() -> None:
    model = find_model("own-model")

    assert (model.dimensions, model.query_prefix, model.document_prefix) == (None, "", "")
    assert (model.scale.floor, model.scale.ceiling) == (0.0, 1.0)
