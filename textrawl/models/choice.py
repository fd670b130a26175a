"""The embedder that the settings choose. Only the chosen client is imported."""

import time
from collections.abc import Callable

from textrawl.installation import write_install_command
from textrawl.models.embeddings import Embedder
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
        case "auto" | "encoder" as provider if provider == "encoder" or _has_encoder(settings):
            from textrawl.models import encoder  # noqa: PLC0415 - slow to import

            return encoder.build_embedder(settings)
        case _:  # `auto` never chooses OpenAI, because an API key may belong to another program
            from textrawl.models import local  # noqa: PLC0415 - slow to import

            return local.build_embedder(settings)


def asks_for_model(settings: Settings) -> bool:
    """Return whether `settings` name a provider or a model."""
    return settings.embedding_provider != "auto" or settings.embedding_model is not None


def _has_encoder(settings: Settings) -> bool:
    """Return whether `auto` means an encoder: the settings name it, or it is on this machine."""
    from textrawl.models.encoder import find_packaged, is_installed  # noqa: PLC0415 - see above

    if settings.embedding_model is not None:
        return find_packaged(settings.embedding_model) is not None
    return is_installed()


def explain_choice(active: str | None, settings: Settings) -> str:
    """Return why a memory has its active model, or without one the model of the settings."""
    from textrawl.models.encoder import PACKAGED, is_installed  # noqa: PLC0415 - see above

    best = f"encoder:{PACKAGED[0].name}"
    if active is None:
        if asks_for_model(settings):
            return "the settings ask for it"
        if is_installed():
            return "the best model on this machine"
        return f"`{write_install_command('encoder')}` brings a better model, for a new memory"
    if active.startswith("local:") and is_installed():
        return (
            f"this memory has its vectors; {best} finds more: run `textrawl embed start --provider "
            "encoder`, then `textrawl embed switch`"
        )
    return "this memory has its vectors"
