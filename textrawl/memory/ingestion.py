"""Files that become sources of a graph, for `textrawl ingest` and the explorer."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import anyio
from anyio import to_process, to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from textrawl.access.principal import Caller
from textrawl.memory.documents import (
    FileRefused,
    FileText,
    FoundFile,
    hash_file,
    read_file_within,
)
from textrawl.memory.store import Store, list_graphs
from textrawl.postgres.database import Database
from textrawl.scheduling import run_beside
from textrawl.values.word_lists import SecretMode

_READ_AHEAD = 4  # files that are read while an earlier file is being stored
_MOST_SECONDS = 300  # of the processor, to read one file
_READER = anyio.CapacityLimiter(1)  # so that many uploads leave the processor to other calls
_CRASHED = "its reader needed too much memory, or too much time of the processor"

Step = Callable[[int], object]

FIRST_GRAPH, _TIER = "documents", "personal"


@dataclass(frozen=True)
class _MadeRow:
    name: str


async def create_graph(owner: Database) -> bool:
    """Create the graph `documents` if the memory has no graph. Return True if it did."""
    if await list_graphs(owner, None, sensitive=True):
        return False
    await owner.call("create_space", _MadeRow, name=FIRST_GRAPH, tier=_TIER)
    return True


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
    """The outcome of an ingest. `counts` has the outcomes of files, `secrets` where secrets are."""

    counts: Counter[str] = field(default_factory=Counter[str])
    stored: list[tuple[FoundFile, IngestedSourceRow]] = field(
        default_factory=list[tuple[FoundFile, IngestedSourceRow]]
    )
    refused: list[tuple[FoundFile, str]] = field(default_factory=list[tuple[FoundFile, str]])
    secrets: list[tuple[FoundFile, str]] = field(default_factory=list[tuple[FoundFile, str]])
    without_vector: str | None = None  # the reason why chunks have no vector yet

    @property
    def chunks(self) -> int:
        """The number of chunks of the files that were added or changed."""
        return sum(row.chunk_count for _, row in self.stored)


class Ingestion:
    """An ingest of files into one graph. `seconds` of the processor are for each file."""

    def __init__(
        self,
        store: Store,
        caller: Caller,
        graph: str,
        secrets: SecretMode,
        seconds: int = _MOST_SECONDS,
    ) -> None:
        self._store = store
        self._caller = caller
        self._graph = graph
        self._secrets: SecretMode = secrets
        self._seconds = seconds
        self._known: dict[str, str] | None = None
        self.report = IngestReport()

    async def run(self, files: Sequence[FoundFile], step: Step) -> None:
        """Store the files that are new or changed. `step` gets the bytes of the finished files."""
        send, receive = anyio.create_memory_object_stream[tuple[FoundFile, FileText | None]](
            _READ_AHEAD
        )
        async with run_beside(partial(self._read, files, send)):
            await self._store_all(receive, step)

    async def list_known(self) -> dict[str, str]:
        """Return the hashes of the sources before this ingest, by their paths."""
        rows = await self._store.database.call(
            "known_sources",
            KnownSourceRow,
            graph=self._graph,
            credential=self._caller.principal.credential,
        )
        return {row.path: row.content_hash for row in rows}

    async def store_file(self, found: FoundFile, text: FileText) -> IngestedSourceRow:
        """Store the text of a file."""
        return await self._store.call_one(
            "store_source",
            IngestedSourceRow,
            graph=self._graph,
            path=found.path,
            label=found.label,
            content=text.text,
            chunks=json.dumps(text.chunks),
            sha256=text.sha256,
            modified_at=read_time(text.changed_at),
            **self._caller.signing,
        )

    async def _read(
        self,
        files: Sequence[FoundFile],
        send: MemoryObjectSendStream[tuple[FoundFile, FileText | None]],
    ) -> None:
        """Send each file with its text. The text is None if it is stored already or was refused."""
        if self._known is None:
            self._known = await self.list_known()
        known = self._known
        hashes = set(known.values())
        async with send:
            for found in files:
                text = None
                try:
                    digest = await to_thread.run_sync(hash_file, found.file)
                    if known.get(found.path, digest) == digest and digest in hashes:
                        self.report.counts["unchanged"] += 1
                    else:
                        text = await self._read_file(found)
                except FileRefused as refusal:
                    self.report.refused.append((found, str(refusal)))
                except anyio.BrokenWorkerProcess:
                    self.report.refused.append((found, _CRASHED))
                await send.send((found, text))

    async def _read_file(self, found: FoundFile) -> FileText:
        """Read a file in a process of its own, because Postgres uses the processor meanwhile."""
        given = found.file, self._seconds, self._secrets
        return await to_process.run_sync(
            read_file_within, *given, cancellable=True, limiter=_READER
        )

    async def _store_all(
        self, receive: MemoryObjectReceiveStream[tuple[FoundFile, FileText | None]], step: Step
    ) -> None:
        done = 0
        async with receive:
            async for found, text in receive:
                if text is not None:
                    row = await self.store_file(found, text)
                    if row.changed:
                        self.report.counts["added" if row.created else "changed"] += 1
                        self.report.stored.append((found, row))
                    else:
                        same = row.stored_path == found.path
                        self.report.counts["unchanged" if same else "repeated"] += 1
                    if text.secrets:
                        self.report.secrets.append((found, text.secrets))
                done += measure(found)
                step(done)


def read_time(seconds: float) -> datetime | None:
    """Return the time when a file was changed. None: the time is no date."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OSError, ValueError, OverflowError):
        return None
