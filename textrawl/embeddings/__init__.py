"""Vectors of texts, from OpenAI, Ollama or this process: one protocol, chosen by settings."""

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
    """The embedder that `settings` ask for, not yet connected; None for provider none.

    `clock` gives seconds to the circuit breaker. Raises StartRefused naming the variable that
    is missing or wrong.
    """
    # A client takes up to a second to import: only the chosen one is.
    match settings.embedding_provider:
        case "none":
            return None
        case "openai":
            from textrawl.embeddings import openai  # noqa: PLC0415

            return openai.build_embedder(settings, clock=clock)
        case "ollama":
            from textrawl.embeddings import ollama  # noqa: PLC0415

            return ollama.build_embedder(settings, clock=clock)
        case _:  # auto, too: a key in the environment may be meant for another program
            from textrawl.embeddings import local  # noqa: PLC0415

            return local.build_embedder(settings)
