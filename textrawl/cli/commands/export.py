"""`textrawl export`: the content of a memory as JSON Lines."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from textrawl.archive.dumps import count_facts
from textrawl.archive.exports import Export
from textrawl.archive.files import write_whole
from textrawl.archive.server_memory import write_server_memory
from textrawl.cli.console import count, write_message
from textrawl.cli.database_access import open_login
from textrawl.cli.foreground import run_foreground
from textrawl.cli.progress import show_progress
from textrawl.distribution.owner_session import open_snapshot
from textrawl.errors import ArgumentInvalid, StartRefused
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
    typer.Option(metavar="SPACE", parser=clean_name, help="Only this space; can be repeated."),
]
_Kind = Annotated[
    Kind,
    typer.Option(
        "--to",
        help="File format; `server-memory`: for MCP's reference memory server, with one space.",
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
    """Write entities, facts, relations, reflections and documents as JSON Lines.

    The file also has the authors, and the facts that are not valid any more. Only a file of
    `textrawl backup` also has tokens, grants and the trail.
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
        raise StartRefused(f"The export is incomplete: {error.strerror} on stdout") from error
    return counts


async def _export(
    settings: Settings, out: BinaryIO, spaces: list[str], with_vectors: bool
) -> Counts:
    async with open_login(settings) as login, open_snapshot(login) as session:
        # The parts of journal entries and sources are not lines of their own.
        facts = count_facts(await session.count_rows()) - await session.count_parts()
        with show_progress("Exporting facts", facts) as report:
            exporting = Export(session, out.write, report)
            await exporting.run(spaces, with_vectors=with_vectors)
        if not spaces and exporting.counts["fact"] != facts:
            raise StartRefused(
                f"The export is incomplete: the memory has {count(facts, 'fact')}, but the file "
                f"has {exporting.counts['fact']:,}"
            )
    return exporting.counts


async def _export_graph(settings: Settings, out: BinaryIO, spaces: list[str]) -> Counts:
    if len(spaces) != 1:
        raise ArgumentInvalid(
            "a file of the reference memory server holds one space: give one --space",
            title="More than one space",
        )
    async with open_login(settings) as login, open_snapshot(login) as session:
        entities = (await session.count_rows())["entity"]
        with show_progress("Exporting entities", entities) as report:
            return await write_server_memory(session, out.write, spaces[0], report)


def count_kinds(counts: dict[str, int]) -> str:
    """Return counts in words, such as "1 space, 2 entities, 3 facts, 0 relations"."""
    # Name rows of other toolsets only if there are any, because few memories have them.
    usual = {"space", "entity", "fact", "relation"}
    shown = {kind: number for kind, number in counts.items() if number or kind in usual}
    return ", ".join(count(number, kind) for kind, number in shown.items())
