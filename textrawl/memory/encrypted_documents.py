"""Documents of sensitive graphs: encrypted before Postgres gets them, decrypted in this process.

Only commands of a person and the explorer use this module. Nothing that it decrypts is written to a
disk: the words are indexed by SQLite in memory.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from uuid import UUID

from anyio import to_thread
from pydantic_core import from_json, to_json

from textrawl.access.principal import Caller
from textrawl.errors import ArgumentInvalid, EncryptionKeyUnusable
from textrawl.memory.documents import FileText, FoundFile
from textrawl.memory.encryption import GraphKey
from textrawl.memory.fact_rows import HitRow
from textrawl.memory.ingestion import IngestedSourceRow, Ingestion, read_time
from textrawl.memory.key_files import KeyFiles, export_key, import_key
from textrawl.memory.store import Store
from textrawl.values.word_lists import SecretMode

_BATCH = 100  # documents that are fetched at once
_WORDS = re.compile(r"\w+")
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WHOLE_WORD = 4  # characters from which a word of a query also finds longer words
_MOST_WORDS = 50  # of a query


@dataclass(frozen=True)
class GraphKeyRow:
    """The row of `find_graph_key`. `clear` counts sources that a former version stored."""

    key: UUID | None
    documents: int
    clear: int


@dataclass(frozen=True)
class EncryptedRow:
    """A row of `encrypted_documents`. `content` is None if it was not asked for."""

    document_id: UUID
    version: int
    digest: bytes
    head: bytes
    content: bytes | None
    created_at: datetime
    stored_at: datetime


@dataclass(frozen=True)
class _StoredRow:
    created: bool
    changed: bool
    same_path: bool


@dataclass(frozen=True)
class DestroyedRow:
    """The row of `destroy_graph_key`. `key` is None if the graph had no key."""

    key: UUID | None
    documents: int


@dataclass(frozen=True)
class Head:
    """What is known of a document besides its text. Sizes are in characters."""

    path: str
    label: str
    kind: str
    sha256: str
    modified_at: str | None
    size: int
    chunks: int


@dataclass(frozen=True)
class Document:
    """A document that was decrypted. `text` and `spans` are empty if only the head was asked for.

    A span is the number, start, length and number of tokens of a chunk.
    """

    id: UUID
    head: Head
    version: int
    stored_at: datetime
    text: str = ""
    spans: Sequence[Sequence[int]] = ()


class EncryptedGraph:
    """A sensitive graph with its key. `name` is the name of the graph.

    Every method raises EncryptionKeyUnusable, DecryptionFailed, and ArgumentInvalid if the graph
    does not exist or is not sensitive.
    """

    def __init__(self, store: Store, caller: Caller, name: str, files: KeyFiles) -> None:
        self._store, self._caller, self.name, self._files = store, caller, name, files
        self._key: GraphKey | None = None

    async def find(self) -> GraphKeyRow:
        """Return the id of the key and the number of documents."""
        return await self._store.call_one("find_graph_key", GraphKeyRow, **self._reading)

    async def load_key(self) -> GraphKey | None:
        """Return the key of the graph, or None if it has none yet."""
        if self._key is None and (found := (await self.find()).key) is not None:
            self._key = await to_thread.run_sync(self._files.load, found)
        return self._key

    async def claim_key(self) -> GraphKey:
        """Return the key of the graph, and make one if it has none.

        The key is on disk before the database learns its id.
        """
        if (key := await self.load_key()) is not None:
            return key
        made = await to_thread.run_sync(self._files.create)
        chosen = await self._store.call_one(
            "claim_graph_key", UUID, graph=self.name, key=made.id, **self._caller.signing
        )
        if chosen == made.id:
            self._key = made
        else:  # another process was quicker
            await to_thread.run_sync(self._files.destroy, made.id)
            self._key = await to_thread.run_sync(self._files.load, chosen)
        return self._key

    async def describe_key(self) -> dict[str, object]:
        """Return the id and the place of the key, and the number of documents."""
        row = await self.find()
        if row.key is None:
            raise ArgumentInvalid(
                f"`textrawl ingest --graph {self.name}` makes one", title="The graph has no key yet"
            )
        file = self._files.find_file(row.key)
        place = str(file) if file.exists() else f"missing ({file})"
        return {
            "key": str(row.key),
            "file": place,
            "wrapped_by": self._files.owner,
            "documents": row.documents,
        }

    async def write_key(self, file: Path) -> None:
        """Write the key to a new file that only its owner can read."""
        key = await self._require_key()
        await to_thread.run_sync(export_key, key, file)

    async def add_key(self, file: Path) -> None:
        """Add the key in a file of `write_key` to the keys of this machine."""
        key = await to_thread.run_sync(import_key, file)
        if key.id != (await self.find()).key:
            raise EncryptionKeyUnusable(f"{file} has the key of another graph")
        await to_thread.run_sync(self._files.add, key)

    async def destroy_key(self) -> DestroyedRow:
        """Delete the key from this machine, and then all documents.

        The file goes first: if the process is killed meanwhile, a second call deletes the rest.
        """
        if (found := (await self.find()).key) is not None:
            await to_thread.run_sync(self._files.destroy, found)
        return await self._store.call_one(
            "destroy_graph_key", DestroyedRow, graph=self.name, **self._caller.signing
        )

    async def list_documents(self) -> list[Document]:
        """Return all documents without their texts."""
        rows = await self._fetch()
        if not rows:
            return []
        key = await self._require_key()
        return [_decrypt(key, row) for row in rows]

    async def find_document(self, name: str) -> Document:
        """Return the document with this path, label or id, with its text."""
        return (await self._read([await self._find_id(name)]))[0]

    async def forget(self, name: str) -> None:
        """Delete the document with this path, label or id. An id needs no key."""
        found = _read_id(name) or await self._find_id(name)
        await self._store.call_one(
            "forget_encrypted_document",
            object,
            graph=self.name,
            document=found,
            **self._caller.signing,
        )

    async def add(self, found: FoundFile, text: FileText) -> IngestedSourceRow:
        """Store the text of a file, in place of its former text."""
        key = await self.claim_key()
        modified = read_time(text.changed_at)
        head = Head(
            path=found.path,
            label=found.label,
            kind="file",
            sha256=text.sha256,
            modified_at=modified and modified.isoformat(),
            size=len(text.text),
            chunks=len(text.chunks),
        )
        return await self._store_document(key, head, text.text, text.chunks)

    async def _store_document(
        self, key: GraphKey, head: Head, text: str, spans: Sequence[Sequence[int]]
    ) -> IngestedSourceRow:
        document, digest = key.name_document(head.path), key.digest_file(head.sha256)
        content = to_json({"text": text, "chunks": spans})
        row = await self._store.call_one(
            "store_encrypted_document",
            _StoredRow,
            graph=self.name,
            document=document,
            key=key.id,
            digest=digest,
            head=key.encrypt("head", document, digest, to_json(asdict(head))),
            content=key.encrypt("content", document, digest, content),
            **self._caller.signing,
        )
        path = head.path if row.same_path or row.changed else ""
        return IngestedSourceRow(document, path, row.created, row.changed, head.chunks)

    async def search(self, query: str, limit: int) -> list[HitRow]:
        """Return the chunks that match the words of a query, the best first (BM25).

        The score of the best chunk is 1, and those of the others are shares of it. A word of four
        or more characters also finds longer words.
        """
        ids = [row.document_id for row in await self._fetch()]
        if not ids or not _WORDS.search(query):
            return []
        with closing(_WordIndex()) as index:
            for start in range(0, len(ids), _BATCH):
                documents = await self._read(ids[start : start + _BATCH])
                await to_thread.run_sync(index.add, documents)
            found = await to_thread.run_sync(partial(index.search, query, limit))
        return [_describe(self.name, document, span, score) for document, span, score in found]

    async def _read(self, ids: Sequence[UUID]) -> list[Document]:
        key = await self._require_key()
        rows = await self._fetch(ids)
        return await to_thread.run_sync(lambda: [_decrypt(key, row) for row in rows])

    async def _find_id(self, name: str) -> UUID:
        wanted = _read_id(name)
        for document in await self.list_documents():
            if wanted == document.id or name in (document.head.path, document.head.label):
                return document.id
        raise ArgumentInvalid(
            f"`textrawl document list {self.name}` shows them", title=f"No document {name}"
        )

    async def _require_key(self) -> GraphKey:
        key = await self.load_key()
        if key is None:
            raise ArgumentInvalid("run the command again", title="The key was destroyed meanwhile")
        return key

    async def _fetch(self, ids: Sequence[UUID] | None = None) -> list[EncryptedRow]:
        return await self._store.call(
            "encrypted_documents",
            EncryptedRow,
            documents=None if ids is None else list(ids),
            contents=ids is not None,
            **self._reading,
        )

    @property
    def _reading(self) -> dict[str, object]:
        return {"graph": self.name, "credential": self._caller.principal.credential}


class EncryptedIngestion(Ingestion):
    """An ingest of files into a sensitive graph."""

    def __init__(
        self,
        store: Store,
        caller: Caller,
        graph: str,
        secrets: SecretMode,
        files: KeyFiles,
    ) -> None:
        super().__init__(store, caller, graph, secrets)
        self._encrypted = EncryptedGraph(store, caller, graph, files)

    async def list_known(self) -> dict[str, str]:
        """Return the hashes of the documents before this ingest, by their paths."""
        documents = await self._encrypted.list_documents()
        return {document.head.path: document.head.sha256 for document in documents}

    async def store_file(self, found: FoundFile, text: FileText) -> IngestedSourceRow:
        """Store the text of a file."""
        return await self._encrypted.add(found, text)


def _read_id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None


def _decrypt(key: GraphKey, row: EncryptedRow) -> Document:
    head = Head(**from_json(key.decrypt("head", row.document_id, row.digest, row.head)))
    text, spans = "", list[list[int]]()
    if row.content is not None:
        content = from_json(key.decrypt("content", row.document_id, row.digest, row.content))
        text, spans = content["text"], content["chunks"]
    return Document(row.document_id, head, row.version, row.stored_at, text, spans)


class _WordIndex:
    """The words of chunks, in memory: FTS5 of SQLite with Porter's stems."""

    def __init__(self) -> None:
        # Methods run in threads, but one after the other.
        self._base = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._base.executescript(
            "pragma temp_store = memory; pragma journal_mode = off;"
            "create virtual table chunk using fts5("
            "label, text, tokenize = 'porter unicode61', content = '');"
        )
        self._places: list[tuple[Document, Sequence[int]]] = []

    def close(self) -> None:
        self._base.close()

    def add(self, documents: Iterable[Document]) -> None:
        """Add the chunks of documents."""
        self._base.execute("begin")
        self._base.executemany(
            "insert into chunk (rowid, label, text) values (?, ?, ?)", self._list(documents)
        )
        self._base.execute("commit")

    def _list(self, documents: Iterable[Document]) -> Iterator[tuple[int, str, str]]:
        for document in documents:
            for span in document.spans:
                self._places.append((document, span))
                yield len(self._places), document.head.label, _spread(_cut(document, span))

    def search(self, query: str, limit: int) -> list[tuple[Document, Sequence[int], float]]:
        """Return the places of chunks with their scores."""
        words = dict.fromkeys(_WORDS.findall(query.casefold()))
        terms = [
            f'"{_spread(word)}"{"*" * (len(word) >= _WHOLE_WORD)}'
            for word in [*words][:_MOST_WORDS]
        ]
        rows = self._base.execute(
            "select rowid, -bm25(chunk, 2.0, 1.0) as score from chunk where chunk match ?"
            " order by score desc, rowid limit ?",
            (" OR ".join(terms), limit),
        ).fetchall()
        return [(*self._places[rowid - 1], score / rows[0][1]) for rowid, score in rows]


def _spread(text: str) -> str:
    """Return a text with spaces around ideographs, each of which is a word of the index."""
    return text if text.isascii() else _IDEOGRAPH.sub(r" \g<0> ", text)


def _cut(document: Document, span: Sequence[int]) -> str:
    _, start, length, _ = span
    return document.text[start : start + length]


def _describe(graph: str, document: Document, span: Sequence[int], score: float) -> HitRow:
    modified = document.head.modified_at
    return HitRow(
        observation_id=document.id,
        entity_id=document.id,
        space=graph,
        entity_name=document.head.label,
        entity_type="document",
        content=_cut(document, span),
        source=document.head.kind,
        created_at=document.stored_at,
        said_at=datetime.fromisoformat(modified) if modified else document.stored_at,
        author="",
        score=score,
        document_id=document.id,
        part=span[0],
        line=document.text.count("\n", 0, span[1]) + 1,
    )
