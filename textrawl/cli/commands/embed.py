"""`textrawl embed`: changes of the embedding model while servers keep answering."""

import math
import time
from contextlib import aclosing, suppress
from functools import partial
from typing import Annotated

import anyio
import typer
from rich.filesize import decimal

from textrawl import errors
from textrawl.cli.administration import (
    Administration,
    ProgressRow,
    RolledBackRow,
    SampleRow,
    SwitchedRow,
    administer,
    call_database,
)
from textrawl.cli.console import (
    show_index_progress,
    show_late_progress,
    show_progress,
    show_rows,
    write_message,
)
from textrawl.cli.inputs import AsJson, argument, option
from textrawl.memory.backlog import count_backlog, fill_batch, queue_facts
from textrawl.models.active_model import (
    PROVIDERS,
    KnownModelRow,
    StoredModel,
    ask_once,
    choose_named,
    describe_model,
)
from textrawl.models.calibration import SAMPLE, measure_scale
from textrawl.models.choice import choose_embedder, explain_choice
from textrawl.models.embeddings import Embedder, Scale
from textrawl.postgres.vector_indexes import build_missing_indexes
from textrawl.settings import Settings, read_settings

_PAUSE = 1.0  # seconds between two looks at the vectors that servers compute


async def calibrate_model(
    settings: Settings, name: str | None, memory: Administration, *, reset: bool
) -> tuple[str, Scale]:
    """Measure and store the scale of a model, and return the model's name and scale.

    If `name` is None, use the active model. With `reset`, store the scale that textrawl has for the
    model, without a measurement. Raises ArgumentInvalid if the memory does not have the model or
    has too few facts. Raises EmbeddingUnavailable.
    """
    rows = await memory.call("embedding_models", KnownModelRow)
    known = [
        row.name for row in rows if (row.status == "active" if name is None else row.name == name)
    ]
    if not known:
        raise errors.ArgumentInvalid(
            "see `textrawl embed status`", title=f"No model {name or 'is in use yet'}"
        )
    async with _close(choose_named(settings, name := known[0])) as embedder:
        scale = embedder.model.scale if reset else await _measure(memory, embedder)
    await memory.call(
        "calibrate_embedding_model",
        str,
        name=name,
        cosine_floor=scale.floor,
        cosine_ceiling=scale.ceiling,
        trust=scale.trust,
        measured=not reset,
    )
    return name, scale


async def _measure(memory: Administration, embedder: Embedder) -> Scale:
    await embedder.warm()
    rows = await memory.call("sample_facts", SampleRow, max_rows=SAMPLE)
    facts = [(row.entity_name, row.content) for row in rows]
    with show_progress("Facts", len(facts)) as report:
        return await measure_scale(embedder, facts, report)


_LONGEST_OUTAGE = 120.0  # seconds without a new vector after which the command fails
_COUNT_INTERVAL = 5.0  # seconds between counts of pending facts, because such a count can be slow
_RETRY_INTERVAL = 2.0  # seconds between attempts while the provider or the database is unreachable
_TRANSIENT = (errors.EmbeddingUnavailable, errors.DatabaseUnavailable, errors.ServerBusy)


async def build_vectors(settings: Settings, memory: Administration) -> None:
    """Build every vector of the model that `settings` name, beside the active model.

    Raises ArgumentInvalid if that model is active already, or if another model is being built.
    Raises EmbeddingUnavailable or DatabaseUnavailable if the provider or the database is
    unreachable for two minutes. If the provider does not answer the first call, this function
    raises immediately and does not register the model.
    """
    async with _close(choose_embedder(settings)) as embedder:
        await ask_once(embedder)
        number = await memory.value("start_embedding_model", int, **describe_model(embedder))
        missing = await _fill(memory, StoredModel(number, embedder))
        await _index(memory)
    refused = f" except {missing:,} that the provider refused" if missing else ""
    write_message(
        f"Every fact{refused} has a vector of {embedder.name}: run `textrawl embed switch`."
    )


async def build_missing_vectors(settings: Settings, memory: Administration) -> None:
    """Build the vectors of facts that were written after the new model was built."""
    models = await memory.call("embedding_models", KnownModelRow)
    for row in models:
        if row.status == "building":
            async with _close(choose_named(settings, row.name)) as embedder:
                await _fill(memory, StoredModel(row.model_id, embedder))
    await _index(memory)


async def _index(memory: Administration) -> None:
    with show_index_progress() as report:
        await build_missing_indexes(memory.conninfo, report, building=True)


def _close(embedder: Embedder | None) -> aclosing[Embedder]:
    """Return a context manager that closes the model. Raises EmbeddingNotConfigured."""
    if embedder is None:
        raise errors.EmbeddingNotConfigured
    return aclosing(embedder)


async def _fill(memory: Administration, model: StoredModel) -> int:
    """Build all missing vectors. Return the number of facts that the provider refused."""
    with show_late_progress(f"Vectors of {model.embedder.name}") as report:
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
                    # Nobody else builds a model meanwhile.
                    await memory.database.call("release_all_embeddings", int, model=model.model_id)
                continue
            if idle:
                return left
            done, built_at = done + filled, time.monotonic()
            report(done, total)


embed = typer.Typer(no_args_is_help=True)


@embed.command()
def status(
    watch: Annotated[bool, option("--watch", "Show a bar until all facts have vectors.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show every model that has vectors, and how many facts do not have a vector yet.

    Servers compute the vectors. --watch waits for them.
    """
    if watch:
        administer(_watch, wait=None, changes_memory=False)
    rows = call_database("embedding_progress", ProgressRow, changes_memory=False)
    columns = ("model", "status", "dims", "vectors", "pending", "size")
    none = "No facts have vectors yet: the next server that starts computes them."
    show_rows(rows, columns, _list_cells, as_json=as_json, none=none)
    for row in rows:
        if row.status == "active" and not as_json:
            write_message(f"{row.name}: {explain_choice(row.name, read_settings())}.")


@embed.command()
def start(
    provider: Annotated[
        str | None,
        option("PROVIDER", f"{', '.join(PROVIDERS)}; default: TEXTRAWL_EMBEDDING_PROVIDER."),
    ] = None,
    model: Annotated[
        str | None,
        option("MODEL", "Name of the provider's model; default: TEXTRAWL_EMBEDDING_MODEL."),
    ] = None,
) -> None:
    """Build the vectors of another model, while servers use the vectors of the active model.

    If the command is interrupted, run it again to continue. Servers use the new vectors after
    `textrawl embed switch`.
    """
    if provider is not None:
        # The model in the settings belongs to their provider: another one has a default of its own.
        settings = read_settings(embedding_provider=provider, embedding_model=model)
    else:
        settings = read_settings(**({} if model is None else {"embedding_model": model}))
    administer(partial(build_vectors, settings), wait=None)


@embed.command()
def switch() -> None:
    """Make the model that `textrawl embed start` built the active model.

    The previous model is kept for `textrawl embed rollback`, and also gets vectors of new facts.
    """
    settings = read_settings()

    async def work(memory: Administration) -> SwitchedRow:
        await build_missing_vectors(settings, memory)
        [row] = await memory.call("switch_embedding_model", SwitchedRow)
        return row

    row = administer(work, wait=None)
    write_message(
        f"{row.name} is in use from now on; servers follow within seconds. "
        f"`textrawl embed rollback` returns to {row.previous}, "
        f"`textrawl embed drop {row.previous}` deletes {row.previous}."
    )


@embed.command()
def rollback() -> None:
    """Make the previous model active again. Its vectors were kept, so this is immediate."""
    [row] = call_database("rollback_embedding_model", RolledBackRow)
    write_message(
        f"{row.name} is in use again; servers follow within seconds. The vectors of "
        f"{row.abandoned} are kept: `textrawl embed switch` makes it active again, `textrawl embed "
        "drop` deletes it."
    )


@embed.command()
def calibrate(
    model: Annotated[
        str | None,
        argument(
            "MODEL", "Name of the model: see `textrawl embed status`; default: the active model."
        ),
    ] = None,
    reset: Annotated[
        bool, option("--reset", "Return to textrawl's own values for the model.")
    ] = False,
) -> None:
    """Measure what the cosines of a model mean, with facts of this memory.

    The results are the usual cosines of unrelated and of equal texts, and how much a search trusts
    a cosine alone. Searches use these results immediately. For the measurement the model embeds
    some hundred texts.
    """
    settings = read_settings()
    name, scale = administer(partial(calibrate_model, settings, model, reset=reset), wait=None)
    write_message(
        f"{name}: texts with a cosine of {scale.floor:g} or less count as unrelated, with "
        f"{scale.ceiling:g} or more as equal; trust is {scale.trust:g}. Searches use these values "
        "from now on."
    )


@embed.command()
def drop(
    model: Annotated[str, argument("MODEL", "Name of the model: see `textrawl embed status`.")],
) -> None:
    """Delete a model that is not active, with its vectors."""
    call_database("drop_embedding_model", str, name=model)
    write_message(f"Deleted {model} and its vectors.")


async def _watch(memory: Administration) -> None:
    """Show the vectors of the active model until no fact is pending."""
    with show_late_progress("Vectors") as report:
        while True:
            rows = await memory.call("embedding_progress", ProgressRow)
            pending = [row for row in rows if row.status == "active" and row.pending]
            if not pending:
                return
            report(pending[0].vectors, pending[0].vectors + pending[0].pending)
            await anyio.sleep(_PAUSE)


def _list_cells(row: ProgressRow) -> tuple[str, ...]:
    return (
        row.name,
        row.status,
        str(row.dimensions),
        f"{row.vectors:,}",
        f"{row.pending:,}",
        decimal(row.bytes),
    )
