"""`textrawl ingest`: files added to a graph."""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from uuid import UUID

import anyio
import typer
from anyio import to_process, to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from textrawl.access.principal import Caller
from textrawl.archive.items import SecretGate
from textrawl.cli.console import count, show_progress, write_json, write_message
from textrawl.cli.graphs import FIRST_GRAPH, choose_graph, create_first_graph
from textrawl.cli.inputs import AsJson
from textrawl.cli.memory_session import change_memory
from textrawl.installation import write_install_command
from textrawl.memory.backlog import fill_graph
from textrawl.memory.commands import Session
from textrawl.memory.documents import (
    EXTRA,
    FileRefused,
    FileText,
    FoundFile,
    FoundFiles,
    find_files,
    hash_file,
    read_file_within,
)
from textrawl.memory.store import Store
from textrawl.postgres.sqlstates import DataRefused
from textrawl.settings import read_settings
from textrawl.values.text import clean_name

_READ_AHEAD = 4  # files that are read while an earlier file is being stored
_MOST_SECONDS = 300  # of the processor, to read one file
_CRASHED = "its reader needed too much memory, or more than five minutes of the processor"

Step = Callable[[int], object]


@dataclass(frozen=True)
class KnownSourceRow:
    """A row of `known_sources`: a source with the hash of its file."""

    path: str
    content_hash: str


@dataclass(frozen=True)
class IngestedSourceRow:
    """The row of `store_source`. `changed` is false if the graph had the text already."""

    document_id: UUID
    stored_path: str
    created: bool
    changed: bool
    chunk_count: int


def measure(found: FoundFile) -> int:
    """Return the size of a file in bytes, or 0 if it cannot be read."""
    with suppress(OSError):
        return found.file.stat().st_size
    return 0


@dataclass
class IngestReport:
    """The outcome of an ingest. `counts` has the outcomes of files."""

    counts: Counter[str] = field(default_factory=Counter[str])
    chunks: int = 0  # of the files that were added or changed
    refused: list[tuple[FoundFile, str]] = field(default_factory=list[tuple[FoundFile, str]])
    without_vector: str | None = None  # the reason why chunks have no vector yet


class Ingestion:
    """An ingest of files into one graph."""

    def __init__(self, store: Store, caller: Caller, graph: str, gate: SecretGate) -> None:
        self._store = store
        self._caller = caller
        self._graph = graph
        self._gate = gate
        self.report = IngestReport()

    async def run(self, files: Sequence[FoundFile], step: Step) -> None:
        """Store the files that are new or changed. `step` gets the bytes of the finished files."""
        known = await self._find_known()
        hashes = set(known.values())
        send, receive = anyio.create_memory_object_stream[tuple[FoundFile, FileText | None]](
            _READ_AHEAD
        )
        async with anyio.create_task_group() as group:
            group.start_soon(self._read, files, known, hashes, send)
            await self._store_all(receive, step)

    async def _find_known(self) -> dict[str, str]:
        rows = await self._store.database.call(
            "known_sources",
            KnownSourceRow,
            graph=self._graph,
            sensitive=True,
            credential=self._caller.principal.credential,
        )
        return {row.path: row.content_hash for row in rows}

    async def _read(
        self,
        files: Sequence[FoundFile],
        known: dict[str, str],
        hashes: set[str],
        send: MemoryObjectSendStream[tuple[FoundFile, FileText | None]],
    ) -> None:
        """Send each file with its text. The text is None if it is stored already or was refused."""
        async with send:
            for found in files:
                try:
                    digest = await to_thread.run_sync(hash_file, found.file)
                    if known.get(found.path, digest) == digest and digest in hashes:
                        self.report.counts["unchanged"] += 1
                        await send.send((found, None))
                        continue
                    # Reading uses the processor, and so does Postgres meanwhile.
                    text = await to_process.run_sync(
                        read_file_within,
                        found.file,
                        _MOST_SECONDS,
                        self._gate.mode,
                        cancellable=True,
                    )
                    await send.send((found, text))
                except FileRefused as refusal:
                    self.report.refused.append((found, str(refusal)))
                    await send.send((found, None))
                except anyio.BrokenWorkerProcess:
                    self.report.refused.append((found, _CRASHED))
                    await send.send((found, None))

    async def _store_all(
        self, receive: MemoryObjectReceiveStream[tuple[FoundFile, FileText | None]], step: Step
    ) -> None:
        done = 0
        async with receive:
            async for found, text in receive:
                if text is not None:
                    await self._store_file(found, text)
                    if text.secrets:
                        self._gate.places.append(f"{found.name}: {text.secrets}")
                done += measure(found)
                step(done)

    async def _store_file(self, found: FoundFile, text: FileText) -> None:
        try:
            [row] = await self._store.database.call(
                "store_source",
                IngestedSourceRow,
                graph=self._graph,
                path=found.path,
                label=found.label,
                content=text.text,
                chunks=json.dumps(text.chunks),
                sha256=text.sha256,
                modified_at=_read_time(text.changed_at),
                sensitive=True,
                **{name: self._caller.writing[name] for name in ("credential", "client", "tool")},
            )
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        if not row.changed:
            same = row.stored_path == found.path
            self.report.counts["unchanged" if same else "repeated"] += 1
            return
        self.report.counts["added" if row.created else "changed"] += 1
        self.report.chunks += row.chunk_count


def _read_time(seconds: float) -> datetime | None:
    """Return the time when a file was changed. None: the time is no date."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OSError, ValueError, OverflowError):
        return None


_LONGEST_STATEMENT = 600.0  # seconds; a text of 5,000,000 characters takes half a minute

_Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH...",
        help="Files, and folders with their subfolders: text, Markdown, code, HTML and PDF.",
    ),
]
_Graph = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="GRAPH",
        parser=clean_name,
        help="Write to this graph; default: the home space if it is a graph, or the only graph. "
        "The first ingest on this machine creates the graph documents.",
    ),
]


def ingest(paths: _Paths, graph: _Graph = None, as_json: AsJson = False) -> None:
    """Add files to a graph, as sources that `recall` searches.

    Files that did not change are left out, so an interrupted ingest continues if you run it again.
    A file that changed becomes a new version of its source. HTML and PDF need textrawl[documents].
    Exit code 1: some files were refused.
    """
    findings = _find(paths)
    began, gate = time.monotonic(), SecretGate(read_settings().secrets or "mask")
    if graph is None and create_first_graph():
        write_message(f"Created the graph {FIRST_GRAPH}, which only you can read.")

    async def work(session: Session) -> tuple[str, IngestReport]:
        chosen = await choose_graph(session.store, session.caller, graph)
        ingestion = Ingestion(session.store, session.caller, chosen, gate)
        total = sum(map(measure, findings.files))
        with show_progress("Files", total, of_bytes=True) as step:
            await ingestion.run(findings.files, step)
        with show_progress("Vectors", ingestion.report.chunks) as step:
            credential = session.caller.principal.credential
            without = await fill_graph(session.store, chosen, credential, step)
            ingestion.report.without_vector = without
        return chosen, ingestion.report

    chosen, report = change_memory(
        "textrawl ingest", None, work, homeless=True, least_timeout=_LONGEST_STATEMENT
    )
    _tell_refusals(report, findings.left_out)
    for line in gate.describe():
        write_message(line)
    if as_json:
        write_json(_write_plain(chosen, report, findings.left_out))
    else:
        _tell(chosen, report, time.monotonic() - began)
    if report.refused:
        raise typer.Exit(1)


def _find(paths: list[Path]) -> FoundFiles:
    try:
        return find_files(paths)
    except FileNotFoundError as error:
        raise typer.BadParameter(f"{error} does not exist", param_hint="PATH") from None
    except ValueError as error:
        message = f"{error}: name the folder that contains both"
        raise typer.BadParameter(message, param_hint="PATH") from None


def _tell_refusals(report: IngestReport, left_out: int) -> None:
    for reason, names in _group_refusals(report).items():
        if len(names) == 1:
            write_message(f"{names[0]} was not stored: {reason}")
        else:
            files = f"{count(len(names), 'file')}, such as {names[0]}, were not stored"
            write_message(f"{files}: {reason}")
    if any(EXTRA in reason for _, reason in report.refused):
        write_message(f"To install {EXTRA}, run: {write_install_command('documents')}")
    if left_out:
        write_message(
            f"{count(left_out, 'file')} of other kinds left out: to store one, name it as PATH"
        )
    if report.without_vector:
        write_message(
            f"New chunks have no vectors yet ({report.without_vector}). Until a server adds them, "
            "recall finds the chunks by their words"
        )


def _group_refusals(report: IngestReport) -> dict[str, list[str]]:
    """Return the names of refused files by the reason."""
    grouped = dict[str, list[str]]()
    for found, reason in report.refused:
        grouped.setdefault(reason, []).append(found.name)
    return grouped


def _tell(graph: str, report: IngestReport, seconds: float) -> None:
    outcomes = ", ".join(f"{number:,} {name}" for name, number in report.counts.items()) or "none"
    rate = f"{report.chunks / seconds:,.0f} a second"
    chunks = (
        f" {count(report.chunks, 'chunk')} in {seconds:,.1f} s ({rate})." if report.chunks else ""
    )
    write_message(f"Files in {graph}: {outcomes}.{chunks}")


def _write_plain(graph: str, report: IngestReport, left_out: int) -> dict[str, object]:
    return {
        "graph": graph,
        **{name: report.counts[name] for name in ("added", "changed", "unchanged", "repeated")},
        "chunks": report.chunks,
        "left_out": left_out,
        "refused": [{"file": found.name, "reason": reason} for found, reason in report.refused],
        "without_vector": report.without_vector,
    }
