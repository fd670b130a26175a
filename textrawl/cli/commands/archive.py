"""The commands `backup`, `restore`, `export` and `import`."""

import getpass
import os
import sys
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, TextIO

import typer
from rich.text import Text

from textrawl.archive.backups import Backup, count_facts, restore_backup, write_backup
from textrawl.archive.cortexgraph import MEMORIES, RELATIONS, CortexGraph, LastLines
from textrawl.archive.exports import Export, read_lines, read_whole, write_whole
from textrawl.archive.imports import Import, Tally
from textrawl.archive.note_folder import Counts as FolderCounts
from textrawl.archive.note_folder import Folder, FolderFormat, export_folder
from textrawl.archive.server_memory import ServerMemory, write_server_memory
from textrawl.cli.administration import open_login
from textrawl.cli.console import (
    count,
    open_console,
    show_index_progress,
    show_progress,
    show_stages,
    write_json,
    write_message,
)
from textrawl.cli.foreground import run_foreground
from textrawl.cluster.owner_session import open_snapshot, open_writing
from textrawl.errors import ArgumentInvalid, StartRefused
from textrawl.postgres.copies import Report
from textrawl.postgres.owner_session import Session
from textrawl.postgres.vector_indexes import build_indexes
from textrawl.settings import Settings, read_settings
from textrawl.values.text import clean_name

STREAM = "-"
Counts = dict[str, int]
Kind = Literal["textrawl", "server-memory", FolderFormat]


_ExportFile = Annotated[
    str,
    typer.Argument(
        metavar="[FILE|DIR|-]",
        help="The file to write; default: -, which is stdout. With `obsidian`, `markdown`, "
        "`basic-memory` and `csv`: the folder.",
    ),
]
_ExportSpace = Annotated[
    list[str] | None,
    typer.Option(metavar="SPACE", parser=clean_name, help="Only this space; can be repeated."),
]
_ExportKind = Annotated[
    Kind,
    typer.Option(
        "--to",
        help="File format; `server-memory`: for MCP's reference memory server, with one space; "
        "`obsidian`, `markdown`, `basic-memory`: a note for each entity; `csv`: tables.",
    ),
]
_WithVectors = Annotated[
    bool,
    typer.Option(
        "--with-vectors", help="Include vectors; without them, import computes them again."
    ),
]


_Force = Annotated[
    bool, typer.Option("--force", help="Replace FILE, or notes that somebody has edited.")
]


def export(
    file: _ExportFile = STREAM,
    space: _ExportSpace = None,
    kind: _ExportKind = "textrawl",
    with_vectors: _WithVectors = False,
    force: _Force = False,
) -> None:
    """Write entities, facts, relations, reflections and documents as JSON Lines.

    The file also has the authors, and the facts that are not valid any more. Only a file of
    `textrawl backup` also has tokens, grants and the trail. In a folder, only files that changed
    are written, and notes of forgotten entities are removed.
    """
    settings = read_settings()
    if kind not in ("textrawl", "server-memory"):
        if file == STREAM:
            raise StartRefused(f"--to {kind} writes several files: name a folder")
        folder = Folder(Path(file).absolute(), force=force)
        counts = run_foreground(lambda: export_to_folder(settings, folder, kind, space or []))
        report_folder(counts)
        return

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


async def export_to_folder(
    settings: Settings, folder: Folder, form: FolderFormat, spaces: Sequence[str]
) -> FolderCounts:
    """Write the entities of `spaces` to a folder. Raises StartRefused, ArgumentInvalid."""
    async with open_login(settings) as login, open_snapshot(login) as session:
        entities = (await session.count_rows())["entity"]
        with show_progress("Exporting entities", entities) as report:
            return await export_folder(session, folder, form, spaces, report)


def report_folder(counts: FolderCounts) -> None:
    """Say how many files were written, and which ones were kept because somebody edited them."""
    write_message(
        f"Wrote {count(counts.written, 'file')}, removed {counts.removed:,}, "
        f"unchanged {counts.unchanged:,}."
    )
    for path in counts.kept[:_SHOWN]:
        write_message(f"Kept {path}, because somebody has edited it: --force replaces it")
    if len(counts.kept) > _SHOWN:
        write_message(f"and {len(counts.kept) - _SHOWN:,} more")


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
        # Opening a FIFO waits for its writer, and a device may never end.
        if Path(file).exists() and not Path(file).is_file():
            raise StartRefused(
                f"{file} is not a regular file: name a file, or send the lines to stdin and name -"
            )
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


Line = tuple[int, bytes | None]
"""A line of an export with its number."""


async def _import(settings: Settings, source: _Source, faults: _Faults, *, dry_run: bool) -> Tally:
    file = source.file
    size = None if file is sys.stdin.buffer else os.fstat(file.fileno()).st_size
    async with (
        open_login(settings, empty=True) as login,
        open_writing(login, dry_run=dry_run) as session,
    ):
        space = await _find_space(session, source)
        with show_progress("Importing", size, of_bytes=True) as progress:
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
) -> AsyncIterable[Line]:
    """Return the content of the files as lines of an export."""
    author = getpass.getuser()
    if space is None:
        return read_lines(source.file, progress)
    if source.kind == "server-memory":
        content = await read_whole(source.file)
        reader = ServerMemory(session, source.space, space, author, importing.refuse)
        lines = [line async for line in reader.translate(content)]
        return _follow_lines(lines, len(content), progress)
    reader = CortexGraph(source.space, author, importing.refuse)
    return reader.translate(
        await _choose_last(source.file, progress), await _choose_last(source.relations, progress)
    )


async def _follow_lines(
    lines: Sequence[Line], size: int, progress: Callable[[int], object]
) -> AsyncIterator[Line]:
    """Yield lines that were read ahead. `progress` gets the bytes of those that are stored."""
    for number, line in enumerate(lines, 1):
        yield line
        progress(size * number // len(lines))


async def _choose_last(file: BinaryIO, progress: Callable[[int], object]) -> AsyncIterator[Line]:
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
    if tally.without_vector and not dry_run:
        message += (
            f" Without a vector: {count(tally.without_vector, 'fact')}. The next server computes "
            "the vectors, and `textrawl embed status --watch` shows them."
        )
    open_console().print(Text(message), soft_wrap=True)


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Write the whole memory to a file.

    The file is a dump of pg_dump with content, vectors, spaces, tokens, grants and the trail. The
    command reads the dump back and counts its rows before it gives the file its name.
    TEXTRAWL_DATABASE_URL needs the rights of the database's owner. Passwords of database logins are
    not in the file.
    """
    settings = read_settings()
    with show_stages("Writing the backup") as report:
        written = run_foreground(lambda: _back_up(settings, file.absolute(), report, force=force))
    if as_json:
        write_json(asdict(written))
    else:
        open_console().print(Text(f"Wrote {describe_backup(written)}."), soft_wrap=True)


async def _back_up(settings: Settings, file: Path, report: Report, *, force: bool) -> Backup:
    async with open_login(settings, any_version=True) as login:
        return await write_backup(login, file, report, force=force)


def describe_backup(backup: Backup) -> str:
    """Return the file, its size and its contents in one line."""
    rows = sum(backup.tables.values())
    size = f"{backup.bytes / 1e6:,.1f} MB"
    contents = (count(backup.facts, "fact"), count(len(backup.tables), "table"), count(rows, "row"))
    return f"{backup.file}: {size}, {', '.join(contents)}"


_UNCHECKED = (
    "This backup has no checksum, because an older version wrote it. Its rows were counted, but a "
    "changed byte may stay unnoticed"
)


def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that `textrawl backup` wrote.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Restore a backup into an empty database.

    A file that was changed after `textrawl backup` wrote it is refused. A backup of an older
    version is migrated. If anything goes wrong, nothing is changed. Restore only files that you
    trust, because a backup contains functions that the database runs.
    """
    settings = read_settings()
    with show_stages("Restoring the backup") as report:
        restored = run_foreground(lambda: _restore(settings, file.absolute(), report))
    if restored.sha256 is None:
        write_message(_UNCHECKED)
    if as_json:
        write_json(asdict(restored))
    else:
        open_console().print(Text(f"Restored {describe_backup(restored)}."), soft_wrap=True)


async def _restore(settings: Settings, file: Path, report: Report) -> Backup:
    async with open_login(settings, empty=True, any_version=True) as login:
        return await restore_backup(login, file, report)
