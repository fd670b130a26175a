"""The command `import`: exports of textrawl and of other systems."""

import getpass
import re
import secrets
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import Annotated, BinaryIO, TextIO, cast
from uuid import UUID

import typer
from rich.text import Text

from textrawl.archive.bundles import Bundle, BundleRefused
from textrawl.archive.detection import (
    FORMATS,
    count_lines,
    find_home,
    find_parts,
    list_encrypted,
    read_documents,
    read_items,
    read_plan,
    refuse_backup,
)
from textrawl.archive.document_import import DocumentImport, describe
from textrawl.archive.encryption import Opener, is_encrypted, is_encrypted_file
from textrawl.archive.exports import read_lines, write_whole
from textrawl.archive.folders import find_folder
from textrawl.archive.formats import ImportFormat
from textrawl.archive.imports import Import, Tally
from textrawl.archive.items import Fault, ImportedFact, ImportPlan, Item, SecretGate
from textrawl.archive.memory_import import MemoryImport, MemoryWriter
from textrawl.cli.administration import open_login
from textrawl.cli.commands.archive import STREAM, Identity, count_kinds, find_identities
from textrawl.cli.commands.ingest import (
    LONGEST_STATEMENT,
    choose_graph,
    create_first_graph,
    tell_missing_vectors,
)
from textrawl.cli.console import (
    can_ask,
    count,
    open_console,
    show_index_progress,
    show_progress,
    show_table,
    write_message,
)
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import LongYes, read_one_of, read_path, read_query
from textrawl.cli.memory_session import change_memory
from textrawl.cli.questions import ask as ask_memory
from textrawl.cluster.owner_session import open_writing
from textrawl.errors import ArgumentInvalid, StartRefused, TextrawlError, require_writable
from textrawl.host.repository import find_source_place
from textrawl.memory.backlog import fill_graph
from textrawl.memory.command_results import Found, ImportRow
from textrawl.memory.commands import Session as CommandSession
from textrawl.memory.commands import offer_model
from textrawl.postgres.owner_session import Session
from textrawl.postgres.vector_indexes import build_indexes
from textrawl.settings import Settings, read_settings
from textrawl.values.text import SHORT_ID, clean_name

_SHOWN = 20
_NAMED = 5  # files that are left out
_SHOWN_QUESTIONS, _SHOWN_CHARACTERS = 2, 100  # of what can be asked after an import, of an answer
_LONG = 10.0  # seconds; the time of a shorter import interests nobody


def _read_path(text: str) -> str:
    """Return a path, or - for stdin. Raises BadParameter if it is empty."""
    read_path(text)
    return text


_Path = Annotated[
    str | None,
    typer.Argument(
        metavar="[PATH|-]",
        parser=_read_path,
        help="A file, a folder or a zip; - is stdin with an export of textrawl. Default: the "
        "folder in which the program of --from keeps its files.",
    ),
]
_Kind = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        parser=read_one_of(FORMATS),
        help=f"The format: {', '.join(FORMATS)}. Default: what PATH looks like.",
    ),
]
_Space = Annotated[
    str,
    typer.Option(
        metavar="SPACE",
        parser=clean_name,
        help="The space for facts, unless the file names the spaces.",
    ),
]
_Graph = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="GRAPH",
        parser=clean_name,
        help="The graph for conversations and notes; default: the home space if it is a graph, or "
        "the only graph. The first import on this machine creates the graph documents.",
    ),
]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be imported, and import nothing.")
]
_List = Annotated[
    bool, typer.Option("--list", help="List the imports so far, with their ids for `undo`.")
]
_Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the faults of all bad lines to this file."),
]


def import_(  # noqa: PLR0913, PLR0917 - each argument is an option
    path: _Path = None,
    kind: _Kind = None,
    space: _Space = "default",
    graph: _Graph = None,
    dry_run: _DryRun = False,
    yes: LongYes = False,
    report: _Report = None,
    listing: _List = False,
    identity: Identity = None,
) -> None:
    """Add an export of textrawl or of another system.

    Conversations and notes become documents of a graph, which `recall` searches. Facts go to a
    space. The command shows what it found, and asks first if it has a terminal. A folder with
    several formats becomes an import for each. A second import adds what is new, and makes a
    version of what changed. Faults are reported and left out, and the exit code is 1. `textrawl
    undo --import` takes an import back. To import facts, TEXTRAWL_DATABASE_URL needs the rights of
    the database's owner, because a file names the author of each fact.
    """
    if listing:
        _list_runs()
        return
    if identity and path is not None and Path(path).is_dir():
        raise StartRefused(f"--identity is for an encrypted file: name a file in {path}")
    settings = read_settings()
    require_writable(settings.read_only and not dry_run)
    with _open_faults(report) as faults:
        jobs = _list_jobs(path, kind, graph, space, faults, identity)
        ask = not (yes or dry_run) and can_ask() and path != STREAM
        for job in jobs:
            job.look(None if dry_run else settings, asks=ask or len(jobs) > 1)
        if path is not None and Path(path).is_dir():
            _tell_left_out(Path(path), jobs)
        if ask:
            typer.confirm("Import this?", abort=True, err=True)
        whole = _store(jobs, settings, dry_run=dry_run)
    if faults.number or not whole:
        raise typer.Exit(1)


def _store(jobs: "Sequence[_Items | _Lines]", settings: Settings, *, dry_run: bool) -> bool:
    """Store all imports, and say how to take them back. Return False if lines are missing."""
    runs = _Runs()
    try:
        whole = [job.store(settings, runs, dry_run=dry_run) for job in jobs]
    finally:
        runs.tell()
    return all(whole)


def _list_jobs(
    path: str | None,
    kind: str | None,
    graph: str | None,
    space: str,
    faults: "_Faults",
    keys: list[str] | None,
) -> "Sequence[_Items | _Lines]":
    """Return an import for each format that the path holds."""
    if path is not None and (path == STREAM or is_encrypted_file(Path(path))):
        return [_open_stream(path, FORMATS[kind or "textrawl"], space, faults, keys)]
    whole = Bundle(_find_path(path, kind))
    parts = find_parts(whole, kind)
    for name in list_encrypted(whole):
        write_message(f"{name} is encrypted and left out: name the file itself, with --identity.")
    return [
        _Lines(form, bundle.path, faults, bundle)
        if form.read is None
        else _Items(form, bundle, graph, space, faults)
        for form, bundle in parts
    ]


def _tell_left_out(folder: Path, jobs: "Sequence[_Items | _Lines]") -> None:
    """Name files of a folder that no import reads, without hidden ones."""
    read = {file for job in jobs for file in job.list_read()}
    names = [
        name
        for name in Bundle(folder).sizes
        if folder / name not in read and not re.search(r"(?:^|/)\.", name)
    ]
    if names:
        kinds = Counter(PurePosixPath(name).suffix.lower() or "no ending" for name in names)
        said = "file of another kind" if len(names) == 1 else "files of other kinds"
        more = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
        end = f" ({more})" if len(names) > _NAMED else ""
        write_message(f"{len(names):,} {said} left out: {_name_first(names)}{end}")


def _name_first(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def _open_stream(
    path: str, form: ImportFormat, space: str, faults: "_Faults", keys: list[str] | None
) -> "_Items | _Lines":
    """Return the import of stdin, or of an encrypted file after reading it to its end."""
    if form.name not in {"textrawl", "server-memory"}:
        if path == STREAM:
            raise StartRefused(
                f"{form.title}'s files are read twice: name the file, or their folder"
            )
        raise BundleRefused(f"{path} is encrypted: decrypt it with age first")
    opener = None if path == STREAM else find_identities(keys).verify(Path(path))
    if form.read is None:
        return _Lines(form, Path(path), faults, opener=opener or _open_stdin)
    with (opener or _open_stdin)() as content:
        bundle = Bundle(Path(path), content=content.read())
    return _Items(form, bundle, None, space, faults)


def _list_runs() -> None:
    rows = [
        [
            str(row.run)[:SHORT_ID],
            f"{row.started_at:%Y-%m-%d %H:%M}",
            row.system,
            row.space_name,
            row.author_name,
            f"{row.items:,}",
            "undone" if row.undone else "" if row.finished_at else "interrupted",
        ]
        for row in ask_memory("list_imports", list[ImportRow])
    ]
    if not rows:
        write_message("No imports yet.")
        return
    columns = ["id", "begun", "from", "space", "author", "items", ""]
    show_table(columns, rows)
    write_message("textrawl undo --import ID takes an import back.")


def _find_path(path: str | None, kind: str | None) -> Path:
    if path is not None:
        return Path(path)
    if kind is None:
        raise typer.BadParameter("name the file, folder or zip, or a program with --from")
    return find_home(kind)


def show_plan(form: ImportFormat, bundle: Bundle, plan: ImportPlan) -> None:
    """Say what the files hold."""
    found = count_kinds(plan.counts) or "nothing"
    days = plan.period
    if days.first and days.last:
        found += f", {days.first:%Y-%m-%d} to {days.last:%Y-%m-%d}"
    if plan.spaces:
        found += f"; spaces: {', '.join(sorted(plan.spaces))}"
    write_message(f"{form.title} in {bundle.path}: {found}.")


@dataclass
class _Runs:
    """The imports of one command: of facts and documents, and of several systems.

    Their ids begin with `command`, unless an import continues an interrupted one.
    """

    command: str = field(default_factory=lambda: secrets.token_hex(SHORT_ID // 2))
    names: dict[str, None] = field(default_factory=dict[str, None])
    titles: list[str] = field(default_factory=list[str])
    offer: list[str] = field(default_factory=list[str])  # of another model

    def add(self, run: UUID, plan: ImportPlan) -> None:
        """Note an import that stored something."""
        self.names[str(run)[:SHORT_ID]] = None
        self.titles += [title for title in plan.titles if title not in self.titles]

    def tell(self) -> None:
        """Say how to take back what was stored, and show a person that it can be found."""
        if not self.names:
            return
        undos = " && ".join(f"textrawl undo --import {name}" for name in self.names)
        write_message(f"To take this back: {undos}", *self.offer)
        if can_ask():
            with suppress(TextrawlError, StartRefused):  # what was stored is stored
                for title in self.titles[:_SHOWN_QUESTIONS]:
                    _show_answer(title)


def _show_answer(question: str) -> None:
    found = ask_memory("search", Found, query=read_query(question), limit=1)
    write_message(f"Ask: textrawl recall {quote(question)}")
    for row in found.rows:
        lines = row.text.splitlines() or [""]
        write_message(f"  {row.entity_name}: {lines[0][:_SHOWN_CHARACTERS]}")


@dataclass
class _Lines:
    """An import of an export of textrawl, line by line: of a bundle, or of what `opener` opens."""

    form: ImportFormat
    path: Path
    faults: "_Faults"
    bundle: Bundle | None = None
    opener: Opener | None = None  # of stdin or of an encrypted file

    def look(self, _: Settings | None, *, asks: bool) -> None:
        """Show the plan of a file if `asks` is true."""
        if self.bundle is not None and asks:
            show_plan(self.form, self.bundle, count_lines(self.bundle))

    def list_read(self) -> list[Path]:
        """Return the files that are read."""
        return [self.path]

    def store(self, settings: Settings, _: _Runs, *, dry_run: bool) -> bool:
        """Import the lines. Return False if lines of the file are missing, or all of them."""
        with self.opener() if self.opener else self._open() as content:
            stdin = self.path == Path(STREAM)
            refuse_backup(
                cast("BufferedReader", content).peek(), "stdin" if stdin else str(self.path)
            )
            size = None if stdin else self.path.stat().st_size
            tally = run_foreground(lambda: self._import(settings, content, size, dry_run=dry_run))
        self.faults.show()
        if not tally.whole:
            write_message(
                "The file is incomplete: its last line is missing, or the counts in it do not match"
            )
        if tally.left_out:
            write_message(f"Vectors were not imported and will be computed again: {tally.left_out}")
        _report_tally(tally, dry_run=dry_run)
        return _tell_if_empty(tally, self.path, self.form) and tally.whole

    @contextmanager
    def _open(self) -> Generator[BinaryIO]:
        if self.bundle is None or len(self.bundle.sizes) != 1:
            raise BundleRefused(f"{self.path} is not a single file: name each file")
        with self.bundle.open(next(iter(self.bundle.sizes))) as file:
            yield file

    async def _import(
        self, settings: Settings, content: BinaryIO, size: int | None, *, dry_run: bool
    ) -> Tally:
        async with _open_memory(settings, dry_run=dry_run) as session:
            with show_progress("Importing", size, of_bytes=True) as progress:
                importing = Import(session, self.faults.add, size)
                return await importing.run(read_lines(content, progress))


@dataclass
class _Items:
    """An import of items of another system."""

    form: ImportFormat
    bundle: Bundle
    graph: str | None
    space: str
    faults: "_Faults"
    gate: SecretGate = field(default_factory=SecretGate)
    plan: ImportPlan = field(default_factory=ImportPlan)

    def look(self, settings: Settings | None, *, asks: bool) -> None:
        """Read the bundle, show the plan, and check the memory of `settings`, if any.

        Raises BundleRefused.
        """
        if not (self.form.listed or asks):
            return
        self.bundle.seen.clear()  # of finding the format
        with show_progress("Reading", None, of_bytes=True) as step:
            self.plan = plan = read_plan(self.form, self.bundle, step)
        if not self.form.listed:  # its faults are told when it is stored
            show_plan(self.form, self.bundle, plan)
            return
        told = self.faults.number
        for fault in plan.faults:
            self.faults.note(fault.place, fault.reason)
        self.faults.show(told)
        for text, places in plan.remarks.items():
            write_message(f"{text} ({len(places):,}): {_name_first(places)}")
        if not plan.counts:
            what = "that can be read" if plan.faults else f"of {self.form.title}"
            raise BundleRefused(f"{self.bundle.path} has nothing {what}")
        show_plan(self.form, self.bundle, plan)
        if settings and self._has_memories():
            run_foreground(lambda: self._check_space(settings))

    def _has_memories(self) -> bool:
        return bool(self.plan.counts.keys() & {"entity", "fact", "relation"})

    def list_read(self) -> list[Path]:
        """Return the files that are read."""
        names = [*(self.bundle.seen if self.form.listed else self.bundle.sizes)]
        return [path for name in names if (path := self.bundle.locate(name))]

    def store(self, settings: Settings, runs: _Runs, *, dry_run: bool) -> bool:
        """Store the items. Return False if there are none."""
        self.gate.mode = settings.secrets
        if not self.form.listed:
            tally = run_foreground(lambda: self._store_memories(settings, runs, dry_run=dry_run))
            write_message(*(() if dry_run else self.gate.describe()))
            return _tell_if_empty(tally, self.bundle.path, self.form)
        if dry_run:
            return True
        if self.plan.documents:
            self._store_documents(self.plan.documents, runs)
        if self._has_memories():
            run_foreground(lambda: self._store_memories(settings, runs))
        write_message(*self.gate.describe())
        return True

    async def _check_space(self, settings: Settings) -> None:
        """Raise ArgumentInvalid for an unknown space, and StartRefused for another's memory.

        Find the folder to which notes belong, and read those of another than the first again.
        """
        async with open_login(settings, empty=True) as login, open_writing(login) as session:
            await _find_space(session, self.space)
            if self.form.local:
                self.bundle.folder, remarks = await find_folder(session, self.form, self.bundle)
                write_message(*remarks)
                if self.bundle.folder.write_id(""):
                    self.plan = read_plan(self.form, self.bundle, lambda _: None)

    def _store_documents(self, times: dict[str, int], runs: _Runs) -> None:
        began, since = time.monotonic(), datetime.now(UTC)
        if self.graph is None:
            create_first_graph()

        async def work(session: CommandSession) -> tuple[DocumentImport, str | None]:
            chosen = await self._choose_graph(session)
            own = session.store, session.caller, chosen, self.form, self.gate
            importing = DocumentImport(*own, runs.command, self.bundle.folder)
            await importing.begin()
            total, self.bundle.done = self.bundle.done, 0
            with show_progress("Documents", total, of_bytes=True) as step:
                documents = read_documents(self.form, self.bundle, times)
                await importing.add(documents, lambda: step(self.bundle.done))
            # One session of a program says nothing about the others.
            if self.form.home is None or self.bundle.path.is_dir():
                importing.count_gone(times)
            await importing.finish()
            with show_progress("Vectors", importing.chunks) as step:
                credential = session.caller.principal.credential
                missing = await fill_graph(session.store, chosen, credential, step)
            runs.offer = await offer_model(session, since)
            return importing, missing

        importing, without_vector = change_memory(
            "textrawl import", None, work, homeless=True, least_timeout=LONGEST_STATEMENT
        )
        if importing.run is not None:
            runs.add(importing.run, self.plan)
        self._tell(importing, time.monotonic() - began)
        if without_vector:
            tell_missing_vectors(without_vector)

    async def _choose_graph(self, session: CommandSession) -> str:
        chosen = await choose_graph(session.store, session.caller, self.graph)
        if chosen.tier == "sensitive":
            raise ArgumentInvalid(
                "name another graph, or add files to it with `textrawl ingest`, which encrypts",
                title=f"{chosen.name} holds only encrypted documents",
            )
        return chosen.name

    def _find_place(self, fact: ImportedFact) -> Mapping[str, object]:
        path = self.bundle.locate(fact.note or "")
        return find_source_place(path, fact.text) if path else {}

    async def _store_memories(
        self, settings: Settings, runs: _Runs, *, dry_run: bool = False
    ) -> Tally:
        form, told, note = self.form, self.faults.number, self.faults.note
        async with _open_memory(settings, dry_run=dry_run) as session:
            number = await _find_space(session, self.space)
            author = form.title if form.listed else getpass.getuser()
            writer = MemoryWriter(
                session, self.space, number, author, form, self.gate, self.plan.lines
            )
            writer.folder = self.bundle.folder
            if form.name == "rules":
                writer.find_place = self._find_place
            kind = MemoryImport if form.listed else Import
            importing = kind(session, lambda line, why: note(writer.places[line], why))
            if isinstance(importing, MemoryImport):
                await importing.begin(writer, runs.command)
            with show_progress("Importing", sum(self.bundle.sizes.values()), of_bytes=True) as step:
                lines = writer.translate(self._read(step), importing.refuse)
                tally = await importing.run(lines)
            importing.count_cleaned(self.bundle.cleaned)
            if isinstance(importing, MemoryImport):
                await importing.finish()
                if any(tally.added.values()) or tally.proposed:
                    runs.add(importing.run_id, self.plan)
        self.faults.show(told)
        if any(tally.added.values()) or tally.bad or not form.listed:
            _report_tally(tally, dry_run=dry_run)
        outcomes = {
            "proposed to a reviewer": tally.proposed,
            "changed": writer.changed,
            "unchanged": writer.unchanged,
            "no longer in the export": writer.find_gone(),
        }
        said = ", ".join(f"{number:,} {name}" for name, number in outcomes.items() if number)
        if said:
            write_message(f"{form.title} in {self.space}: {said}.")
        return tally

    def _read(self, report: Callable[[int], object]) -> Iterator[Item]:
        """Yield the items. The faults of a listed format were told with the plan."""
        for item in read_items(self.form, self.bundle):
            if not (self.form.listed and isinstance(item, Fault)):
                yield item
            report(self.bundle.done)

    def _tell(self, importing: DocumentImport, seconds: float) -> None:
        outcomes = ", ".join(describe(importing.counts)) or "nothing"
        stored = importing.counts["added"] + importing.counts["changed"]
        message = f"{self.form.title} in {importing.graph}: {outcomes}."
        if importing.run is not None:
            message += f" {count(importing.chunks, 'chunk')}"
            if seconds >= _LONG:
                message += f" in {seconds:,.0f} s ({stored / seconds:,.0f} a second)"
            message += "."
        open_console().print(Text(message), soft_wrap=True)


@dataclass
class _Faults:
    """Faults of bad lines. The first 20 are shown on stderr, and all are written to a file."""

    file: TextIO | None
    number: int = 0
    shown: list[str] = field(default_factory=list[str])

    def add(self, line: int, reason: str) -> None:
        """Note the fault of a line."""
        self.note(f"line {line}", reason)

    def note(self, place: str, reason: str) -> None:
        """Note a fault."""
        self.number += 1
        message = f"{place}: {' '.join(reason.split())}"
        if len(self.shown) < _SHOWN:
            self.shown.append(message)
        if self.file:
            self.file.write(f"{message}\n")

    def show(self, told: int = 0) -> None:
        """Write the first faults, and the number of the others. The first `told` were written."""
        write_message(*self.shown[told:])
        if self.number > max(len(self.shown), told):
            more = self.number - len(self.shown)
            write_message(f"and {more:,} more: --report FILE writes all of them")


@asynccontextmanager
async def _open_memory(settings: Settings, *, dry_run: bool) -> AsyncGenerator[Session]:
    """Open the memory for an import, and build the indexes of vectors that it left out."""
    async with (
        open_login(settings, empty=True) as login,
        open_writing(login, dry_run=dry_run) as session,
    ):
        yield session
        if not dry_run:
            with show_index_progress() as report:
                await build_indexes(login, session, report)


@contextmanager
def _open_stdin() -> Generator[BinaryIO]:
    if sys.stdin is None:
        raise StartRefused("There is no stdin to read: name a file")
    stdin = cast("BufferedReader", sys.stdin.buffer)
    if is_encrypted(stdin.peek()):
        raise StartRefused("An encrypted file cannot come from stdin: name the file")
    yield stdin


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


async def _find_space(session: Session, name: str) -> int:
    found = (await session.find_spaces()).get(name)
    if found is None:
        raise ArgumentInvalid("see `textrawl space list`", title=f"No space {name}")
    return found


def _tell_if_empty(tally: Tally, path: Path, form: ImportFormat) -> bool:
    """Return whether an import found something, and say so if it did not."""
    found = tally.bad or tally.proposed or any((*tally.added.values(), *tally.known.values()))
    if not found:
        write_message(f"{path} has nothing of {form.title}.")
    return bool(found)


def _report_tally(tally: Tally, *, dry_run: bool) -> None:
    message = f"{'Would add' if dry_run else 'Added'} {count_kinds(tally.added) or 'nothing'}"
    if tally.seconds >= _LONG:
        rate = sum(tally.added.values()) / tally.seconds
        message += f" in {tally.seconds:,.0f} s ({rate:,.0f} a second)"
    message += "."
    if any(tally.known.values()):
        message += f" Known already: {count_kinds(tally.known)}."
    if tally.bad:
        message += f" Bad lines: {tally.bad:,}."
    if tally.cleaned:
        message += f" Stored without hidden characters: {count(tally.cleaned, 'text')}."
    if tally.without_vector and not dry_run:
        message += (
            f" Without a vector: {count(tally.without_vector, 'fact')}. The next server computes "
            "the vectors, and `textrawl embed status --watch` shows them."
        )
    open_console().print(Text(message), soft_wrap=True)
