"""The long work of `textrawl embed`: building the vectors of a model, with a progress bar."""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

import anyio
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from textrawl import errors
from textrawl.cli.administration import Administration
from textrawl.cli.console import open_progress, write_message
from textrawl.cli.progress import show_download, show_index_progress
from textrawl.cli.rows import StartedModelRow
from textrawl.embeddings import Embedder, choose_embedder
from textrawl.embeddings.active_model import StoredModel, ask_once, choose_named, describe_model
from textrawl.embeddings.protocol import Downloading
from textrawl.embeddings.rows import KnownModelRow
from textrawl.postgres.vector_indexes import build_missing_indexes
from textrawl.settings import Settings
from textrawl.store.backlog import count_backlog, fill_batch, queue_facts, release_claims

_LONGEST_OUTAGE = 120.0  # seconds without a new vector after which the command fails
_COUNT_INTERVAL = 5.0  # seconds between counts of pending facts, because such a count can be slow
_RETRY_INTERVAL = 2.0  # seconds between attempts while the provider or the database is unreachable
_DOWNLOAD_INTERVAL = 0.2  # seconds between two looks at a download
_TRANSIENT = (errors.EmbeddingUnavailable, errors.DatabaseUnavailable, errors.ServerBusy)


async def build_vectors(settings: Settings, memory: Administration) -> None:
    """Build every vector of the model that `settings` name, beside the active model.

    Raises ArgumentInvalid if that model is active already, or if another model is being built.
    Raises EmbeddingUnavailable or DatabaseUnavailable if the provider or the database is
    unreachable for two minutes. If the provider does not answer the first call, this function
    raises immediately and does not register the model.
    """
    embedder = choose_embedder(settings)
    if embedder is None:
        raise errors.EmbeddingNotConfigured
    try:
        await _load(embedder)
        await ask_once(embedder)
        [row] = await memory.call(
            "start_embedding_model", StartedModelRow, **describe_model(embedder)
        )
        missing = await _fill(memory, StoredModel(row.start_embedding_model, embedder))
        await _index(memory)
    finally:
        await embedder.aclose()
    refused = f" except {missing:,} that the provider refused" if missing else ""
    write_message(
        f"Every fact{refused} has a vector of {embedder.name}: run `textrawl embed switch`."
    )


async def build_missing_vectors(settings: Settings, memory: Administration) -> None:
    """Build the vectors of facts that were written after the new model was built."""
    models = await memory.call("embedding_models", KnownModelRow)
    for row in models:
        if row.status == "building":
            embedder = _require(choose_named(settings, row.name))
            try:
                await _load(embedder)
                await _fill(memory, StoredModel(row.model_id, embedder))
            finally:
                await embedder.aclose()
    await _index(memory)


async def _load(embedder: Embedder) -> None:
    """Load the model, and show how far its download is. Raises EmbeddingUnavailable."""
    failed: errors.EmbeddingUnavailable | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_show_download, embedder)
        try:
            await embedder.warm()
        except errors.EmbeddingUnavailable as error:
            failed = error
        group.cancel_scope.cancel()
    if failed is not None:
        raise failed


async def _show_download(embedder: Embedder) -> None:
    """Draw a bar, or without a terminal write one line, as soon as a download has begun."""
    label, announced = f"Downloading {embedder.name}", False
    with show_download(label) as report:
        while isinstance(embedder, Downloading):
            await anyio.sleep(_DOWNLOAD_INTERVAL)
            progress = embedder.read_progress()
            if progress is not None:
                if not announced and not open_progress().is_terminal:
                    write_message(f"{label} ({decimal(progress[1])})")
                announced = True
                report(*progress)


async def _index(memory: Administration) -> None:
    with show_index_progress() as report:
        await build_missing_indexes(memory.conninfo, report, building=True)


def _require(embedder: Embedder | None) -> Embedder:
    if embedder is None:
        raise errors.EmbeddingNotConfigured
    return embedder


async def _fill(memory: Administration, model: StoredModel) -> int:
    """Build all missing vectors. Return the number of facts that the provider refused."""
    with _show_progress(model.embedder.name) as progress:
        [task] = progress.task_ids
        done = left = total = 0
        counted_at, built_at = -math.inf, time.monotonic()
        while True:
            try:
                busy = await queue_facts(memory.database, model)
                filled = await fill_batch(memory.database, model)
                idle = not busy and not filled
                if idle or time.monotonic() - counted_at > _COUNT_INTERVAL:
                    left, counted_at = await count_backlog(memory.database, model), time.monotonic()
                    total = done + filled + left
            except _TRANSIENT:
                if time.monotonic() - built_at > _LONGEST_OUTAGE:
                    raise
                await anyio.sleep(_RETRY_INTERVAL)
                with suppress(*_TRANSIENT):  # facts may have been claimed without an answer
                    await release_claims(memory.database, model)
                continue
            if idle:
                return left
            done, built_at = done + filled, time.monotonic()
            progress.update(task, completed=done, total=total)


@contextmanager
def _show_progress(name: str) -> Generator[Progress]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=open_progress(), transient=True) as progress:
        progress.add_task(f"Vectors of {name}", total=None)
        yield progress
