"""`textrawl import`: an export added to a memory."""

import getpass
import os
import sys
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, TextIO

import typer
from rich.text import Text

from textrawl.archive.cortexgraph import MEMORIES, RELATIONS, CortexGraph
from textrawl.archive.cortexgraph_lines import LastLines
from textrawl.archive.files import write_whole
from textrawl.archive.imports import Import, Tally
from textrawl.archive.server_memory import ServerMemory
from textrawl.archive.streams import read_lines
from textrawl.cli.commands.export import STREAM, count_kinds
from textrawl.cli.console import open_console, write_message
from textrawl.cli.database_access import open_login
from textrawl.cli.foreground import run_foreground
from textrawl.cli.progress import show_index_progress, show_progress
from textrawl.distribution.owner_session import open_writing
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.postgres.owner_session import Session
from textrawl.postgres.vector_indexes import build_indexes
from textrawl.settings import Settings, read_settings
from textrawl.values.text import clean_name

FileKind = Literal["textrawl", "server-memory", "cortexgraph"]

_SHOWN = 20


_File = Annotated[
    str,
    typer.Argument(
        metavar="FILE|-",
        help="A file that `textrawl export` wrote; - is stdin. With `cortexgraph`: its folder, "
        "or memories.jsonl in it.",
    ),
]
_Kind = Annotated[
    FileKind,
    typer.Option(
        "--from",
        help="File format; `server-memory`: of MCP's reference memory server; `cortexgraph`: of "
        "CortexGraph.",
    ),
]
_Space = Annotated[
    str,
    typer.Option(
        metavar="SPACE",
        parser=clean_name,
        help="With --from server-memory or cortexgraph: the space to import into.",
    ),
]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be imported, and import nothing.")
]
_Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the faults of all bad lines to this file."),
]


def import_(
    file: _File,
    kind: _Kind = "textrawl",
    space: _Space = "default",
    dry_run: _DryRun = False,
    report: _Report = None,
) -> None:
    """Add an export to the memory.

    Existing content is not changed, and importing a file twice adds nothing. Bad lines are reported
    with their numbers and skipped, and the exit code is 1. TEXTRAWL_DATABASE_URL needs the rights
    of the database's owner, because a file names the author of each fact.
    """
    settings = read_settings()
    with ExitStack() as stack:
        faults = stack.enter_context(_open_faults(report))
        source = _Source(
            stack.enter_context(_open_source(_find_file(file, kind))),
            kind,
            space,
            stack.enter_context(_open_relations(file, kind)),
        )
        tally = run_foreground(lambda: _import(settings, source, faults, dry_run=dry_run))
    _report_faults(faults, tally)
    _report_tally(tally, dry_run=dry_run)
    if faults.number or not tally.whole:
        raise typer.Exit(1)


@dataclass
class _Faults:
    """Faults of bad lines. The first 20 are shown on stderr, and all are written to a file."""

    file: TextIO | None
    number: int = 0
    shown: list[str] = field(default_factory=list[str])

    def add(self, line: int, reason: str) -> None:
        self.number += 1
        message = f"line {line}: {' '.join(reason.split())}"
        if len(self.shown) < _SHOWN:
            self.shown.append(message)
        if self.file:
            self.file.write(f"{message}\n")


def _find_file(file: str, kind: FileKind) -> str:
    """Return the file of memories in a folder of CortexGraph, or else the file itself."""
    if kind != "cortexgraph":
        return file
    if file == STREAM:
        raise StartRefused("CortexGraph's files are read twice: name their folder")
    return str(Path(file) / MEMORIES) if Path(file).is_dir() else file


@contextmanager
def _open_relations(file: str, kind: FileKind) -> Generator[BinaryIO]:
    """Open the relations beside the memories of CortexGraph. Without such a file, read nothing."""
    relations = Path(_find_file(file, kind)).with_name(RELATIONS)
    if kind == "cortexgraph" and relations.is_file():
        with relations.open("rb") as opened:
            yield opened
    else:
        yield BytesIO()


@contextmanager
def _open_source(file: str) -> Generator[BinaryIO]:
    if file == STREAM:
        yield sys.stdin.buffer
        return
    try:
        opened = Path(file).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise StartRefused(f"{file} cannot be read: {error.strerror}") from error
    with opened:
        yield opened


@contextmanager
def _open_faults(report: Path | None) -> Generator[_Faults]:
    if report is None:
        yield _Faults(None)
        return
    with (
        write_whole(report.absolute(), force=False) as draft,
        draft.open("w", encoding="utf-8") as file,
    ):
        yield _Faults(file)


@dataclass(frozen=True)
class _Source:
    """A file to import. `space` is for file formats that do not name spaces.

    `relations` is the second file of CortexGraph.
    """

    file: BinaryIO
    kind: FileKind
    space: str
    relations: BinaryIO


async def _import(settings: Settings, source: _Source, faults: _Faults, *, dry_run: bool) -> Tally:
    file = source.file
    size = None if file is sys.stdin.buffer else os.fstat(file.fileno()).st_size
    async with (
        open_login(settings, empty=True) as login,
        open_writing(login, dry_run=dry_run) as session,
    ):
        space = await _find_space(session, source)
        with show_progress("Importing bytes", size) as progress:
            importing = Import(session, faults.add, size)
            lines = await _read(source, session, space, importing, progress)
            tally = await importing.run(lines)
        if not dry_run:
            with show_index_progress() as report:
                await build_indexes(login, session, report)
    return tally


async def _read(
    source: _Source,
    session: Session,
    space: int | None,
    importing: Import,
    progress: Callable[[int], object],
) -> AsyncIterable[tuple[int, bytes | None]]:
    """Return the content of the files as lines of an export."""
    lines, author = read_lines(source.file, progress), getpass.getuser()
    if space is None:
        return lines
    if source.kind == "server-memory":
        return ServerMemory(session, source.space, space, author, importing.refuse).translate(lines)
    reader = CortexGraph(source.space, author, importing.refuse)
    return reader.translate(
        await _choose_last(source.file, progress), await _choose_last(source.relations, progress)
    )


async def _choose_last(
    file: BinaryIO, progress: Callable[[int], object]
) -> AsyncIterator[tuple[int, bytes | None]]:
    """Read a file of CortexGraph once to find the last line of each id, and return these lines."""
    last = await LastLines.find(read_lines(file, lambda _: None))
    file.seek(0)
    return last.choose(read_lines(file, progress))


async def _find_space(session: Session, source: _Source) -> int | None:
    """Return the id of the space to import into, or None if the lines name their spaces."""
    if source.kind == "textrawl":
        return None
    found = (await session.find_spaces()).get(source.space)
    if found is None:
        raise ArgumentInvalid("see `textrawl space list`", title=f"No space {source.space}")
    return found


def _report_faults(faults: _Faults, tally: Tally) -> None:
    for message in faults.shown:
        write_message(message)
    if faults.number > len(faults.shown):
        write_message(
            f"and {faults.number - len(faults.shown):,} more: --report FILE writes all of them"
        )
    if not tally.whole:
        write_message(
            "The file is incomplete: its last line is missing, or the counts in it do not match"
        )
    if tally.left_out:
        write_message(f"Vectors were not imported and will be computed again: {tally.left_out}")


def _report_tally(tally: Tally, *, dry_run: bool) -> None:
    added = f"{'Would add' if dry_run else 'Added'} {count_kinds(tally.added)}"
    rate = sum(tally.added.values()) / tally.seconds
    message = (
        f"{added} in {tally.seconds:,.1f} s ({rate:,.0f} a second). "
        f"Known already: {count_kinds(tally.known)}. Bad lines: {tally.bad:,}."
    )
    open_console().print(Text(message), soft_wrap=True)
