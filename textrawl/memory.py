"""What is neither SQL nor wire: embedding before storing and searching, and doing without.

A write never waits for a provider that is down: the fact is stored at once, without a vector, and
the embedding worker adds it later. A hybrid search without a vector answers from keywords alone.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from textrawl import errors
from textrawl.access import Caller
from textrawl.database import Database, DataRefused
from textrawl.embeddings import Vector
from textrawl.models import Models
from textrawl.rows import (
    BatchRow,
    EntityRow,
    FactRow,
    ForgottenRow,
    HitRow,
    ListRow,
    NameRow,
    RelationRow,
    SpaceRow,
)

logger = logging.getLogger("textrawl")

_MODEL_DROPPED = "TR049"


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


def compose_document(entity: str, observation: str) -> str:
    """The text that is embedded for a fact: what it is about is part of what it says."""
    return f"{entity}: {observation}"


class Memory:
    """The memory of one database; `credential` is what this process itself may use it with."""

    def __init__(
        self,
        database: Database,
        models: Models,
        *,
        credential: bytes | None = None,
    ) -> None:
        self.database = database
        self.credential = credential
        self.models = models
        self.without_vector = 0  # searches answered and facts stored while the provider was down
        self.pending = 0  # facts that waited for a vector at the end of the last round of upkeep

    async def ping(self) -> None:
        """Asks the database for something. Raises DatabaseUnavailable."""
        await self.database.call("default_space", SpaceRow)

    async def search(self, question: Question, caller: Caller) -> tuple[list[HitRow], str | None]:
        """Facts that answer, best first, and why vectors were missing (None: they were not).

        Raises EmbeddingNotConfigured, EmbeddingUnavailable for a semantic question.
        """
        try:
            return await self._search(question, caller)
        except DataRefused as refusal:
            if refusal.code != _MODEL_DROPPED:
                raise
        # Since it was asked which model is active another became so, and that one was dropped.
        self.models.forget()
        return await self._search(question, caller)

    async def _search(self, question: Question, caller: Caller) -> tuple[list[HitRow], str | None]:
        model, vector, missing = None, None, None
        try:
            active = await self.models.find_active()
            model, vector = active.model_id, await active.embedder.embed_query(question.query)
        except (errors.EmbeddingNotConfigured, errors.EmbeddingUnavailable) as error:
            if question.semantic:
                raise
            model, missing = None, error.title.lower()
            self.without_vector += 1
        time: dict[str, Any] = {"as_of": question.as_of} if question.as_of else {}
        hits = await self.database.call(
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
        rows = await self.database.call(
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
        [row] = await self.database.call(
            "list_entities", ListRow, entity_types=types, max_rows=limit, skip=offset, as_of=as_of,
            **caller.reading,
        )  # fmt: skip
        return row

    async def find_similar_names(self, name: str, caller: Caller) -> list[str]:
        """Names that begin like `name` or share a word with it, in no order."""
        rows = await self.database.call("similar_names", NameRow, name=name, **caller.reading)
        return [row.entity_name for row in rows]

    async def remember(self, fact: Fact, caller: Caller) -> FactRow:
        """Store a fact; a valid one of the same text takes over what else is given.

        Raises FactNotFound when `replaces` names none, or one that ended already.
        """
        model, vectors = await self._embed_facts([fact])
        try:
            [row] = await self.database.call(
                "remember_fact", FactRow, **asdict(fact), model=model,
                embedding=vectors[0] if vectors else None,
                **caller.writing,
            )  # fmt: skip
        except DataRefused as refusal:
            raise _explain(refusal.code, "replaces") from refusal
        return row

    async def build(self, facts: Sequence[Fact], edges: Sequence[Edge], caller: Caller) -> BatchRow:
        """Stores facts, then relations, all or nothing.

        Raises ArgumentInvalid naming every item that the database refused by its path.
        """
        model, vectors = await self._embed_facts(facts)
        try:
            [row] = await self.database.call(
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
            [row] = await self.database.call(
                "relate_entities", RelationRow, **asdict(edge), **caller.writing
            )
        except DataRefused as refusal:
            raise _explain(refusal.code, "toEntity") from refusal
        return row

    async def forget(
        self, entity: str, caller: Caller, *, fact: str | None, dry_run: bool
    ) -> ForgottenRow | None:
        """Deletes an entity, or one fact of it; None when there is no such entity.

        Raises FactNotFound.
        """
        try:
            [row] = await self.database.call(
                "forget_entity", ForgottenRow, entity=entity, fact=fact, dry_run=dry_run,
                **caller.writing,
            )  # fmt: skip
        except DataRefused as refusal:
            raise _explain(refusal.code, "fact") from refusal
        return row if row.entity_id else None

    async def _embed_facts(self, facts: Sequence[Fact]) -> tuple[int | None, list[Vector] | None]:
        """The active model and a vector a fact, asked for in one request; none while it is down."""
        if not facts or not self.models.has_vectors:
            return None, None
        texts = [compose_document(fact.entity, fact.observation) for fact in facts]
        try:
            active = await self.models.find_active()
            return active.model_id, await active.embedder.embed_documents(texts)
        except errors.EmbeddingUnavailable as error:
            logger.warning("Stored without vectors, which will follow: %s", error.fix)
            self.without_vector += len(texts)
            return None, None


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


_REFUSALS = {
    "TR001": "names no fact of this entity: give its id, 8 or more characters of it, or its text",
    "TR002": "names more than one fact of this entity: give more characters of its id",
    "TR003": "names a fact that is no longer valid: remember the new fact without replaces",
    "TR005": "is the same entity as fromEntity: a relation needs two",
}


def _explain(code: str, parameter: str) -> errors.ArgumentInvalid:
    told = f"{parameter}: {_REFUSALS[code]}"
    return errors.ArgumentInvalid(told) if code == "TR005" else errors.FactNotFound(told)


def _explain_batch(refusal: DataRefused) -> errors.ArgumentInvalid:
    places: dict[str, list[str]] = {}
    for fault in json.loads(refusal.detail or "[]"):
        places.setdefault(_REFUSALS[fault["code"]], []).append(fault["path"])
    told = "; ".join(f"{', '.join(paths)}: {why}" for why, paths in places.items())
    return errors.ArgumentInvalid(f"Nothing was stored. {told}")
