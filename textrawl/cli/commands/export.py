"""`textrawl export`: the content of a memory as JSON Lines."""

import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from textrawl.archive.exports import Export
from textrawl.archive.files import write_whole
from textrawl.archive.server_memory import write_server_memory
from textrawl.cli.commands.backup import open_place
from textrawl.cli.console import count, write_message
from textrawl.cli.foreground import run_foreground
from textrawl.cli.progress import show_progress
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.postgres.migrations import check, migrate
from textrawl.postgres.owner_login import OwnerLogin
from textrawl.postgres.owner_session import open_snapshot
from textrawl.settings import Settings, read_settings
from textrawl.values.text import clean_name

STREAM = "-"
Counts = dict[str, int]
Kind = Literal["textrawl", "server-memory"]


_File = Annotated[
    str,
    typer.Argument(metavar="[FILE|-]", help="The file to write; default: -, which is stdout."),
]
_Space = Annotated[
    list[str] | None,
    typer.Option(metavar="SPACE", parser=clean_name, help="Only this space; may be repeated."),
]
_Kind = Annotated[
    Kind,
    typer.Option(
        "--to",
        help="File format; server-memory is that of the reference memory server, for one space.",
    ),
]
_WithVectors = Annotated[
    bool,
    typer.Option(
        "--with-vectors", help="Include vectors; without them, import computes them again."
    ),
]


def export(
    file: _File = STREAM,
    space: _Space = None,
    kind: _Kind = "textrawl",
    with_vectors: _WithVectors = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
) -> None:
    """Write spaces, entities, facts, relations and reflections as JSON Lines.

    The export has all of them with their authors, and also facts that are no longer valid. Tokens,
    grants, logins and the trail are not in it: use `textrawl backup` for these.
    """
    settings = read_settings()

    def write(out: BinaryIO) -> Counts:
        if kind == "server-memory":
            return run_foreground(lambda: _export_graph(settings, out, space or ["default"]))
        return run_foreground(lambda: _export(settings, out, space or [], with_vectors))

    if file == STREAM:
        counts = _write_stdout(write)
    else:
        with write_whole(Path(file).absolute(), force=force) as draft, draft.open("wb") as out:
            counts = write(out)
    write_message(f"Exported {count_kinds(counts)}.")


def _write_stdout(write: Callable[[BinaryIO], Counts]) -> Counts:
    try:
        counts = write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except OSError as error:
        # At exit Python would flush the rest to stdout and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise StartRefused(f"The export is not whole: {error.strerror} on stdout") from error
    return counts


async def _export(
    settings: Settings, out: BinaryIO, spaces: list[str], with_vectors: bool
) -> Counts:
    async with open_current(settings) as place, open_snapshot(place) as session:
        facts = (await session.count_rows())["observation"]
        with show_progress("Exporting facts", facts) as report:
            exporting = Export(session, out.write, report)
            await exporting.run(spaces, with_vectors=with_vectors)
        if not spaces and exporting.counts["fact"] != facts:
            raise StartRefused(
                f"The memory has {count(facts, 'fact')}, but {exporting.counts['fact']:,} were read"
            )
    return exporting.counts


async def _export_graph(settings: Settings, out: BinaryIO, spaces: list[str]) -> Counts:
    if len(spaces) != 1:
        raise ArgumentInvalid(
            "a file of the reference memory server holds one space: give one --space",
            title="More than one space",
        )
    async with open_current(settings) as place, open_snapshot(place) as session:
        entities = (await session.count_rows())["entity"]
        with show_progress("Exporting entities", entities) as report:
            return await write_server_memory(session, out.write, spaces[0], report)


@asynccontextmanager
async def open_current(settings: Settings, *, empty: bool = False) -> AsyncGenerator[OwnerLogin]:
    """Open the memory that `settings` name; it must be of this version.

    Raises StartRefused, DatabaseUnavailable.
    """
    async with open_place(settings, empty=empty) as place:
        if settings.database_url is None:
            await migrate(place.conninfo)
        else:
            await check(place.conninfo, connect_timeout=place.timeout, serving=False)
        yield place


def count_kinds(counts: dict[str, int]) -> str:
    """Return counts in words, such as "1 space, 2 entities, 3 facts, 0 relations"."""
    # Reflections belong to the graph tools: few memories have any.
    shown = {kind: number for kind, number in counts.items() if number or kind != "reflection"}
    return ", ".join(count(number, kind) for kind, number in shown.items())
