"""The operations of the `graph` toolset, its rows, and the import of the reference file.

They read and write only the caller's home space. Observations are embedded before they are stored.
While the embedding provider is down, observations are stored first and embedded later.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Self

from anyio import to_thread
from pydantic import BeforeValidator, Field

from textrawl.errors import ArgumentInvalid, TextrawlError
from textrawl.memory.store import StoreCall
from textrawl.models.embeddings import Vector, compose_document
from textrawl.values.reference_file import (
    EntityRecord,
    RecordFault,
    RelationRecord,
    read_reference_file,
)
from textrawl.values.text import split_text
from textrawl.wire.columns import SIX_DIGITS
from textrawl.wire.replies import SnakePart

logger = logging.getLogger("textrawl")


@dataclass(frozen=True)
class NodeRow:
    """An entity that create_nodes stored. `added` is the number of its new observations."""

    name: str
    entity_type: str
    created: bool
    added: int
    observations: list[str]


@dataclass(frozen=True)
class EdgeRow:
    """The result of create_edges for one relation. `outcome` is `created`, `known` or `missing`.

    `missing` lists the entities of the relation that do not exist.
    """

    place: int
    outcome: str
    missing: list[str]


@dataclass(frozen=True)
class AddedRow:
    """An entity with its new observations (`added`) and all its observations.

    If the caller does not have the scope `read`, `entity_type` is None and `observations` is empty.
    """

    name: str
    entity_type: str | None
    added: list[str]
    observations: list[str]


@dataclass(frozen=True)
class DeletedNodeRow:
    """A name from the call. `deleted` is true if an entity with this name was deleted."""

    name: str
    deleted: bool


@dataclass(frozen=True)
class DeletedObservationsRow:
    """The number of deleted observations of an entity, and the observations that remain.

    If there is no such entity, `observations` is None. If the caller does not have the scope
    `read`, `entity_type` is None and `observations` is empty.
    """

    name: str
    entity_type: str | None
    deleted: int
    observations: list[str] | None


@dataclass(frozen=True)
class DeletedEdgeRow:
    """The result of deleting one relation.

    `missing` lists the entities of the relation that do not exist.
    """

    place: int
    deleted: bool
    missing: list[str]


@dataclass(frozen=True)
class PartRow:
    """A part of a graph: an entity, one of its observations or one of its relations.

    `number` and `name` belong to the entity. `part` is the position within the entity, from 0: the
    entity itself comes first, then its observations, then its relations.
    """

    number: int
    part: int
    kind: str
    name: str
    entity_type: str
    content: str | None
    from_entity: str | None
    relation: str | None
    to_entity: str | None
    relation_number: int | None

    @property
    def length(self) -> int:
        """The number of characters of the part, for the limit `Page.text`."""
        texts = (self.content, self.from_entity, self.relation, self.to_entity)
        return sum(len(text) for text in texts if text)


@dataclass(frozen=True)
class RankedRow:
    """An entity that search_semantic found, with its score and the factors of the score."""

    number: int
    name: str
    entity_type: str
    observations: list[str]
    limbic_score: float
    importance: float
    temporal: float
    cooc: float
    distance: float | None
    rrf: float | None

    @property
    def scoring(self) -> Self:
        """The row itself, whose factors are a part of the answer."""
        return self


@dataclass(frozen=True)
class EndedEdgeRow:
    """The result of end_edge. `outcome` is `ended`, `missing`, or `known` if it ended before."""

    outcome: str
    from_entity: str | None
    relation: str | None
    to_entity: str | None
    inverse: int | None


def _write_instant(instant: object) -> object:
    return f"{instant:%Y-%m-%d %H:%M:%S}" if isinstance(instant, datetime) else instant


_Instant = Annotated[str, BeforeValidator(_write_instant)]


class StoredReflectionRow(SnakePart):
    """A reflection that add_reflection stored."""

    number: int
    created_at: _Instant


class ReflectionPart(SnakePart):
    """A reflection.

    `voice` is the name of the speaker, or None if the speaker is the author.
    """

    id: Annotated[int, Field(validation_alias="number")]
    target_type: str
    target_id: Annotated[int | None, Field(validation_alias="target")]
    author: str
    voice: str | None = None
    content: str
    mood: str | None
    created_at: _Instant
    score: Annotated[float | None, SIX_DIGITS] = None


@dataclass(frozen=True)
class DeletedReflectionRow:
    """A number from the call. `deleted` is true if the reflection with this number was deleted."""

    number: int
    deleted: bool


@dataclass(frozen=True)
class Node:
    """An entity to create or add to."""

    name: str
    type: str | None
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


Relation = dict[str, str]
"""A relation as SQL functions take it: from, relation and to."""

Observations = tuple[str, Sequence[str]]
"""The name of an entity, and some of its observations."""


async def store_nodes(call: StoreCall, nodes: Sequence[Node]) -> list[NodeRow]:
    """Create entities. If an entity exists, add the observations to it."""
    model, vectors = await _embed(call, ((node.name, node.observations) for node in nodes))
    items = [
        {"name": node.name, "type": node.type, "observations": _divide(node.observations)}
        for node in nodes
    ]
    return await call.write(
        "create_nodes", NodeRow, entities=json.dumps(items), model=model, embeddings=vectors
    )


async def store_edges(call: StoreCall, relations: Sequence[Relation]) -> list[EdgeRow]:
    """Connect entities that exist. Return one row for each relation."""
    return await call.write("create_edges", EdgeRow, relations=json.dumps(relations))


async def add_observations(call: StoreCall, additions: Sequence[Observations]) -> list[AddedRow]:
    """Add observations, all or none. Raises EntityNotFound."""
    model, vectors = await _embed(call, additions)
    items = [{"entity": entity, "observations": _divide(texts)} for entity, texts in additions]
    return await call.write(
        "add_observations", AddedRow, additions=json.dumps(items), model=model, embeddings=vectors
    )


async def record_use(call: StoreCall, numbers: Sequence[int]) -> None:
    """Record that an answer contained these entities. An error is logged, not raised."""
    if not numbers:
        return
    try:
        await call.read("record_use", int, numbers=numbers)
    except TextrawlError as error:
        logger.info("The use of entities was not recorded: %s", error)


async def _embed(
    call: StoreCall, nodes: Iterable[Observations]
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
    return await call.store.embed_documents(texts)


def _divide(observations: Sequence[str]) -> list[object]:
    """Return observations as SQL functions take them: a long observation is a list of parts."""
    divided = [split_text(text) for text in observations]
    return [parts if len(parts) > 1 else parts[0] for parts in divided]


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
    if folder is None or "\0" in path:
        raise ArgumentInvalid(_FILE_MISSING)
    home = folder.expanduser().resolve()
    file = (home / Path(path).expanduser()).resolve()
    if not file.is_relative_to(home) or not file.is_file():
        raise ArgumentInvalid(_FILE_MISSING)
    if file.stat().st_size > _MOST_BYTES:
        raise ArgumentInvalid("source_path: too large; use `textrawl import --from server-memory`")
    return file


async def migrate_file(call: StoreCall, file: Path) -> Migrated:
    """Import the entities of `file`, and then its relations.

    An entity that only relations name becomes a concept. Nothing is stored twice, so a file can be
    imported again.
    """
    done, content = Migrated(), await to_thread.run_sync(file.read_bytes)
    for batch in _gather(content, done):
        nodes = [item for item in batch if isinstance(item, Node)]
        relations = [item for item in batch if isinstance(item, dict)]
        if nodes:
            await store_nodes(call, nodes)
            done.entities += len(nodes)
        if relations:
            rows = await store_edges(call, relations)
            absent = {name: None for row in rows for name in row.missing}
            if absent:
                await store_nodes(call, [Node(name, None, ()) for name in absent])
                again = [edge for edge, row in zip(relations, rows, strict=True) if row.missing]
                rows = [row for row in rows if not row.missing] + await store_edges(call, again)
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
        return {"from": record.source, "relation": record.label, "to": record.target}
    return Node(record.name, record.type, [said.text for said in record.observations])
