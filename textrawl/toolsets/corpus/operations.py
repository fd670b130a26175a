"""The operations of the `corpus` toolset: they call SQL functions and embed new chunks.

`graphs` has the names of the only graphs that a call can reach, or is None. The database also
checks the rights of the caller in each graph.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from textrawl import errors
from textrawl.access.principal import Caller
from textrawl.documents.chunking import Chunk, chunk_text
from textrawl.postgres.sqlstates import DataRefused
from textrawl.scheduling.workers import run_aside
from textrawl.store.document_vectors import embed_document, find_document_model
from textrawl.store.graphs import GraphRow, list_graphs
from textrawl.store.store import Store
from textrawl.toolsets.corpus.rows import (
    ForgottenRow,
    FoundChunkRow,
    ReachableGraphRow,
    SizeRow,
    StoredSourceRow,
)

_PATH_LENGTH = 32  # hexadecimal digits of the hash in the path of a remembered text


@dataclass(frozen=True)
class Question:
    """A search: at most `limit` chunks with at least `min_score`, and at most `ceiling` tokens."""

    query: str
    limit: int
    min_score: float
    ceiling: int


@dataclass(frozen=True)
class Clip:
    """A text that a client remembers, with its label and kind."""

    text: str
    label: str
    kind: str

    @property
    def hash(self) -> str:
        """The SHA-256 of the text. A graph stores equal texts once."""
        return sha256(self.text.encode()).hexdigest()


class CorpusOperations:
    """The graphs of one memory."""

    def __init__(self, store: Store, graphs: Sequence[str] | None) -> None:
        self._store = store
        self._call = store.database.call
        self._graphs = None if graphs is None else list(graphs)

    async def recall(
        self, question: Question, names: Sequence[str] | None, caller: Caller
    ) -> tuple[list[FoundChunkRow], str | None]:
        """Return chunks, best first, and the reason if the search used no vectors.

        If `names` is not None, search only these graphs.
        """
        chosen = self._graphs if names is None else list(names)
        return await self._store.search(lambda: self._recall(question, chosen, caller))

    async def _recall(
        self, question: Question, names: list[str] | None, caller: Caller
    ) -> tuple[list[FoundChunkRow], str | None]:
        model, vector, missing = await self._store.try_to_embed_query(question.query)
        rows = await self._call(
            "recall_chunks",
            FoundChunkRow,
            query=question.query,
            graphs=names,
            max_rows=question.limit,
            min_score=question.min_score,
            ceiling=question.ceiling,
            model=model,
            vector=vector,
            credential=caller.principal.credential,
        )
        return rows, missing

    async def find_graphs(self, caller: Caller) -> list[ReachableGraphRow]:
        """Return the graphs that the caller can read or write."""
        return await self._call(
            "reachable_graphs",
            ReachableGraphRow,
            credential=caller.principal.credential,
            names=self._graphs,
        )

    async def remember(self, clip: Clip, graph: str, caller: Caller) -> StoredSourceRow:
        """Store a text in a graph, unless the graph has the text. Embed its chunks."""
        chunks = await run_aside(chunk_text, clip.text, "markdown")
        model = await find_document_model(self._store, _read_chunks(clip.text, chunks))
        try:
            [row] = await self._call(
                "store_source",
                StoredSourceRow,
                graph=graph,
                path=f"clip/{clip.hash[:_PATH_LENGTH]}",
                label=clip.label,
                content=clip.text,
                chunks=json.dumps(chunks),
                sha256=clip.hash,
                source_kind=clip.kind,
                **caller.signing,
            )
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        if row.changed:
            await embed_document(self._store, model, row.space_id, row.document_id)
        return row

    async def forget(self, document: UUID, part: int | None, caller: Caller) -> ForgottenRow:
        """Delete a source for good, or only one of its chunks."""
        try:
            [row] = await self._call(
                "forget_source",
                ForgottenRow,
                document=document,
                chunk_part=part,
                graphs=self._graphs,
                **caller.signing,
            )
        except DataRefused as refusal:
            raise refusal.explain() from refusal
        return row

    async def list_graphs(self, caller: Caller) -> list[GraphRow]:
        """Return the graphs that the caller can read, with their numbers of sources and chunks."""
        credential = caller.principal.credential
        return await list_graphs(self._store.database, credential, self._graphs)

    async def measure(self, dimensions: int, caller: Caller) -> SizeRow:
        """Return the estimated size of the graphs that the caller can read."""
        [row] = await self._call(
            "measure_graphs",
            SizeRow,
            credential=caller.principal.credential,
            names=self._graphs,
            dimensions=dimensions,
        )
        return row

    async def find_model(self) -> tuple[str | None, int]:
        """Return the name of the active model and its dimensions, or None and 0."""
        try:
            active = await self._store.models.find_active()
        except (errors.EmbeddingNotConfigured, errors.EmbeddingUnavailable):
            return None, 0
        return active.embedder.name, active.embedder.dimensions or 0


def _read_chunks(text: str, chunks: Sequence[Chunk]) -> list[str]:
    return [text[chunk.start : chunk.start + chunk.length] for chunk in chunks]
