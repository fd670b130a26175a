"""The operations of the `memory` toolset: they embed texts and call SQL functions."""

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

    None stands for an argument that the caller left out. A new fact then gets the default, and a
    duplicate fact keeps its value.
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
    """A relation to store. The types are for entities that do not exist yet."""

    from_entity: str
    relation: str
    to_entity: str
    from_type: str | None = None
    to_type: str | None = None


@dataclass(frozen=True)
class Question:
    """A search. `as_of` finds facts valid at that time; `semantic` searches by vectors alone."""

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
        """Return matching facts, best first, and the reason if vectors were not used, else None.

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
        model, vector, reason = await embed(question.query)
        time: dict[str, Any] = {"as_of": question.as_of} if question.as_of else {}
        hits = await self._call(
            "search_memory",
            HitRow,
            query=question.query,
            entity_types=question.entity_types,
            max_rows=question.limit,
            model=model,
            vector=vector,
            semantic=question.semantic,
            **time,
            **caller.reading,
        )
        return hits, reason

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
        """Return an entity with its newest facts after the first `skip`, or None."""
        time: dict[str, Any] = {"as_of": as_of} if as_of else {}
        rows = await self._call(
            "describe_entity",
            EntityRow,
            entity=entity,
            max_observations=max_observations,
            with_relations=with_relations,
            skip=skip,
            **time,
            **caller.reading,
        )
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
        """Return a page of entities, last updated first."""
        [row] = await self._call(
            "list_entities",
            ListRow,
            entity_types=types,
            max_rows=limit,
            skip=offset,
            as_of=as_of,
            **caller.reading,
        )
        return row

    async def find_similar_names(self, name: str, caller: Caller) -> list[str]:
        """Return names that begin like `name` or share a word with it, in no order."""
        rows = await self._call("similar_names", NameRow, name=name, **caller.reading)
        return [row.entity_name for row in rows]

    async def remember(self, fact: Fact, caller: Caller) -> FactRow:
        """Store a fact. A valid fact with the same text is updated instead.

        Raises FactNotFound if `replaces` names no fact, or one that is no longer valid.
        """
        model, vectors = await self._store.embed_documents([_compose(fact)])
        try:
            [row] = await self._call(
                "remember_fact",
                FactRow,
                **asdict(fact),
                model=model,
                embedding=vectors[0] if vectors else None,
                **caller.writing,
            )
        except DataRefused as refusal:
            raise refusal.explain("replaces") from refusal
        return row

    async def build(self, facts: Sequence[Fact], edges: Sequence[Edge], caller: Caller) -> BatchRow:
        """Store facts, then relations, all or nothing.

        Raises ArgumentInvalid with the path of every item that the database refused.
        """
        model, vectors = await self._store.embed_documents(list(map(_compose, facts)))
        try:
            [row] = await self._call(
                "build_knowledge",
                BatchRow,
                facts=json.dumps([_plain(fact) for fact in facts]),
                relations=json.dumps([_plain_edge(edge) for edge in edges]),
                model=model,
                embeddings=vectors,
                **caller.writing,
            )
        except DataRefused as refusal:
            raise _explain_batch(refusal) from refusal
        return row

    async def relate(self, edge: Edge, caller: Caller) -> RelationRow:
        """Connect two entities. Missing ones are created.

        Raises ArgumentInvalid if both ends are the same entity.
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
        """Delete an entity or one fact of it. Return None if there is no such entity.

        Raises FactNotFound.
        """
        try:
            [row] = await self._call(
                "forget_entity",
                ForgottenRow,
                entity=entity,
                fact=fact,
                dry_run=dry_run,
                **caller.writing,
            )
        except DataRefused as refusal:
            raise refusal.explain("fact") from refusal
        return row if row.entity_id else None


def _compose(fact: Fact) -> str:
    return compose_document(fact.entity, fact.observation)


def _plain(fact: Fact) -> dict[str, Any]:
    """Return the fact as build_knowledge reads it from JSON."""
    plain = {key: value for key, value in asdict(fact).items() if value is not None}
    if fact.valid_until:
        plain["valid_until"] = fact.valid_until.isoformat()
    return plain


def _plain_edge(edge: Edge) -> dict[str, Any]:
    """Return the relation as build_knowledge reads it from JSON."""
    fields = {
        "from": edge.from_entity,
        "relation": edge.relation,
        "to": edge.to_entity,
        "from_type": edge.from_type,
        "to_type": edge.to_type,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _explain_batch(refusal: DataRefused) -> errors.ArgumentInvalid:
    paths_by_reason: dict[str, list[str]] = {}
    for fault in json.loads(refusal.detail or "[]"):
        paths_by_reason.setdefault(FACT_REASONS[fault["code"]], []).append(fault["path"])
    reasons = "; ".join(f"{', '.join(paths)}: {why}" for why, paths in paths_by_reason.items())
    return errors.ArgumentInvalid(f"Nothing was stored. {reasons}")
