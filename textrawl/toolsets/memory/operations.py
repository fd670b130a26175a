"""The operations of the `memory` toolset: SQL functions, called with embedded texts."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from textrawl import errors
from textrawl.access.principal import Caller
from textrawl.embeddings.vectors import compose_document
from textrawl.postgres.sqlstates import FACT_REASONS, MODEL_DROPPED, DataRefused
from textrawl.store.store import Store
from textrawl.toolsets.memory.rows import (
    BatchRow,
    EntityRow,
    FactRow,
    ForgottenRow,
    HitRow,
    ListRow,
    NameRow,
    RelationRow,
)


@dataclass(frozen=True)
class Fact:
    """A fact to store, checked and cleaned.

    None is what the caller did not give: a default for a new fact, no change to a known one.
    """

    entity: str
    type: str
    observation: str
    source: str | None = None
    confidence: float | None = None
    valid_until: datetime | None = None
    replaces: str | None = None


@dataclass(frozen=True)
class Edge:
    """A relation to store; a type is used where its end is missing."""

    from_entity: str
    relation: str
    to_entity: str
    from_type: str | None = None
    to_type: str | None = None


@dataclass(frozen=True)
class Question:
    """A search: `as_of` asks what was valid then; `semantic` asks vectors alone."""

    query: str
    entity_types: list[str] | None = None
    as_of: datetime | None = None
    limit: int = 10
    semantic: bool = False


class MemoryOperations:
    """Facts, relations and entities of one memory."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def search(self, question: Question, caller: Caller) -> tuple[list[HitRow], str | None]:
        """Facts that answer, best first, and why vectors were missing (None: they were not).

        Raises EmbeddingNotConfigured, EmbeddingUnavailable for a semantic question.
        """
        try:
            return await self._search(question, caller)
        except DataRefused as refusal:
            if refusal.code != MODEL_DROPPED:
                raise
        # The cached active model was switched and dropped meanwhile: reload it and retry once.
        self._store.models.forget()
        return await self._search(question, caller)

    async def _search(self, question: Question, caller: Caller) -> tuple[list[HitRow], str | None]:
        embed = self._store.embed_query if question.semantic else self._store.try_to_embed_query
        model, vector, missing = await embed(question.query)
        time: dict[str, Any] = {"as_of": question.as_of} if question.as_of else {}
        hits = await self._call(
            "search_memory", HitRow, query=question.query, entity_types=question.entity_types,
            max_rows=question.limit, model=model, vector=vector, semantic=question.semantic,
            **time, **caller.reading,
        )  # fmt: skip
        return hits, missing

    async def describe(
        self,
        entity: str,
        caller: Caller,
        *,
        as_of: datetime | None,
        max_observations: int,
        with_relations: bool,
        skip: int = 0,
    ) -> EntityRow | None:
        """Return an entity with its newest facts after the first `skip`; None for no entity."""
        time: dict[str, Any] = {"as_of": as_of} if as_of else {}
        rows = await self._call(
            "describe_entity", EntityRow, entity=entity, max_observations=max_observations,
            with_relations=with_relations, skip=skip, **time, **caller.reading,
        )  # fmt: skip
        return rows[0] if rows else None

    async def list_entities(
        self,
        types: list[str] | None,
        caller: Caller,
        *,
        limit: int,
        offset: int,
        as_of: datetime | None,
    ) -> ListRow:
        """A page of entities, last updated first."""
        [row] = await self._call(
            "list_entities", ListRow, entity_types=types, max_rows=limit, skip=offset, as_of=as_of,
            **caller.reading,
        )  # fmt: skip
        return row

    async def find_similar_names(self, name: str, caller: Caller) -> list[str]:
        """Names that begin like `name` or share a word with it, in no order."""
        rows = await self._call("similar_names", NameRow, name=name, **caller.reading)
        return [row.entity_name for row in rows]

    async def remember(self, fact: Fact, caller: Caller) -> FactRow:
        """Store a fact; a valid one of the same text takes over what else is given.

        Raises FactNotFound when `replaces` names none, or one that ended already.
        """
        model, vectors = await self._store.embed_documents([_compose(fact)])
        try:
            [row] = await self._call(
                "remember_fact", FactRow, **asdict(fact), model=model,
                embedding=vectors[0] if vectors else None,
                **caller.writing,
            )  # fmt: skip
        except DataRefused as refusal:
            raise refusal.explain("replaces") from refusal
        return row

    async def build(self, facts: Sequence[Fact], edges: Sequence[Edge], caller: Caller) -> BatchRow:
        """Stores facts, then relations, all or nothing.

        Raises ArgumentInvalid naming every item that the database refused by its path.
        """
        model, vectors = await self._store.embed_documents(list(map(_compose, facts)))
        try:
            [row] = await self._call(
                "build_knowledge", BatchRow, facts=json.dumps([_plain(fact) for fact in facts]),
                relations=json.dumps([_plain_edge(edge) for edge in edges]), model=model,
                embeddings=vectors, **caller.writing,
            )  # fmt: skip
        except DataRefused as refusal:
            raise _explain_batch(refusal) from refusal
        return row

    async def relate(self, edge: Edge, caller: Caller) -> RelationRow:
        """Connects two entities, creating those that are missing.

        Raises ArgumentInvalid when both ends are the same.
        """
        try:
            [row] = await self._call(
                "relate_entities", RelationRow, **asdict(edge), **caller.writing
            )
        except DataRefused as refusal:
            raise refusal.explain("toEntity") from refusal
        return row

    async def forget(
        self, entity: str, caller: Caller, *, fact: str | None, dry_run: bool
    ) -> ForgottenRow | None:
        """Deletes an entity, or one fact of it; None when there is no such entity.

        Raises FactNotFound.
        """
        try:
            [row] = await self._call(
                "forget_entity", ForgottenRow, entity=entity, fact=fact, dry_run=dry_run,
                **caller.writing,
            )  # fmt: skip
        except DataRefused as refusal:
            raise refusal.explain("fact") from refusal
        return row if row.entity_id else None


def _compose(fact: Fact) -> str:
    return compose_document(fact.entity, fact.observation)


def _plain(fact: Fact) -> dict[str, Any]:
    """The fact as build_knowledge takes it, as JSON."""
    plain = {key: value for key, value in asdict(fact).items() if value is not None}
    if fact.valid_until:
        plain["valid_until"] = fact.valid_until.isoformat()
    return plain


def _plain_edge(edge: Edge) -> dict[str, Any]:
    """The relation as build_knowledge takes it, as JSON."""
    named = {
        "from": edge.from_entity, "relation": edge.relation, "to": edge.to_entity,
        "from_type": edge.from_type, "to_type": edge.to_type,
    }  # fmt: skip
    return {key: value for key, value in named.items() if value is not None}


def _explain_batch(refusal: DataRefused) -> errors.ArgumentInvalid:
    places: dict[str, list[str]] = {}
    for fault in json.loads(refusal.detail or "[]"):
        places.setdefault(FACT_REASONS[fault["code"]], []).append(fault["path"])
    told = "; ".join(f"{', '.join(paths)}: {why}" for why, paths in places.items())
    return errors.ArgumentInvalid(f"Nothing was stored. {told}")
