"""The check of `textrawl doctor` that makes a vector, and says which model made it and why."""

import time
from importlib.util import find_spec

import anyio

from textrawl.embeddings import Embedder, asks_for_model, choose_embedder
from textrawl.embeddings.active_model import STAND_IN, choose_named
from textrawl.embeddings.faults import ModelMissing
from textrawl.embeddings.protocol import Downloading
from textrawl.embeddings.weights import DEFAULT_MODEL
from textrawl.errors import EmbeddingUnavailable, StartRefused
from textrawl.examination.findings import Finding, record_errors
from textrawl.postgres.inspection import ActiveModel
from textrawl.settings import Settings

_TEXT = "textrawl doctor: is anybody there?"
_LOADING = 10.0  # seconds that the check waits for a model to load
_WITHOUT_VECTORS = "Until it works, search uses only keywords, and new facts do not get vectors"


async def try_model(
    active: ActiveModel | None, settings: Settings, findings: list[Finding]
) -> None:
    """Compute a vector with the active model, or else with the model of the settings.

    A provider that is away is only a note, because without vectors all calls except a semantic
    search still work, and the provider comes back. A model of this process that cannot be loaded
    is a fault if the memory has its vectors, and a note if the local model stands in for it.
    """
    with record_errors(findings, "embeddings"):
        configured = choose_embedder(settings)  # if this raises, servers do not start either
        if configured is None:
            message = "none: search uses only keywords"
            findings.append(Finding("embeddings", "note", message))
            return
        await configured.aclose()
        name = active.name if active else configured.name
        try:
            message = await _ask(settings, name)
            findings.append(await _judge(message, active, configured, settings))
        except ModelMissing as missing:
            findings.append(await _judge_missing(name, missing, active, settings))
        except (EmbeddingUnavailable, StartRefused) as reason:
            message = f"{name} cannot be used: {reason}. {_WITHOUT_VECTORS}"
            findings.append(Finding("embeddings", "note", message))


async def _judge(
    message: str, active: ActiveModel | None, configured: Embedder, settings: Settings
) -> Finding:
    if active is None:
        return Finding("embeddings", "ok", f"{message}; {_explain_choice(configured, settings)}")
    if active.stands_in_for is None:
        return Finding("embeddings", "ok", f"{message}; this memory has its vectors")
    obstacle = active.obstacle or await _find_obstacle(settings, active.stands_in_for)
    text = f"{message}; stands in for {active.stands_in_for}. {obstacle}"
    return Finding("embeddings", "note", text)


async def _judge_missing(
    name: str, missing: ModelMissing, active: ActiveModel | None, settings: Settings
) -> Finding:
    if active is not None:
        message = f"{name} cannot be used: {missing}. {_WITHOUT_VECTORS}"
        return Finding("embeddings", "broken", message)
    message = await _ask(settings, STAND_IN)
    text = f"{name} cannot be used: {missing}. Until then a new memory uses {message}"
    return Finding("embeddings", "note", text)


def _explain_choice(configured: Embedder, settings: Settings) -> str:
    """Return why a new memory gets the model of the settings."""
    if asks_for_model(settings):
        return "the settings ask for it"
    best = "the best model whose files are on this machine"
    if isinstance(configured, Downloading) or find_spec("fastembed") is None:
        return best
    return (
        f"{best}. {DEFAULT_MODEL} is not here; `textrawl embed start --provider fastembed` "
        "downloads it"
    )


async def _find_obstacle(settings: Settings, name: str) -> str:
    try:
        embedder = choose_named(settings, name)
        if isinstance(embedder, Downloading):
            await embedder.check_files()
    except (EmbeddingUnavailable, StartRefused) as reason:
        return str(reason)
    return "Servers change to it within a minute"


async def _ask(settings: Settings, name: str) -> str:
    embedder = choose_named(settings, name)
    if embedder is None:
        raise StartRefused(f"no embedding provider has the model {name}")
    try:
        if isinstance(embedder, Downloading):
            await embedder.check_files()  # the check must not download a model
        with anyio.move_on_after(_LOADING):
            await embedder.warm()
        start = time.perf_counter()
        [vector] = await embedder.embed_documents([_TEXT])
        milliseconds = (time.perf_counter() - start) * 1000
    finally:
        await embedder.aclose()
    return f"{embedder.name}: {len(vector)} dimensions, one text in {milliseconds:.1f} ms"
