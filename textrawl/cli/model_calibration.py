"""The work of `textrawl embed calibrate`: it measures the scale of a model and stores it."""

from textrawl import errors
from textrawl.cli.administration import Administration
from textrawl.cli.progress import show_progress
from textrawl.cli.rows import CalibratedRow, SampleRow
from textrawl.embeddings import Embedder
from textrawl.embeddings.active_model import choose_named
from textrawl.embeddings.calibration import SAMPLE, measure_scale
from textrawl.embeddings.models import Scale
from textrawl.embeddings.rows import KnownModelRow
from textrawl.settings import Settings


async def calibrate_model(
    settings: Settings, name: str | None, memory: Administration, *, reset: bool
) -> tuple[str, Scale]:
    """Measure and store the scale of a model, and return the model's name and scale.

    If `name` is None, use the active model. With `reset`, store the scale that textrawl has for the
    model, without a measurement. Raises ArgumentInvalid if the memory does not have the model or
    has too few facts. Raises EmbeddingUnavailable.
    """
    name = await _find_model(memory, name)
    embedder = choose_named(settings, name)
    if embedder is None:
        raise errors.EmbeddingNotConfigured
    try:
        scale = embedder.model.scale if reset else await _measure(memory, embedder)
    finally:
        await embedder.aclose()
    await memory.call(
        "calibrate_embedding_model",
        CalibratedRow,
        name=name,
        cosine_floor=scale.floor,
        cosine_ceiling=scale.ceiling,
        trust=scale.trust,
        measured=not reset,
    )
    return name, scale


async def _find_model(memory: Administration, name: str | None) -> str:
    rows = await memory.call("embedding_models", KnownModelRow)
    found = [
        row.name for row in rows if (row.status == "active" if name is None else row.name == name)
    ]
    if not found:
        raise errors.ArgumentInvalid(
            "see `textrawl embed status`", title=f"No model {name or 'is in use yet'}"
        )
    return found[0]


async def _measure(memory: Administration, embedder: Embedder) -> Scale:
    await embedder.warm()
    rows = await memory.call("sample_facts", SampleRow, max_rows=SAMPLE)
    facts = [(row.entity_name, row.content) for row in rows]
    with show_progress("Facts", len(facts)) as report:
        return await measure_scale(embedder, facts, report)
