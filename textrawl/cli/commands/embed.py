"""`textrawl embed`: changes of the embedding model while servers keep answering."""

from dataclasses import asdict
from functools import partial
from typing import Annotated

import typer
from rich.filesize import decimal

from textrawl.cli.administration import Administration, administer, draw_rows
from textrawl.cli.console import open_console, write_json, write_message
from textrawl.cli.model_calibration import calibrate_model
from textrawl.cli.rows import DroppedRow, ProgressRow, RolledBackRow, SwitchedRow
from textrawl.cli.vector_building import build_missing_vectors, build_vectors
from textrawl.embeddings.active_model import PROVIDERS
from textrawl.embeddings.rows import KnownModelRow
from textrawl.settings import Settings, read_settings

embed = typer.Typer(
    help="Change the embedding model while servers keep answering.", no_args_is_help=True
)


@embed.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show every model that has vectors, and how many facts do not have a vector yet."""
    rows, models = administer(_read_progress)
    waits = {model.name: model for model in models}
    if as_json:
        write_json([asdict(row) | _list_wait(waits.get(row.name)) for row in rows])
    elif not rows:
        write_message("No facts have vectors yet: the next server that starts computes them.")
    else:
        columns = ("model", "status", "dims", "vectors", "pending", "size")
        open_console().print(draw_rows(columns, [_list_cells(row) for row in rows]))
        for model in models:
            if model.stands_in_for is not None:
                reason = model.obstacle or "No server has tried to load it yet"
                write_message(f"{model.name} stands in for {model.stands_in_for}. {reason}.")


@embed.command()
def start(
    provider: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER",
            help=f"{', '.join(PROVIDERS)}; default: TEXTRAWL_EMBEDDING_PROVIDER.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="Name of the provider's model; default: TEXTRAWL_EMBEDDING_MODEL."
        ),
    ] = None,
) -> None:
    """Build the vectors of another model, while servers use the vectors of the active model.

    If the command is interrupted, run it again to continue. Servers use the new vectors after
    `textrawl embed switch`.
    """
    settings = _choose_settings(provider, model)
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

    async def work(memory: Administration) -> RolledBackRow:
        [row] = await memory.call("rollback_embedding_model", RolledBackRow)
        return row

    row = administer(work)
    write_message(
        f"{row.name} is in use again; servers follow within seconds. The vectors of "
        f"{row.abandoned} are kept: `textrawl embed switch` makes it active again, `textrawl embed "
        "drop` deletes it."
    )


@embed.command()
def calibrate(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            help="Name of the model: see `textrawl embed status`; default: the active model.",
        ),
    ] = None,
    reset: Annotated[
        bool, typer.Option("--reset", help="Return to textrawl's own values for the model.")
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
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Name of the model: see `textrawl embed status`.")
    ],
) -> None:
    """Delete a model that is not active, with its vectors."""

    async def work(memory: Administration) -> None:
        await memory.call("drop_embedding_model", DroppedRow, name=model)

    administer(work)
    write_message(f"Deleted {model} and its vectors.")


def _choose_settings(provider: str | None, model: str | None) -> Settings:
    """Return the settings with this provider and model.

    The model in the settings belongs to the provider in the settings. For another provider, its
    default model is used.
    """
    if provider is not None:
        return read_settings(embedding_provider=provider, embedding_model=model)
    return read_settings(**({} if model is None else {"embedding_model": model}))


async def _read_progress(
    memory: Administration,
) -> tuple[list[ProgressRow], list[KnownModelRow]]:
    rows = await memory.call("embedding_progress", ProgressRow)
    names = {row.name for row in rows}
    models = await memory.call("embedding_models", KnownModelRow)
    return rows, [model for model in models if model.name in names]


def _list_wait(model: KnownModelRow | None) -> dict[str, str | None]:
    """Return the model for which this one stands in, and why, as JSON."""
    if model is None:
        return {"stands_in_for": None, "obstacle": None}
    return {"stands_in_for": model.stands_in_for, "obstacle": model.obstacle}


def _list_cells(row: ProgressRow) -> tuple[str, ...]:
    return (
        row.name,
        row.status,
        str(row.dimensions),
        f"{row.vectors:,}",
        f"{row.pending:,}",
        decimal(row.bytes),
    )
