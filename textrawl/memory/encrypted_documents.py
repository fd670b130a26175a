"""Documents of sensitive graphs: encrypted before Postgres gets them, decrypted in this process.

Only commands of a person and the explorer use this module. Nothing that it decrypts is written to a
disk: the words are indexed by SQLite in memory.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import LiteralString, Protocol, TypeVar
from uuid import UUID

from anyio import to_thread
from pydantic_core import from_json, to_json

from textrawl.access.principal import Caller
from textrawl.errors import ArgumentInvalid, EncryptionKeyUnusable, ScopeMissing
from textrawl.memory.chunking import Chunk
from textrawl.memory.documents import FileText, FoundFile
from textrawl.memory.fact_rows import HitRow
from textrawl.memory.ingestion import IngestedSourceRow, Ingestion, read_time
from textrawl.memory.key_files import GraphKey, KeyFiles, export_key, import_key
from textrawl.memory.store import Store
from textrawl.memory.word_index import WordIndex
from textrawl.values.choice import join_choices
from textrawl.values.word_lists import SecretMode

Row = TypeVar("Row")

_BATCH = 8_000_000  # bytes that are fetched and decrypted at once


@dataclass(frozen=True)
class GraphKeyRow:
    """The row of `find_graph_key`. `clear` counts sources that a former version stored."""

    key: UUID | None
    documents: int
    clear: int
    may_destroy: bool


@dataclass(frozen=True)
class EncryptedRow:
    """A row of `encrypted_documents`. `content` is None if it was not asked for."""

    document_id: UUID
    version: int
    digest: bytes
    head: bytes
    content: bytes | None
    bytes: int
    stored_at: datetime


@dataclass(frozen=True)
class _StoredDocumentRow:
    created: bool
    changed: bool
    same_path: bool


@dataclass(frozen=True)
class _ClearRow:
    """The row of `next_clear_source`. Only the last one has no `source`."""

    source: UUID | None
    path: str
    label: str
    kind: str
    content: str | None
    chunks: Sequence[Sequence[int]]
    sha256: str
    modified_at: datetime | None
    version: int | None


@dataclass(frozen=True)
class DestroyedRow:
    """The row of `destroy_graph_key`. `key` is None if the graph had no key."""

    key: UUID | None
    documents: int


@dataclass(frozen=True)
class Destruction(DestroyedRow):
    """A key that was destroyed. `here` is False if its file was not on this machine."""

    here: bool


@dataclass(frozen=True)
class Head:
    """The path, name, kind, hash, time and sizes of a document. `size` is in characters."""

    path: str
    label: str
    kind: str
    sha256: str
    modified_at: str | None
    size: int
    chunks: int


@dataclass(frozen=True)
class DecryptedDocument:
    """A document that was decrypted. `text` and `chunks` are empty if only its head was."""

    id: UUID
    head: Head
    version: int
    stored_at: datetime
    text: str = ""
    chunks: Sequence[Chunk] = ()


class Calls(Protocol):
    """An open memory that calls SQL functions, for a person or for its owner."""

    async def call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        """Return the rows of a SQL function. Raises TextrawlError."""
        ...


class EncryptedGraph:
    """A sensitive graph with its key. `name` is the name of the graph.

    `signing` has the credential, client, tool and request of its calls.

    Every method raises EncryptionKeyUnusable, DecryptionFailed, and ArgumentInvalid if the graph
    does not exist or is not sensitive.
    """

    def __init__(
        self, calls: Calls, signing: Mapping[str, object], name: str, files: KeyFiles
    ) -> None:
        self._calls, self._signing, self.name, self._files = calls, signing, name, files
        self._key: GraphKey | None = None

    async def find(self) -> GraphKeyRow:
        """Return the id of the key and the number of documents."""
        return await self._call_one("find_graph_key", GraphKeyRow, **self._reading)

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
        chosen = await self._call_one(
            "claim_graph_key", UUID, graph=self.name, key=made.id, **self._signing
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
            "wrapped_by": self._files.place,
            "documents": row.documents,
        }

    async def write_key(self, file: Path) -> None:
        """Write the key to a new file that only its owner can read."""
        key = await self._require_key()
        await to_thread.run_sync(export_key, key, file)

    async def add_key(self, file: Path) -> None:
        """Add the key in a file of `write_key` to the keys of this machine."""
        key = await to_thread.run_sync(import_key, file)
        if (found := (await self.find()).key) is None:
            raise EncryptionKeyUnusable(
                f"{self.name} has no documents and no key yet: first restore or import it here"
            )
        if key.id != found:
            raise EncryptionKeyUnusable(f"{file} has the key of another graph")
        await to_thread.run_sync(self._files.add, key)

    async def destroy_key(self) -> Destruction:
        """Delete the key from this machine, and then all documents.

        The file goes first: if the process is killed meanwhile, a second call deletes the rest.
        Raises ScopeMissing before anything is deleted.
        """
        found = await self.find()
        if not found.may_destroy:
            raise ScopeMissing("admin", f"this also needs the scope forget in {self.name}")
        here = found.key is not None and await to_thread.run_sync(self._files.destroy, found.key)
        row = await self._call_one(
            "destroy_graph_key", DestroyedRow, graph=self.name, **self._signing
        )
        return Destruction(row.key, row.documents, here)

    async def list_documents(self) -> list[DecryptedDocument]:
        """Return all documents without their texts."""
        rows = await self._fetch()
        if not rows:
            return []
        key = await self._require_key()
        return [_decrypt(key, row) for row in rows]

    async def find_document(self, name: str) -> DecryptedDocument:
        """Return the document with this path, label or id, with its text."""
        for document in await self._read([await self._find_id(name)]):
            return document
        raise self._miss(name)

    async def forget(self, name: str) -> None:
        """Delete the document with this path, label or id. An id needs no key."""
        found = _read_id(name) or await self._find_id(name)
        await self._call_one(
            "forget_encrypted_document",
            object,
            graph=self.name,
            document=found,
            **self._signing,
        )

    async def add(self, found: FoundFile, text: FileText) -> IngestedSourceRow:
        """Store the text of a file, in place of its former text."""
        key = await self.claim_key()
        given = _encrypt(
            key,
            text.text,
            text.chunks,
            path=found.path,
            label=found.label,
            kind="file",
            sha256=text.sha256,
            modified=read_time(text.changed_at),
        )
        row = await self._call_one(
            "store_encrypted_document",
            _StoredDocumentRow,
            graph=self.name,
            **given,
            **self._signing,
        )
        # Nobody asks which other path has the content.
        path = found.path if row.same_path or row.changed else ""
        document = key.name_document(found.path)
        return IngestedSourceRow(document, path, row.created, row.changed, len(text.chunks))

    async def encrypt_sources(self, step: Callable[[int], object]) -> int:
        """Encrypt the sources that are stored in the clear, and return their number.

        Each is one transaction, so a second call goes on after an interruption. `step` gets the
        number of finished sources.
        """
        number = 0
        while True:
            row = await self._call_one("next_clear_source", _ClearRow, **self._reading)
            if row.source is None:
                return number
            given = dict[str, object]()
            if row.content is not None:
                given = _encrypt(
                    await self.claim_key(),
                    row.content,
                    row.chunks,
                    path=row.path,
                    label=row.label,
                    kind=row.kind,
                    sha256=row.sha256,
                    modified=row.modified_at,
                )
            number += await self._call_one(
                "encrypt_source",
                bool,
                graph=self.name,
                source=row.source,
                version=row.version,
                **given,
                **self._signing,
            )
            step(number)

    async def search(self, query: str, limit: int) -> list[HitRow]:
        """Return the chunks that match the words of a query, the best first.

        The score of the best chunk is 1, and those of the others are shares of it.
        """
        places = list[tuple[DecryptedDocument, Chunk]]()
        with closing(WordIndex()) as index:
            for ids in _divide(await self._fetch()):
                found = await self._read(ids)
                chunks = [(document, chunk) for document in found for chunk in document.chunks]
                texts = [(document.head.label, _cut(document, chunk)) for document, chunk in chunks]
                await to_thread.run_sync(index.add, texts)
                places += chunks
            hits = await to_thread.run_sync(index.search, query, limit)
        return [_describe(self.name, *places[place], score) for place, score in hits]

    async def _read(self, ids: Sequence[UUID]) -> list[DecryptedDocument]:
        key = await self._require_key()
        rows = await self._fetch(ids)
        return await to_thread.run_sync(lambda: [_decrypt(key, row) for row in rows])

    async def _find_id(self, name: str) -> UUID:
        wanted, documents = _read_id(name), await self.list_documents()
        for document in documents:
            if wanted == document.id or name == document.head.path:
                return document.id
        # Clips of a graph that became sensitive later can have equal labels.
        same = [document for document in documents if name == document.head.label]
        if not same:
            raise self._miss(name)
        if len(same) > 1:
            fix = f"name {join_choices([document.head.path for document in same])}"
            raise ArgumentInvalid(fix, title=f"{len(same)} documents are called {name}")
        return same[0].id

    def _miss(self, name: str) -> ArgumentInvalid:
        fix = f"`textrawl document list {self.name}` shows them"
        return ArgumentInvalid(fix, title=f"No document {name}")

    async def _require_key(self) -> GraphKey:
        key = await self.load_key()
        if key is None:
            raise ArgumentInvalid("run the command again", title="The key was destroyed meanwhile")
        return key

    async def _fetch(self, ids: Sequence[UUID] | None = None) -> list[EncryptedRow]:
        return await self._calls.call(
            "encrypted_documents",
            EncryptedRow,
            documents=None if ids is None else list(ids),
            contents=ids is not None,
            **self._reading,
        )

    async def _call_one(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> Row:
        [one] = await self._calls.call(function, row, **arguments)
        return one

    @property
    def _reading(self) -> dict[str, object]:
        return {"graph": self.name, "credential": self._signing["credential"]}


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
        self._encrypted = EncryptedGraph(store, caller.signing, graph, files)

    async def list_known(self) -> dict[str, str]:
        """Return the hashes of the documents before this ingest, by their paths."""
        documents = await self._encrypted.list_documents()
        return {document.head.path: document.head.sha256 for document in documents}

    async def store_file(self, found: FoundFile, text: FileText) -> IngestedSourceRow:
        """Store the text of a file."""
        return await self._encrypted.add(found, text)


def _divide(rows: Sequence[EncryptedRow]) -> list[list[UUID]]:
    """Return the ids of documents in batches of at most _BATCH bytes, or of one document."""
    batches, size = list[list[UUID]](), _BATCH
    for row in rows:
        if size + row.bytes > _BATCH:
            batches.append([])
            size = 0
        batches[-1].append(row.document_id)
        size += row.bytes
    return batches


def _read_id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None


def _encrypt(  # noqa: PLR0913 - the head has each of them
    key: GraphKey,
    text: str,
    chunks: Sequence[Sequence[int]],
    *,
    path: str,
    label: str,
    kind: str,
    sha256: str,
    modified: datetime | None,
) -> dict[str, object]:
    """Return the arguments of SQL functions that store a document."""
    modified_at = modified and modified.isoformat()
    head = Head(path, label, kind, sha256, modified_at, len(text), len(chunks))
    document, digest = key.name_document(path), key.digest_file(sha256)
    content = to_json({"text": text, "chunks": chunks})
    return {
        "document": document,
        "key": key.id,
        "digest": digest,
        "head": key.encrypt("head", document, digest, to_json(asdict(head))),
        "content": key.encrypt("content", document, digest, content),
    }


def _decrypt(key: GraphKey, row: EncryptedRow) -> DecryptedDocument:
    head = Head(**from_json(key.decrypt("head", row.document_id, row.digest, row.head)))
    text, chunks = "", list[Chunk]()
    if row.content is not None:
        content = from_json(key.decrypt("content", row.document_id, row.digest, row.content))
        text, chunks = content["text"], [Chunk(*each) for each in content["chunks"]]
    return DecryptedDocument(row.document_id, head, row.version, row.stored_at, text, chunks)


def _cut(document: DecryptedDocument, chunk: Chunk) -> str:
    return document.text[chunk.start : chunk.start + chunk.length]


def _describe(graph: str, document: DecryptedDocument, chunk: Chunk, score: float) -> HitRow:
    modified = document.head.modified_at
    return HitRow(
        observation_id=document.id,
        entity_id=document.id,
        space=graph,
        entity_name=document.head.label,
        entity_type="document",
        content=_cut(document, chunk),
        source=document.head.kind,
        created_at=document.stored_at,
        said_at=datetime.fromisoformat(modified) if modified else document.stored_at,
        author="",
        score=score,
        document_id=document.id,
        part=chunk.part,
        line=document.text.count("\n", 0, chunk.start) + 1,
    )
