"""Building the vectors of a model, with a bar that says how far it is; what `embed` does long."""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager

import anyio
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from textrawl import errors
from textrawl.cli.administration import Administration, tell
from textrawl.cli.console import open_progress
from textrawl.cli.progress import show_index_progress
from textrawl.cli.rows import StartedModelRow
from textrawl.embeddings import Embedder, choose_embedder
from textrawl.embeddings.active_model import StoredModel, ask_once, choose_named, describe_model
from textrawl.embeddings.rows import KnownModelRow
from textrawl.postgres.vector_indexes import build_missing_indexes
from textrawl.settings import Settings
from textrawl.store.backlog import count_backlog, fill_batch, queue_facts

_PATIENCE = 120.0  # seconds without one vector after which somebody should look
_RECOUNT = 5.0  # seconds between counts of what is left: among a million each takes a while
_PAUSE = 2.0  # seconds between attempts while provider or database is away
_PASSING = (errors.EmbeddingUnavailable, errors.DatabaseUnavailable, errors.ServerBusy)


async def build_vectors(settings: Settings, memory: Administration) -> None:
    """Makes every vector of the model that `settings` name, beside the model in use.

    Raises ArgumentInvalid for one that is in use, or when another is being built;
    EmbeddingUnavailable or DatabaseUnavailable when one of them stays away for two minutes, the
    first also at once, before anything is registered, for a provider that does not answer at all.
    """
    embedder = choose_embedder(settings)
    if embedder is None:
        raise errors.EmbeddingNotConfigured
    try:
        await ask_once(embedder)
        [row] = await memory.call(
            "start_embedding_model", StartedModelRow, **describe_model(embedder)
        )
        missing = await _fill(memory, StoredModel(row.start_embedding_model, embedder))
        await _index(memory)
    finally:
        await embedder.aclose()
    refused = f" but {missing:,}, which the provider refused" if missing else ""
    tell(f"Every fact{refused} has a vector of {embedder.name}: run `textrawl embed switch`.")


async def catch_up(settings: Settings, memory: Administration) -> None:
    """Makes the vectors of facts that were written since the model that is being built was."""
    known = await memory.call("embedding_models", KnownModelRow)
    for row in known:
        if row.status == "building":
            embedder = _require(choose_named(settings, row.name))
            try:
                await embedder.warm()
                await _fill(memory, StoredModel(row.model_id, embedder))
            finally:
                await embedder.aclose()
    await _index(memory)


async def _index(memory: Administration) -> None:
    with show_index_progress() as report:
        await build_missing_indexes(memory.conninfo, report, building=True)


def _require(embedder: Embedder | None) -> Embedder:
    if embedder is None:
        raise errors.EmbeddingNotConfigured
    return embedder


async def _fill(memory: Administration, model: StoredModel) -> int:
    """Fills until nothing is due; how many facts are left, which the provider refused."""
    with _show_progress(model.embedder.name) as progress:
        [task] = progress.task_ids
        done = left = total = 0
        counted, worked = -math.inf, time.monotonic()
        while True:
            try:
                busy = await queue_facts(memory.database, model)
                taken = await fill_batch(memory.database, model)
                idle = not busy and not taken
                if idle or time.monotonic() - counted > _RECOUNT:
                    left, counted = await count_backlog(memory.database, model), time.monotonic()
                    total = done + taken + left
            except _PASSING:
                if time.monotonic() - worked > _PATIENCE:
                    raise
                await anyio.sleep(_PAUSE)
                continue
            if idle:
                return left
            done, worked = done + taken, time.monotonic()
            progress.update(task, completed=done, total=total)


@contextmanager
def _show_progress(name: str) -> Generator[Progress]:
    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(),
        MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=open_progress(), transient=True) as progress:
        progress.add_task(f"Vectors of {name}", total=None)
        yield progress
