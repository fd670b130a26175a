"""The embedder and the LLM that the settings choose. Only the chosen clients are imported."""

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Literal

from textrawl.errors import StartRefused
from textrawl.installation import write_install_command
from textrawl.models import encoder
from textrawl.models.embeddings import Embedder
from textrawl.models.llm import CompletionSource, LlmClient, LlmEndpoint
from textrawl.models.provider import read_address, read_key
from textrawl.settings import Settings


def choose_embedder(
    settings: Settings, *, clock: Callable[[], float] = time.monotonic
) -> Embedder | None:
    """Return the embedder that `settings` name, not yet connected, or None for provider `none`.

    The circuit breaker reads the time in seconds from `clock`. Raises StartRefused with the name
    of the variable that is missing or wrong.
    """
    match settings.embedding_provider:
        case "none":
            return None
        case "openai" | "ollama" as provider:
            return _load(provider).build_embedder(settings, clock=clock)
        case "auto" | "encoder" as provider if provider == "encoder" or _has_encoder(settings):
            return encoder.build_embedder(settings)
        case _:  # `auto` never chooses OpenAI, because an API key may belong to another program
            from textrawl.models import local  # noqa: PLC0415 - a server without vectors needs none

            return local.build_embedder(settings)


def asks_for_model(settings: Settings) -> bool:
    """Return whether `settings` name a provider or a model."""
    return settings.embedding_provider != "auto" or settings.embedding_model is not None


def _has_encoder(settings: Settings) -> bool:
    """Return whether `auto` means an encoder: the settings name it, or it is on this machine."""
    if settings.embedding_model is not None:
        return encoder.find_packaged(settings.embedding_model) is not None
    return encoder.is_installed()


def explain_choice(active: str | None, settings: Settings) -> str:
    """Return why a memory has its active model, or without one the model of the settings."""
    best = f"encoder:{encoder.PACKAGED[0].name}"
    if active is None:
        if asks_for_model(settings):
            return "the settings ask for it"
        if encoder.is_installed():
            return "the best model on this machine"
        return f"`{write_install_command('encoder')}` brings a better model, for a new memory"
    if active.startswith("local:") and encoder.is_installed():
        return (
            f"this memory has its vectors; {best} finds more: run `textrawl embed start --provider "
            "encoder`, then `textrawl embed switch`"
        )
    return "this memory has its vectors"


_OPENAI_URL = "https://api.openai.com/v1"
_OPENAI_MODEL = "gpt-4.1-mini"
_OLLAMA_URL = "http://127.0.0.1:11434"
_OLLAMA_MODEL = "llama3.2:3b-instruct-q4_K_M"
_SOURCES = {"openai": "OpenAICompletionSource", "ollama": "OllamaCompletionSource"}


def choose_llm(
    settings: Settings, *, clock: Callable[[], float] = time.monotonic, pause: float = 1.0
) -> LlmClient | None:
    """Return the client of the LLM in `settings`, not yet connected. None: no provider is set.

    The circuit breaker reads the time from `clock`. The second retry waits `pause` seconds. Raises
    StartRefused with the name of the variable that is missing or wrong.
    """
    if settings.llm_provider == "none":
        return None
    key = read_key(settings.llm_api_key, "TEXTRAWL_LLM_API_KEY")
    if settings.llm_provider == "openai":
        url = settings.llm_base_url or _OPENAI_URL
        if not key and not settings.llm_base_url:
            raise StartRefused(
                "TEXTRAWL_LLM_API_KEY is not set: set it, or TEXTRAWL_LLM_BASE_URL for a server "
                "that needs no key"
            )
        if settings.llm_base_url and not settings.llm_model:
            raise StartRefused("TEXTRAWL_LLM_MODEL is not set: name a model of this server")
        key = key or "none"
    else:
        url = settings.llm_base_url or _OLLAMA_URL
        url = url if "://" in url else f"http://{url}"
    endpoint = _build_endpoint(settings, url)
    return LlmClient(
        endpoint,
        partial(_load_source, settings.llm_provider, endpoint, key, url),
        timeout=settings.llm_timeout,
        clock=clock,
        pause=pause,
    )


def _build_endpoint(settings: Settings, url: str) -> LlmEndpoint:
    openai = settings.llm_provider == "openai"
    model = settings.llm_model or (_OPENAI_MODEL if openai else _OLLAMA_MODEL)
    hint = "set TEXTRAWL_LLM_MODEL to a model of this server"
    form = "http://host:port or https://host, for OpenAI's protocol with /v1 at the end"
    return LlmEndpoint(
        provider="Ollama" if not openai else "OpenAI" if url == _OPENAI_URL else "The LLM server",
        address=read_address(url, "TEXTRAWL_LLM_BASE_URL", form),
        model=model,
        url_variable="TEXTRAWL_LLM_BASE_URL",
        key_variable="TEXTRAWL_LLM_API_KEY",
        missing_model=hint if openai else f"run `ollama pull {model}`",
    )


def _load_source(
    provider: Literal["openai", "ollama"], endpoint: LlmEndpoint, key: str, url: str
) -> Callable[[], CompletionSource]:
    source = getattr(_load(provider), _SOURCES[provider])
    return partial(source, endpoint, api_key=key, base_url=url)


def _load(provider: Literal["openai", "ollama"]) -> Any:
    # Import a provider only if it is chosen, because that takes up to a second.
    return import_module(f"textrawl.models.{provider}")
