"""The memory as a graph of nodes, for the `graph` toolset: what is neither SQL nor wire.

Everything happens in one space, the home of who calls. Observations are embedded before they are
stored; while the provider is down they are stored without, and embedded later.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

from textrawl.access.principal import Caller
from textrawl.embeddings import Vector
from textrawl.embeddings.vectors import compose_document
from textrawl.postgres.sqlstates import DataRefused
from textrawl.store.store import Store
from textrawl.values.long_text import split_text


@dataclass(frozen=True)
class NodeRow:
    """An entity as create_nodes left it: whether it is new, how many observations are."""

    name: str
    entity_type: str
    created: bool
    added: int
    observations: list[str]


@dataclass(frozen=True)
class EdgeRow:
    """What became of a relation: created, known or missing, with the names that are."""

    place: int
    outcome: str
    missing: list[str]


@dataclass(frozen=True)
class AddedRow:
    """An entity with those of its observations that are new, and all of them.

    Without `entity_type` for a caller who may not read: then `observations` is empty.
    """

    name: str
    entity_type: str | None
    added: list[str]
    observations: list[str]


@dataclass(frozen=True)
class DeletedNodeRow:
    """Whether an entity was there to be deleted."""

    name: str
    deleted: bool


@dataclass(frozen=True)
class DeletedObservationsRow:
    """How many observations went, and what is left; `observations` None: no such entity.

    Without `entity_type` for a caller who may not read: then `observations` is empty.
    """

    name: str
    entity_type: str | None
    deleted: int
    observations: list[str] | None


@dataclass(frozen=True)
class DeletedEdgeRow:
    """Whether a relation was there to be deleted; `missing` names the ends that are not."""

    place: int
    deleted: bool
    missing: list[str]


@dataclass(frozen=True)
class PartRow:
    """A part of a graph: an entity, then its observations, then its relations.

    `number` and `name` are the entity's, `part` counts from 0 within it.
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
        """Characters of its own texts, as the text of a page is counted."""
        texts = (self.content, self.from_entity, self.relation, self.to_entity)
        return sum(len(text) for text in texts if text)


@dataclass(frozen=True)
class Node:
    """An entity to create or add to."""

    name: str
    type: str | None
    observations: Sequence[str]


@dataclass(frozen=True)
class Triple:
    """A relation by its ends and its type as it is spelt."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True)
class Said:
    """Observations of one entity."""

    entity: str
    observations: Sequence[str]


@dataclass(frozen=True)
class Page:
    """Which parts of a graph: `most` of them after `skip`, from the entity `number` on.

    Together they have at most `text` characters.
    """

    number: int | None
    skip: int
    most: int
    text: int

    def count(self, rows: Sequence[PartRow]) -> int:
        """How many of `rows` are on the page: one more shows that there are more."""
        beyond = sum(row.length for row in rows) > self.text
        return min(len(rows) - beyond, self.most)


class Graph:
    """The nodes of one memory."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def create(self, nodes: Sequence[Node], caller: Caller) -> list[NodeRow]:
        """Creates entities, or adds to those that are there."""
        model, vectors = await self._embed((node.name, node.observations) for node in nodes)
        given = [
            {"name": node.name, "type": node.type, "observations": _divide(node.observations)}
            for node in nodes
        ]
        return await self._call(
            "create_nodes", NodeRow, entities=json.dumps(given), model=model, embeddings=vectors,
            **caller.writing,
        )  # fmt: skip

    async def relate(self, triples: Sequence[Triple], caller: Caller) -> list[EdgeRow]:
        """Connects entities that are there; a row for each."""
        given = json.dumps([_plain(triple) for triple in triples])
        return await self._call("create_edges", EdgeRow, relations=given, **caller.writing)

    async def add(self, additions: Sequence[Said], caller: Caller) -> list[AddedRow]:
        """Adds observations, all or none. Raises EntityNotFound."""
        model, vectors = await self._embed((said.entity, said.observations) for said in additions)
        try:
            return await self._call(
                "add_observations", AddedRow, additions=_write(additions, _divide), model=model,
                embeddings=vectors, **caller.writing,
            )  # fmt: skip
        except DataRefused as refusal:
            raise refusal.explain() from refusal

    async def delete_nodes(self, names: Sequence[str], caller: Caller) -> list[DeletedNodeRow]:
        """Forgets entities with all that is said about them; a row for each name."""
        return await self._call("delete_nodes", DeletedNodeRow, names=names, **caller.writing)

    async def delete_observations(
        self, deletions: Sequence[Said], caller: Caller
    ) -> list[DeletedObservationsRow]:
        """Forgets observations by their exact text; a row for each entity."""
        return await self._call(
            "delete_observations", DeletedObservationsRow, deletions=_write(deletions, list),
            **caller.writing,
        )  # fmt: skip

    async def delete_edges(self, triples: Sequence[Triple], caller: Caller) -> list[DeletedEdgeRow]:
        """Forgets relations; a row for each."""
        given = json.dumps([_plain(triple) for triple in triples])
        return await self._call("delete_edges", DeletedEdgeRow, relations=given, **caller.writing)

    async def read(self, page: Page, caller: Caller) -> list[PartRow]:
        """A page of the whole graph. Raises ArgumentInvalid where its beginning is gone."""
        try:
            return await self._call(
                "read_graph", PartRow, beginning=page.number, skip=page.skip,
                max_rows=page.most + 1, max_text=page.text, **read_from(caller),
            )  # fmt: skip
        except DataRefused as refusal:
            raise refusal.explain() from refusal

    async def open(self, names: Sequence[str], page: Page, caller: Caller) -> list[PartRow]:
        """Entities by name, those that are not there left out."""
        return await self._page("open_nodes", page, caller, names=names)

    async def search(self, query: str, page: Page, caller: Caller) -> list[PartRow]:
        """Entities that hold a text, then those that say the same in other words."""
        model, vector, _ = await self._store.try_to_embed_query(query or " ")
        return await self._page(
            "search_nodes", page, caller, query=query, model=model, vector=vector
        )

    async def _page(
        self, function: LiteralString, page: Page, caller: Caller, **asked: Any
    ) -> list[PartRow]:
        return await self._call(
            function, PartRow, skip=page.skip, max_rows=page.most + 1, max_text=page.text, **asked,
            **read_from(caller),
        )  # fmt: skip

    async def _embed(
        self, nodes: Iterable[tuple[str, Sequence[str]]]
    ) -> tuple[int | None, list[Vector] | None]:
        """The active model and a vector for each part of an observation; none while it is down."""
        texts = [
            compose_document(name, part)
            for name, said in nodes for text in said for part in split_text(text)
        ]  # fmt: skip
        return await self._store.embed_documents(texts)


def _plain(triple: Triple) -> dict[str, str]:
    return {"from": triple.source, "relation": triple.relation, "to": triple.target}


def _divide(observations: Sequence[str]) -> list[object]:
    """Observations as they are stored: a long one as the list of its parts."""
    divided = [split_text(text) for text in observations]
    return [parts if len(parts) > 1 else parts[0] for parts in divided]


def _write(said: Sequence[Said], divide: Callable[[Sequence[str]], list[Any]]) -> str:
    return json.dumps(
        [{"entity": one.entity, "observations": divide(one.observations)} for one in said]
    )


def read_from(caller: Caller) -> dict[str, object]:
    """What SQL functions of the graph that read ask for: whose reach, and the one space."""
    principal = caller.principal
    return {"credential": principal.credential, "space": principal.home}
