"""`textrawl import`: an export into a memory."""

import getpass
import os
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, TextIO

import typer
from rich.text import Text

from textrawl.archive.files import write_whole
from textrawl.archive.imports import Import, Tally
from textrawl.archive.server_memory import ServerMemory
from textrawl.archive.streams import read_lines
from textrawl.cli.administration import tell
from textrawl.cli.commands.export import STREAM, count_kinds, open_current
from textrawl.cli.console import open_console
from textrawl.cli.foreground import run_foreground
from textrawl.cli.progress import show_index_progress, show_progress
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.postgres.owner_session import Session, open_writing
from textrawl.postgres.vector_indexes import build_indexes
from textrawl.settings import Settings, read_settings
from textrawl.values.text import clean_name

FileKind = Literal["textrawl", "server-memory"]

_SHOWN = 20


_File = Annotated[
    str,
    typer.Argument(metavar="FILE|-", help="A file that `textrawl export` wrote; - is stdin."),
]
_Kind = Annotated[
    FileKind,
    typer.Option(
        "--from", help="File format; server-memory is that of the reference memory server."
    ),
]
_Space = Annotated[
    str,
    typer.Option(
        metavar="SPACE", parser=clean_name, help="With server-memory: the space to import into."
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

    What the memory already has stays as it is: importing a file twice adds nothing. Bad lines are
    reported by number and skipped, and the exit code is 1. TEXTRAWL_DATABASE_URL needs the rights
    of the database's owner, since a file names the author of each fact.
    """
    settings = read_settings()
    with ExitStack() as stack:
        source = stack.enter_context(_open_source(file))
        faults = stack.enter_context(_open_faults(report))
        given = _Source(source, kind, space)
        tally = run_foreground(lambda: _import(settings, given, faults, dry_run=dry_run))
    _tell_faults(faults, tally)
    _tell_tally(tally, dry_run=dry_run)
    if faults.number or not tally.whole:
        raise typer.Exit(1)


@dataclass
class _Faults:
    """What is wrong, line by line: the first on stderr, all of it in a file."""

    file: TextIO | None
    number: int = 0
    shown: list[str] = field(default_factory=list[str])

    def add(self, line: int, reason: str) -> None:
        self.number += 1
        told = f"line {line}: {' '.join(reason.split())}"
        if len(self.shown) < _SHOWN:
            self.shown.append(told)
        if self.file:
            self.file.write(f"{told}\n")


@contextmanager
def _open_source(file: str) -> Generator[BinaryIO]:
    if file == STREAM:
        yield sys.stdin.buffer
        return
    try:
        source = Path(file).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise StartRefused(f"{file} cannot be read: {error.strerror}") from error
    with source:
        yield source


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
    """A file to import; `space` is where one belongs that names none."""

    file: BinaryIO
    kind: FileKind
    space: str


async def _import(settings: Settings, given: _Source, faults: _Faults, *, dry_run: bool) -> Tally:
    file = given.file
    size = None if file is sys.stdin.buffer else os.fstat(file.fileno()).st_size
    async with (
        open_current(settings, empty=True) as place,
        open_writing(place, dry_run=dry_run) as session,
    ):
        space = await _find_space(session, given)
        with show_progress("Importing bytes", size) as progress:
            importing, lines = Import(session, faults.add, size), read_lines(file, progress)
            if space is not None:
                translator = ServerMemory(
                    session, given.space, space, getpass.getuser(), importing.refuse
                )
                lines = translator.translate(lines)
            tally = await importing.run(lines)
        if not dry_run:
            with show_index_progress() as report:
                await build_indexes(place, session, report)
    return tally


async def _find_space(session: Session, given: _Source) -> int | None:
    """The number of the space that a file belongs to, None where its lines name theirs."""
    if given.kind == "textrawl":
        return None
    found = (await session.find_spaces()).get(given.space)
    if found is None:
        raise ArgumentInvalid("see `textrawl space list`", title=f"No space {given.space}")
    return found


def _tell_faults(faults: _Faults, tally: Tally) -> None:
    for told in faults.shown:
        tell(told)
    if faults.number > len(faults.shown):
        tell(f"and {faults.number - len(faults.shown):,} more: --report FILE writes all of them")
    if not tally.whole:
        tell("The file is not whole: its last line is missing or counts other lines than there are")
    if tally.left_out:
        tell(f"Vectors are left out and made anew: {tally.left_out}")


def _tell_tally(tally: Tally, *, dry_run: bool) -> None:
    added = f"{'Would add' if dry_run else 'Added'} {count_kinds(tally.added)}"
    rate = sum(tally.added.values()) / tally.seconds
    told = (
        f"{added} in {tally.seconds:,.1f} s ({rate:,.0f} a second). "
        f"Known already: {count_kinds(tally.known)}. Bad lines: {tally.bad:,}."
    )
    open_console().print(Text(told), soft_wrap=True)
