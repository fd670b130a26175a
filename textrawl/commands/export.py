"""`textrawl export`: the content of a memory as JSON Lines."""

import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from textrawl.archive.database import open_snapshot
from textrawl.archive.exports import Export
from textrawl.archive.files import write_whole
from textrawl.archive.place import Place
from textrawl.archive.server_memory import write_server_memory
from textrawl.commands.administration import tell
from textrawl.commands.backup import open_place
from textrawl.commands.foreground import run_foreground
from textrawl.commands.progress import show_progress
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.migrations import check, migrate
from textrawl.settings import Settings, read_settings
from textrawl.texts import clean_name

STREAM = "-"
Counts = dict[str, int]
Kind = Literal["textrawl", "server-memory"]


def export(
    file: Annotated[
        str, typer.Argument(metavar="[FILE|-]", help="Where to write it; - is stdout.")
    ] = STREAM,
    space: Annotated[
        list[str] | None,
        typer.Option(metavar="SPACE", parser=clean_name, help="These alone; may be repeated."),
    ] = None,
    kind: Annotated[
        Kind, typer.Option("--to", help="Whose file: server-memory: the reference's, of one SPACE.")
    ] = "textrawl",
    with_vectors: Annotated[
        bool, typer.Option("--with-vectors", help="Vectors too, else they are made anew.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
) -> None:
    """Write spaces, entities, facts and relations as JSON Lines, for `textrawl import`.

    Nothing is left out of those: what is not valid any more is there, and who said it. Tokens,
    grants, logins and the trail are not: these move by `textrawl backup`.
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
    tell(f"Exported {count_kinds(counts)}.")


def _write_stdout(write: Callable[[BinaryIO], Counts]) -> Counts:
    try:
        done = write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except OSError as error:
        # Python would try to write the rest once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise StartRefused(f"The export is not whole: {error.strerror} on stdout") from error
    return done


async def _export(
    settings: Settings, out: BinaryIO, spaces: list[str], with_vectors: bool
) -> Counts:
    async with open_current(settings) as place, open_snapshot(place) as session:
        facts = (await session.count_rows())["observation"]
        with show_progress("Exporting facts", facts) as report:
            exporting = Export(session, out.write, report)
            await exporting.run(spaces, with_vectors=with_vectors)
        if not spaces and exporting.counts["fact"] != facts:
            raise StartRefused(f"{facts:,} facts are there and {exporting.counts['fact']:,} came")
    return exporting.counts


async def _export_graph(settings: Settings, out: BinaryIO, spaces: list[str]) -> Counts:
    if len(spaces) != 1:
        raise ArgumentInvalid("such a file has one graph: name one", title="More than one SPACE")
    async with open_current(settings) as place, open_snapshot(place) as session:
        entities = (await session.count_rows())["entity"]
        with show_progress("Exporting entities", entities) as report:
            return await write_server_memory(session, out.write, spaces[0], report)


@asynccontextmanager
async def open_current(settings: Settings, *, empty: bool = False) -> AsyncGenerator[Place]:
    """The memory that `settings` name, of this version.

    Raises StartRefused, DatabaseUnavailable.
    """
    async with open_place(settings, empty=empty) as place:
        if settings.database_url is None:
            await migrate(place.conninfo)
        else:
            await check(place.conninfo, connect_timeout=place.timeout, serving=False)
        yield place


def count_kinds(counts: dict[str, int]) -> str:
    """Such as 1 space, 2 entities, 3 facts, 0 relations."""
    names = {"space": "spaces", "entity": "entities", "fact": "facts", "relation": "relations"}
    return ", ".join(f"{n:,} {kind if n == 1 else names[kind]}" for kind, n in counts.items())
