"""Embedders for OpenAI, Ollama and models in this process, all with the same protocol."""

import time
from collections.abc import Callable
from importlib.util import find_spec

from textrawl.embeddings.faults import ProviderFailed, TextRefused
from textrawl.embeddings.models import MAX_DIMENSIONS, Model
from textrawl.embeddings.protocol import Embedder
from textrawl.embeddings.vectors import Vector
from textrawl.environment import read_foreign
from textrawl.settings import Settings

__all__ = [
    "MAX_DIMENSIONS",
    "Embedder",
    "Model",
    "ProviderFailed",
    "TextRefused",
    "Vector",
    "choose_embedder",
]


def choose_embedder(
    settings: Settings, *, clock: Callable[[], float] = time.monotonic
) -> Embedder | None:
    """Return the embedder that `settings` name, not yet connected, or None for provider `none`.

    The circuit breaker reads the time in seconds from `clock`. Raises StartRefused with the name
    of the variable that is missing or wrong.
    """
    # Import only the chosen client, because each import takes up to a second.
    match settings.embedding_provider:
        case "none":
            return None
        case "openai":
            from textrawl.embeddings import openai  # noqa: PLC0415 - slow to import

            return openai.build_embedder(settings, clock=clock)
        case "ollama":
            from textrawl.embeddings import ollama  # noqa: PLC0415 - slow to import

            return ollama.build_embedder(settings, clock=clock)
        case "auto" | "fastembed" as provider if provider == "fastembed" or _has_encoders(settings):
            from textrawl.embeddings import fastembed  # noqa: PLC0415 - slow to import

            return fastembed.build_embedder(settings, clock=clock)
        case _:  # `auto` never chooses OpenAI, because an API key may belong to another program
            from textrawl.embeddings import local  # noqa: PLC0415 - slow to import

            return local.build_embedder(settings)


def _has_encoders(settings: Settings) -> bool:
    """Return whether `auto` means fastembed: it is installed, and it may download its model."""
    return (
        find_spec("fastembed") is not None
        and read_foreign("HF_HUB_OFFLINE") in (None, "0")
        and "wordllama" not in (settings.embedding_model or "")
    )
