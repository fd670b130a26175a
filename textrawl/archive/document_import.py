"""The import of conversations and notes of another system into a graph."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from uuid import UUID

from anyio import to_thread

from textrawl.access.principal import Caller
from textrawl.archive.conversations import ImportedText, write_texts
from textrawl.archive.formats import ImportFormat
from textrawl.archive.items import Document, SecretGate, digest
from textrawl.memory.store import Store
from textrawl.postgres.sqlstates import DataRefused

_LONGEST_ID = 200


@dataclass(frozen=True)
class KnownItemRow:
    """A row of `known_items`."""

    source_id: str
    digest: str


@dataclass(frozen=True)
class StoredItemRow:
    """The row of `store_item`. `changed` is false if the graph had the text already."""

    document_id: UUID
    created: bool
    changed: bool
    chunk_count: int


@dataclass
class DocumentImport:
    """An import of documents into one graph, by one caller.

    `run` is None until the first document is stored, so an import that stores nothing is no run.
    """

    store: Store
    caller: Caller
    graph: str
    form: ImportFormat
    gate: SecretGate
    counts: Counter[str] = field(default_factory=Counter[str])
    chunks: int = 0
    run: UUID | None = None
    _known: dict[str, str] = field(default_factory=dict[str, str])

    async def begin(self) -> None:
        """Read what earlier imports stored."""
        rows = await self.store.database.call("known_items", KnownItemRow, **self._reading)
        self._known = {row.source_id: row.digest for row in rows}

    async def add(self, documents: Iterable[Document], step: Callable[[], object]) -> None:
        """Store the documents that are new or changed. `step` is called after each."""
        for document in documents:
            await self._add(document)
            step()

    def count_gone(self, seen: Iterable[str]) -> None:
        """Count the stored documents that are not among `seen`, the ids in the files."""
        present = {_shorten(one) for one in seen}
        known = {source.rsplit("#", 1)[0] for source in self._known}
        self.counts["gone"] = len(known - present)

    async def finish(self) -> None:
        """End the import."""
        if self.run is None:
            return
        await self.store.database.value(
            "finish_import",
            int,
            run=self.run,
            documents=self.counts["added"] + self.counts["changed"],
            **{key: value for key, value in self._writing.items() if key != "system"},
        )

    @property
    def _reading(self) -> dict[str, object]:
        credential = self.caller.principal.credential
        return {
            "graph": self.graph,
            "system": self.form.name,
            "sensitive": True,
            "credential": credential,
        }

    @property
    def _writing(self) -> dict[str, object]:
        return {**self._reading, "client": self.caller.client, "tool": self.caller.tool}

    async def _add(self, document: Document) -> None:
        source, whole = _shorten(document.id), digest(document)
        if self._known.get(f"{source}#1") == self._sign(source, 1, whole):
            self.counts["unchanged"] += 1
            return
        guarded = await to_thread.run_sync(self.gate.admit, document)
        if guarded is None:
            self.counts["refused"] += 1
            return
        texts = await to_thread.run_sync(list, write_texts(guarded, self.form.title))
        if not texts:
            self.counts["empty"] += 1
            return
        if self.run is None:  # or continue an interrupted one
            self.run = await self.store.database.value("start_import", UUID, **self._writing)
        # The first part comes last. If the import is killed before, the document is not known yet.
        rows = [await self._store(source, text, whole) for text in reversed(texts)]
        changed = any(row.changed for row in rows)
        self.counts["added" if rows[-1].created else "changed" if changed else "unchanged"] += 1
        self.chunks += sum(row.chunk_count for row in rows if row.changed)

    async def _store(self, source: str, text: ImportedText, whole: str) -> StoredItemRow:
        key = f"{source}#{text.number}"
        try:
            [row] = await self.store.database.call(
                "store_item",
                StoredItemRow,
                run=self.run,
                source_id=key,
                path=f"import/{self.form.name}/{key}",
                label=text.label,
                content=text.text,
                chunks=json.dumps(text.chunks),
                sha256=self._sign(source, text.number, whole),
                source_kind=text.kind,
                modified_at=text.at,
                **self._writing,
            )
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        return row

    def _sign(self, source: str, number: int, whole: str) -> str:
        """Return the digest of a part of a document. Parts with equal texts have different ones."""
        return sha256(f"{self.form.name}\n{source}\n{number}\n{whole}".encode()).hexdigest()


def _shorten(source: str) -> str:
    """Return an id that fits into a path. A long one ends with its hash."""
    clean = " ".join(source.split())
    if clean == source and len(source) <= _LONGEST_ID and source.isprintable():
        return source
    return (
        f"{clean[: _LONGEST_ID - 40]}…{sha256(source.encode('utf-8', 'replace')).hexdigest()[:32]}"
    )


def describe(counts: Counter[str]) -> Sequence[str]:
    """Return the outcomes of documents in words."""
    words = {
        "gone": "no longer in the export",
        "empty": "without text",
        "refused": "refused for a secret",
    }
    return [
        f"{counts[name]:,} {words.get(name, name)}"
        for name in ("added", "changed", "unchanged", "empty", "refused", "gone")
        if counts[name]
    ]
