"""Embeddings of OpenAI, Ollama or a local model, behind one protocol; settings choose."""

import time
from collections.abc import Callable

from textrawl.embeddings.faults import ProviderFailed, TextRefused
from textrawl.embeddings.models import MAX_DIMENSIONS, Model
from textrawl.embeddings.protocol import Embedder
from textrawl.embeddings.vectors import Vector
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
    """Return the embedder that `settings` choose, not yet connected; None for provider none.

    `clock` returns seconds, for the circuit breaker. Raises StartRefused, which names the variable
    that is missing or wrong.
    """
    # Import only the chosen client: each takes up to a second.
    match settings.embedding_provider:
        case "none":
            return None
        case "openai":
            from textrawl.embeddings import openai  # noqa: PLC0415 - slow to import

            return openai.build_embedder(settings, clock=clock)
        case "ollama":
            from textrawl.embeddings import ollama  # noqa: PLC0415 - slow to import

            return ollama.build_embedder(settings, clock=clock)
        case _:  # auto too: an API key in the environment may belong to another program
            from textrawl.embeddings import local  # noqa: PLC0415 - slow to import

            return local.build_embedder(settings)
