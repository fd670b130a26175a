"""The embedder that the settings choose. Only the chosen client is imported."""

import time
from collections.abc import Callable
from importlib.util import find_spec

from textrawl.models.embeddings import (
    DEFAULT_MODEL,
    Embedder,
    find_known_weights,
)
from textrawl.settings import Settings


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
            from textrawl.models import openai  # noqa: PLC0415 - slow to import

            return openai.build_embedder(settings, clock=clock)
        case "ollama":
            from textrawl.models import ollama  # noqa: PLC0415 - slow to import

            return ollama.build_embedder(settings, clock=clock)
        case "auto" | "fastembed" as provider if provider == "fastembed" or _has_encoder(settings):
            from textrawl.models import fastembed  # noqa: PLC0415 - slow to import

            return fastembed.build_embedder(settings, clock=clock)
        case _:  # `auto` never chooses OpenAI, because an API key may belong to another program
            from textrawl.models import local  # noqa: PLC0415 - slow to import

            return local.build_embedder(settings)


def asks_for_model(settings: Settings) -> bool:
    """Return whether `settings` name a provider or a model, so that it may be downloaded."""
    return settings.embedding_provider != "auto" or settings.embedding_model is not None


def _has_encoder(settings: Settings) -> bool:
    """Return whether `auto` means fastembed: it is installed, and its model is on this machine.

    A model that the settings name counts as well, because it may be downloaded.
    """
    if find_spec("fastembed") is None:
        return False
    if settings.embedding_model is not None:
        return "wordllama" not in settings.embedding_model
    weights = find_known_weights(DEFAULT_MODEL)
    return weights is not None and weights.is_whole()
