"""The operations of the `graph` toolset, also on reflections and the reference file.

They read and write only the caller's home space. Observations are embedded before they are stored.
While the embedding provider is down, observations are stored first and embedded later.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio import to_thread

from textrawl.access.principal import Caller
from textrawl.errors import ArgumentInvalid, TextrawlError
from textrawl.memory.graph_rows import (
    AddedRow,
    DeletedEdgeRow,
    DeletedObservationsRow,
    EdgeRow,
    NodeRow,
    PartRow,
    RankedRow,
    ReflectionPart,
    StoredReflectionRow,
)
from textrawl.memory.store import Store
from textrawl.models.embeddings import Vector, compose_document
from textrawl.values.reference_file import (
    EntityRecord,
    RecordFault,
    RelationRecord,
    read_reference_file,
)
from textrawl.values.text import split_text

logger = logging.getLogger("textrawl")


@dataclass(frozen=True)
class Node:
    """An entity to create or add to."""

    name: str
    type: str | None
    observations: Sequence[str]


@dataclass(frozen=True)
class Relation:
    """A relation: its two entities, and its type in the caller's spelling."""

    source: str
    name: str
    target: str


@dataclass(frozen=True)
class EntityObservations:
    """Observations of one entity."""

    entity: str
    observations: Sequence[str]


@dataclass(frozen=True)
class Page:
    """A page of a graph. It has at most `most` parts with at most `text` characters in total.

    The page begins at the entity with the number `number`. If `number` is None, the page begins at
    the first entity. The page leaves out the first `skip` parts from there.
    """

    number: int | None
    skip: int
    most: int
    text: int

    @property
    def limits(self) -> dict[str, object]:
        """The arguments of SQL functions that return a page and one row more."""
        return {"skip": self.skip, "max_rows": self.most + 1, "max_text": self.text}

    def count(self, rows: Sequence[PartRow]) -> int:
        """Return how many of `rows` are on the page.

        `rows` can have one row more. This row only shows that another page exists.
        """
        beyond = sum(row.length for row in rows) > self.text
        return min(len(rows) - beyond, self.most)


class GraphOperations:
    """The entities, observations and relations of one memory as a graph."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def create(self, nodes: Sequence[Node], caller: Caller) -> list[NodeRow]:
        """Create entities. If an entity exists, add the observations to it."""
        model, vectors = await self._embed((node.name, node.observations) for node in nodes)
        items = [
            {"name": node.name, "type": node.type, "observations": _divide(node.observations)}
            for node in nodes
        ]
        return await self._call(
            "create_nodes",
            NodeRow,
            entities=json.dumps(items),
            model=model,
            embeddings=vectors,
            **caller.writing,
        )

    async def relate(self, relations: Sequence[Relation], caller: Caller) -> list[EdgeRow]:
        """Connect entities that exist. Return one row for each relation."""
        return await self._call(
            "create_edges", EdgeRow, relations=_write_relations(relations), **caller.writing
        )

    async def add(self, additions: Sequence[EntityObservations], caller: Caller) -> list[AddedRow]:
        """Add observations, all or none. Raises EntityNotFound."""
        model, vectors = await self._embed((item.entity, item.observations) for item in additions)
        return await self._store.call(
            "add_observations",
            AddedRow,
            additions=_write(additions, _divide),
            model=model,
            embeddings=vectors,
            **caller.writing,
        )

    async def delete_observations(
        self, deletions: Sequence[EntityObservations], caller: Caller
    ) -> list[DeletedObservationsRow]:
        """Delete observations by their exact text. Return one row for each entity."""
        return await self._call(
            "delete_observations",
            DeletedObservationsRow,
            deletions=_write(deletions, list),
            **caller.writing,
        )

    async def delete_edges(
        self, relations: Sequence[Relation], caller: Caller
    ) -> list[DeletedEdgeRow]:
        """Delete relations. Return one row for each relation."""
        return await self._call(
            "delete_edges", DeletedEdgeRow, relations=_write_relations(relations), **caller.writing
        )

    async def search(self, query: str, page: Page, caller: Caller) -> list[PartRow]:
        """Return entities that contain a text, then entities with a similar meaning."""
        model, vector, _ = await self._store.try_to_embed_query(query)
        return await self._call(
            "search_nodes",
            PartRow,
            query=query,
            model=model,
            vector=vector,
            **page.limits,
            **caller.reading_home,
        )

    async def search_semantic(self, query: str, limit: int, caller: Caller) -> list[RankedRow]:
        """Return entities with a fact that matches the query by meaning or by words.

        Raises EmbeddingNotConfigured, EmbeddingUnavailable.
        """
        model, vector, _ = await self._store.embed_query(query or " ")
        return await self._call(
            "search_semantic",
            RankedRow,
            query=query,
            model=model,
            vector=vector,
            max_rows=limit,
            **caller.reading_home,
        )

    async def record_use(self, numbers: Sequence[int], caller: Caller) -> None:
        """Record that an answer contained these entities. An error is logged, not raised."""
        if not numbers:
            return
        try:
            await self._store.database.value(
                "record_use", int, numbers=numbers, **caller.reading_home
            )
        except TextrawlError as error:
            logger.info("The use of entities was not recorded: %s", error)

    async def _embed(
        self, nodes: Iterable[tuple[str, Sequence[str]]]
    ) -> tuple[int | None, list[Vector] | None]:
        """Return the active model and a vector for each part of an observation.

        While the embedding provider is down, the result contains None instead of the vectors.
        """
        texts = [
            compose_document(name, part)
            for name, observations in nodes
            for text in observations
            for part in split_text(text)
        ]
        return await self._store.embed_documents(texts)


def _write_relations(relations: Sequence[Relation]) -> str:
    return json.dumps(
        [
            {"from": relation.source, "relation": relation.name, "to": relation.target}
            for relation in relations
        ]
    )


def _divide(observations: Sequence[str]) -> list[object]:
    """Return observations as SQL functions take them: a long observation is a list of parts."""
    divided = [split_text(text) for text in observations]
    return [parts if len(parts) > 1 else parts[0] for parts in divided]


def _write(
    items: Sequence[EntityObservations], divide: Callable[[Sequence[str]], list[Any]]
) -> str:
    return json.dumps(
        [{"entity": item.entity, "observations": divide(item.observations)} for item in items]
    )


class ReflectionOperations:
    """The reflections of one memory."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def add(
        self, content: str, target_type: str, caller: Caller, **values: object
    ) -> StoredReflectionRow:
        """Store a reflection.

        Raises ArgumentInvalid if no entity or relation has the number `target`.
        """
        model, vector, _ = await self._store.try_to_embed_query(content)
        return await self._store.call_one(
            "add_reflection",
            StoredReflectionRow,
            target_type,
            content=content,
            target_type=target_type,
            model=model,
            embedding=vector,
            **values,
            **caller.writing,
        )

    async def search(
        self, query: str, caller: Caller, **conditions: object
    ) -> list[ReflectionPart]:
        """Return reflections that match the query by words or by meaning.

        While the embedding provider is down, only words are compared.
        """
        model, vector, _ = await self._store.try_to_embed_query(query)
        return await self._store.call(
            "search_reflections",
            ReflectionPart,
            query=query,
            model=model,
            vector=vector,
            **conditions,
            **caller.reading_home,
        )


_BATCH = 100
_MOST_BYTES = 64 << 20
_FILE_MISSING = (
    "source_path: give the name of a file in the server's import folder, which is the folder "
    "import in TEXTRAWL_DATA_DIR; or ask the administrator of the server to run "
    "`textrawl import --from server-memory FILE`"
)


@dataclass
class Migrated:
    """The counts of imported and skipped lines of a file. `errors` of the skipped are no JSON."""

    entities: int = 0
    relations: int = 0
    errors: int = 0
    skipped: int = 0
    cleaned: int = 0

    def count_cleaned(self, number: int) -> None:
        """Count texts that are stored without hidden characters."""
        self.cleaned += number


def find_file(folder: Path | None, path: str) -> Path:
    """Return the file at `path` in `folder`.

    Raises ArgumentInvalid if the file is outside of the folder, missing or too large.
    """
    if folder is None:
        raise ArgumentInvalid(_FILE_MISSING)
    home = folder.expanduser().resolve()
    file = (home / Path(path).expanduser()).resolve()
    if not file.is_relative_to(home) or not file.is_file():
        raise ArgumentInvalid(_FILE_MISSING)
    if file.stat().st_size > _MOST_BYTES:
        raise ArgumentInvalid("source_path: too large; use `textrawl import --from server-memory`")
    return file


async def migrate_file(file: Path, graph: GraphOperations, caller: Caller) -> Migrated:
    """Import the entities of `file`, and then its relations.

    An entity that only relations name becomes a concept. Nothing is stored twice, so a file can be
    imported again.
    """
    done, content = Migrated(), await to_thread.run_sync(file.read_bytes)
    for batch in _gather(content, done):
        nodes = [item for item in batch if isinstance(item, Node)]
        relations = [item for item in batch if isinstance(item, Relation)]
        if nodes:
            await graph.create(nodes, caller)
            done.entities += len(nodes)
        if relations:
            rows = await graph.relate(relations, caller)
            absent = {name: None for row in rows for name in row.missing}
            if absent:
                await graph.create([Node(name, None, ()) for name in absent], caller)
                again = [edge for edge, row in zip(relations, rows, strict=True) if row.missing]
                rows = [
                    *(row for row in rows if not row.missing),
                    *await graph.relate(again, caller),
                ]
            created = sum(row.outcome == "created" for row in rows)
            done.relations += created
            done.skipped += len(rows) - created
    return done


def _gather(content: bytes, done: Migrated) -> Iterator[list[Node | Relation]]:
    """Yield batches of entities, then of relations. Count what cannot be used in `done`."""
    batch = list[Node | Relation]()
    for record in read_reference_file(content, done.count_cleaned):
        if isinstance(record, RecordFault):
            done.errors += record.broken
            done.skipped += 1
            continue
        item = _turn(record)
        if batch and (len(batch) >= _BATCH or type(batch[0]) is not type(item)):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def _turn(record: EntityRecord | RelationRecord) -> Node | Relation:
    if isinstance(record, RelationRecord):
        return Relation(record.source, record.label, record.target)
    return Node(record.name, record.type, [said.text for said in record.observations])
