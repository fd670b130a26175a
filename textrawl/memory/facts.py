"""The operations of the `memory` toolset: they embed texts and call SQL functions."""

import json
import re
from asyncio import gather
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any
from uuid import UUID

from anyio import to_thread

from textrawl import errors
from textrawl.access.principal import Caller
from textrawl.memory import review
from textrawl.memory.anchors import find_changes, find_named, mark_changes
from textrawl.memory.command_results import Absence
from textrawl.memory.fact_rows import (
    BatchRow,
    DigestRow,
    EndedRow,
    EntityRow,
    ExplainedRow,
    FactRow,
    ForgottenRow,
    HitRow,
    ListRow,
    NameRow,
    OwnProposalRow,
    ProposedHitRow,
    RelationRow,
)
from textrawl.memory.questions import ANY_TIME, Question, Sources, Times, read_time
from textrawl.memory.store import Store, StoreCall, list_sessions
from textrawl.models.embeddings import compose_document, compose_query
from textrawl.postgres.sqlstates import FACT_REASONS, DataRefused
from textrawl.values import condensation
from textrawl.values.leaks import mask_secrets
from textrawl.values.names import ENTITY_TYPES
from textrawl.values.text import EXTERNAL, QUERY_LENGTH, read_relation
from textrawl.values.word_lists import EVERYBODY, build_filter, includes_everybody

_ID = re.compile("[0-9A-Fa-f]{8}[0-9A-Fa-f-]{0,28}")

_CLOSEST = 0.33  # least score of the fact that came closest
_CLOSE_ALONE = 0.38  # the same, if it has no word of the query: below it, likeness says nothing
_LONGEST_CLOSEST = 120  # characters of it

_SHARE = 3  # of the answer for passages of documents: a third
_MOST_COMPARED = 50  # facts of an answer of which the days can matter
_LEAST_LIKENESS = 75  # per cent of a similar name (rapidfuzz WRatio)
_MOST_NAMES = 3  # similar names of an answer

_ABOUT_TIME = ("tense", "during", "clause")  # of facts that have ended, so not of proposals


@dataclass(frozen=True)
class Fact:
    """A fact to store, checked and cleaned.

    A field is None if the caller left the argument out. A new fact then gets the default value,
    and a duplicate fact keeps its stored value.
    """

    entity: str
    type: str | None
    observation: str
    source: str | None = None
    confidence: float | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    said_at: datetime | None = None
    replaces: str | None = None
    anchors: Sequence[str] | None = None


@dataclass(frozen=True)
class QuotedFact(Fact):
    """A fact that an LLM took from a sentence. `evidence_start` is its place in its text."""

    evidence: str | None = None
    evidence_start: int | None = None


@dataclass(frozen=True)
class Edge:
    """A relation to store. The types are for entities that do not exist yet."""

    from_entity: str
    relation: str
    to_entity: str
    from_type: str | None = None
    to_type: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True)
class MemoryOperations:
    """Facts, relations and entities of one memory."""

    store: Store

    async def condense(
        self, question: Question, caller: Caller, *, longest: int = QUERY_LENGTH
    ) -> Question:
        """Return the question with a query of at most 1,000 characters.

        A text of more than `longest` characters is condensed: its questions count, and sentences
        with names that the caller can read. Raises QueryMissing if it has no words.
        """
        if len(question.query) <= longest:
            return question
        prose = await to_thread.run_sync(condensation.read_prose, question.query)
        keys = [*prose.keys]
        known = (
            await self.store.database.call("known_names", str, keys=keys, **caller.reading)
            if keys
            else ()
        )
        if query := prose.write_query(known):
            return replace(question, query=query)
        raise errors.QueryMissing

    async def search(
        self, question: Question, caller: Caller, *, again: bool = False
    ) -> tuple[list[HitRow], str | None]:
        """Return matching facts, best first, and the reason why vectors were not used, or None.

        A semantic question raises EmbeddingNotConfigured or EmbeddingUnavailable instead. If the
        model was dropped meanwhile, the search runs `again`, with the active model.
        """
        if question.entity_types:
            await self._check_types(question.entity_types, caller)
        if len(question.query) > QUERY_LENGTH:
            question = await self.condense(question, caller)
        try:
            arguments, reason = await self._prepare(question, caller)
            folder = self.store.going_on if question.entries else None
            going_on = list_sessions(folder) if folder and folder.exists() else []
            own = {"sessions": going_on} if going_on or not question.entries else {}
            given = {"semantic": question.semantic, **arguments, **own}
            search = partial(self.store.database.call, "search_memory", HitRow, **given)
            sources = question.sources
            hits = await (_search_documents(question, sources, search) if sources else search())
            if _ID.fullmatch(question.query) and question.covers_present_facts:
                hits = await self._put_named_first(question, hits, caller)
            if caller.principal.proposes and question.covers_present_facts:
                hits = await self._add_proposals(question, hits, arguments)
        except DataRefused as refusal:
            if again:
                raise
            self.store.forget_dropped(refusal)
            return await self.search(question, caller, again=True)
        if any(map(attrgetter("anchors"), hits)):
            for hit, change in zip(
                hits, await find_changes([hit.anchors for hit in hits]), strict=True
            ):
                hit.change = change
        return hits, reason

    async def _put_named_first(
        self, question: Question, hits: list[HitRow], caller: Caller
    ) -> list[HitRow]:
        """Return the facts whose id the question is, and then the other facts."""
        named = await self.store.database.call(
            "find_ids", HitRow, reference=question.query, max_rows=question.limit, **caller.reading
        )
        ids = {row.observation_id for row in named}
        return [*named, *(hit for hit in hits if hit.observation_id not in ids)][: question.limit]

    async def _add_proposals(
        self, question: Question, hits: list[HitRow], arguments: dict[str, object]
    ) -> list[HitRow]:
        """Return the facts together with the caller's proposals that match, best first."""
        known = {name: arguments[name] for name in arguments if name not in _ABOUT_TIME}
        proposed = await self.store.database.call(
            "search_proposals", ProposedHitRow, semantic=question.semantic, **known
        )
        merged = sorted([*hits, *proposed], key=lambda hit: hit.score, reverse=True)
        return merged[: question.limit]

    async def find_unknown_names(self, question: Question, caller: Caller) -> Absence | None:
        """Return the names in a question that no fact has. A text without `?` asks for no fact."""
        if "?" not in question.query:
            return None
        names = question.find_names(await self._find_missing(question, caller))
        return Absence(names, None) if names else None

    async def explain_absence(self, question: Question, caller: Caller) -> Absence | None:
        """Return the reason why a search of facts found none, or None for another search."""
        if question.semantic or not (question.sources is None or question.sources.facts):
            return None
        question = await self.condense(question, caller)
        words = await self._find_missing(question, caller)
        closest = replace(question, limit=1, least_score=_CLOSEST, sources=None)
        rows, _ = await self.search(closest, caller)
        texts = [
            f"{row.entity_name}: {mark}{' '.join(row.text.split())}"
            for row in rows[:1]
            for mark in [EXTERNAL if row.origin == "external" else ""]
            if row.coverage or row.score >= _CLOSE_ALONE
        ]
        return Absence(words, texts[0][:_LONGEST_CLOSEST] if texts else None)

    async def _find_missing(self, question: Question, caller: Caller) -> list[str]:
        """Return the words of a question that nothing has of what it covers."""
        graphs = question.sources.arguments()["graphs"] if question.sources else list[str]()
        query, _ = await read_time(self.store.database, question.query, question.times.as_of)
        return await self.store.database.call(
            "missing_words", str, query=query, graphs=graphs, **caller.reading
        )

    async def _check_types(self, types: Sequence[str], caller: Caller) -> None:
        """Raise EntityTypeInvalid if no entity that the caller can read has one of these types."""
        words = [word for word in types if word not in ENTITY_TYPES]
        if not words:
            return
        known = set(
            await self.store.database.call("known_types", str, words=words, **caller.reading)
        )
        for place, word in enumerate(types):
            if word in words and word not in known:
                raise errors.EntityTypeInvalid(
                    f"entityTypes[{place}] (given {word[:40]!r}): must be one of "
                    f"{', '.join(ENTITY_TYPES)}"
                )

    async def explain(
        self, question: Question, caller: Caller, *, more: int
    ) -> tuple[list[ExplainedRow], str | None]:
        """Return the facts that match, and `more` that were left out, each with the reasons.

        The second value says why vectors were not used, or is None.
        """

        async def ask() -> tuple[list[ExplainedRow], str | None]:
            if question.entity_types:
                await self._check_types(question.entity_types, caller)
            condensed = await self.condense(question, caller)
            arguments, reason = await self._prepare(condensed, caller)
            rows = await self.store.database.call(
                "explain_search", ExplainedRow, more=more, **arguments
            )
            return rows, reason

        return await self.store.search(ask)

    async def _prepare(
        self, question: Question, caller: Caller
    ) -> tuple[dict[str, object], str | None]:
        """Return the arguments of a search, and the reason why vectors are not used, or None."""
        mentions = list[str]()
        covers_facts = question.sources is None or question.sources.facts
        if covers_facts and self.store.models.has_vectors:
            mentions = await self.store.database.call(
                "named_entities", str, query=question.query, **caller.reading
            )
        query, time = question.query, dict[str, object]()
        if not question.semantic:
            query, time = await read_time(self.store.database, query, question.times.as_of)
        text = compose_query(query, mentions)
        model, vector, reason = await self.store.embed_query(text, needed=question.semantic)
        arguments = {
            "query": query,
            "entity_types": question.entity_types,
            "max_rows": question.limit,
            "model": model,
            "vector": vector,
            **question.times.arguments(),
            **time,
            **({} if question.least_score is None else {"least_score": question.least_score}),
            **({} if question.about is None else {"about": question.about}),
            **caller.reading,
        }
        return arguments, reason

    async def digest(
        self,
        project: str | None,
        caller: Caller,
        *,
        authors: Sequence[str] = EVERYBODY,
        limit: int = 40,
    ) -> list[DigestRow]:
        """Return the facts that matter at the start of a conversation, the most important first.

        `project` is the name of the project that the caller works on, or None. `authors` is a value
        of DIGEST_AUTHORS. Texts that look like secrets are masked, because nobody asked for them.
        """
        rows = await self.store.database.call(
            "digest_memory",
            DigestRow,
            project=project,
            max_rows=limit,
            **build_filter(authors),
            **caller.reading,
        )
        changes = await find_changes([row.anchors for row in rows])
        for row, change in zip(rows, changes, strict=True):
            row.content, row.change = mask_secrets(row.content).text, change
        return rows

    async def count_waiting(self, caller: Caller) -> int:
        """Return how many proposals wait for a decision of the caller."""
        return await review.count_waiting(StoreCall(self.store, caller))

    async def choose_by_authors(
        self, rows: Sequence[HitRow], authors: Sequence[str], caller: Caller
    ) -> list[HitRow]:
        """Return the found facts of these authors, which are a value of DIGEST_AUTHORS."""
        if not rows or includes_everybody(authors):
            return list(rows)
        chosen = await self.store.database.call(
            "facts_from_authors",
            UUID,
            facts=[row.observation_id for row in rows],
            **build_filter(authors),
            **caller.reading,
        )
        return [row for row in rows if row.observation_id in chosen]

    async def describe(
        self,
        entity: str,
        caller: Caller,
        *,
        max_observations: int,
        with_relations: bool,
        skip: int = 0,
        times: Times = ANY_TIME,
    ) -> EntityRow | None:
        """Return an entity with its newest facts, or None if it does not exist.

        The `skip` newest facts are left out.
        """
        rows = await self.store.database.call(
            "describe_entity",
            EntityRow,
            entity=entity,
            max_observations=max_observations,
            with_relations=with_relations,
            skip=skip,
            **times.arguments(),
            **caller.reading,
        )
        for row in rows:
            await mark_changes(row.observations)
        return rows[0] if rows else None

    async def find_disagreeing(self, facts: Sequence[tuple[str, str, str, str]]) -> frozenset[str]:
        """Return the ids of the facts that disagree with a fact of the same entity on another day.

        A fact is its id, its entity, its text and the day on which it was said. Only the first
        facts are compared.
        """
        facts, days_of = facts[:_MOST_COMPARED], dict[str, str]()
        for _, entity, _, day in facts:
            if days_of.setdefault(entity, day) != day:
                break
        else:
            return frozenset()  # no entity has facts of two days
        ids, subjects, contents, days = map(list, zip(*facts, strict=True))
        places = await self.store.database.value(
            "disagreeing_texts", list[int], subjects=subjects, contents=contents, days=days
        )
        return frozenset(ids[place - 1] for place in places)

    async def list_own_proposals(
        self, entity: str, caller: Caller, *, limit: int
    ) -> list[OwnProposalRow]:
        """Return the caller's pending proposals about an entity, newest first.

        A caller who cannot propose pays nothing.
        """
        if not caller.principal.proposes:
            return []
        return await self.store.database.call(
            "entity_proposals", OwnProposalRow, entity=entity, max_rows=limit, **caller.reading
        )

    async def list_entities(
        self,
        types: list[str] | None,
        caller: Caller,
        *,
        limit: int,
        offset: int,
        times: Times = ANY_TIME,
        prefix: str | None = None,
    ) -> ListRow:
        """Return a page of entities, last updated first. Raises EntityTypeInvalid."""
        if types:
            await self._check_types(types, caller)
        [row] = await self.store.database.call(
            "list_entities",
            ListRow,
            entity_types=types,
            max_rows=limit,
            skip=offset,
            **times.arguments(),
            **({} if prefix is None else {"prefix": prefix}),
            **caller.reading,
        )
        return row

    async def suggest_names(self, name: str, caller: Caller) -> list[str]:
        """Return up to three names of entities that are similar to `name`, most similar first.

        They begin like `name` or share a word with it.
        """
        from rapidfuzz import process, utils  # noqa: PLC0415 - rarely needed

        rows = await self.store.database.call("similar_names", NameRow, name=name, **caller.reading)
        similar = process.extract(
            name,
            [row.entity_name for row in rows],
            processor=utils.default_process,
            limit=_MOST_NAMES,
            score_cutoff=_LEAST_LIKENESS,
        )
        return [similar_name for similar_name, *_ in similar]

    async def complete_name(
        self, beginning: str, caller: Caller, *, types: list[str] | None = None, limit: int
    ) -> list[str]:
        """Return names with this beginning, last updated first. Every name has the beginning ""."""
        rows = await self.store.database.call(
            "complete_name",
            NameRow,
            beginning=beginning,
            entity_types=types,
            max_rows=limit,
            **caller.reading,
        )
        return [row.entity_name for row in rows]

    async def remember(self, fact: Fact, caller: Caller) -> FactRow:
        """Store a fact, or update the valid fact of the entity with the same text.

        Raises FactNotFound if `replaces` names an unknown fact or a fact that is no longer valid.
        """
        [anchors] = [caller.anchors] if caller.anchors else await find_named([fact.observation])
        text = compose_document(fact.entity, fact.observation)
        model, vectors = await self.store.embed_documents([text])
        row = await self.store.call_one(
            "remember_fact",
            FactRow,
            "replaces",
            **asdict(fact) | {"anchors": anchors},
            model=model,
            embedding=vectors[0] if vectors else None,
            **caller.writing,
        )
        return row if self.store.names_close_facts else replace(row, closest=None)

    async def build(self, facts: Sequence[Fact], edges: Sequence[Edge], caller: Caller) -> BatchRow:
        """Store facts, then relations, all or nothing.

        Raises ArgumentInvalid with the path of every item that the database refused.
        """
        texts = [compose_document(fact.entity, fact.observation) for fact in facts]
        texts += map(compose_edge, edges)
        model, vectors = await self.store.embed_documents(texts)
        named = await find_named([fact.observation for fact in facts])
        anchored = [replace(fact, anchors=found) for fact, found in zip(facts, named, strict=True)]
        try:
            [row] = await self.store.database.call(
                "build_knowledge",
                BatchRow,
                facts=json.dumps([write_fact(fact) for fact in anchored]),
                relations=json.dumps([write_edge(edge) for edge in edges]),
                model=model,
                embeddings=vectors and vectors[: len(facts)],
                relation_embeddings=vectors and vectors[len(facts) :],
                **caller.writing,
            )
        except DataRefused as refusal:
            raise _explain_batch(refusal) from refusal
        return row if self.store.names_close_facts else replace(row, closest=None)

    async def relate(self, edge: Edge, caller: Caller, *, replaces: bool = False) -> RelationRow:
        """Connect two entities. Missing entities are created.

        With `replaces`, end the other relations of this type that start at the same entity.
        """
        model, vectors = await self.store.embed_documents([compose_edge(edge)])
        row = await self.store.call_one(
            "relate_entities",
            RelationRow,
            "toEntity",
            **asdict(edge),
            replaces=replaces,
            model=model,
            embedding=vectors[0] if vectors else None,
            **caller.writing,
        )
        return row if self.store.names_close_facts else replace(row, others=None)

    async def correct_relation(self, former: Edge, edge: Edge, caller: Caller) -> UUID | None:
        """End `former`, and store `edge` of the same entity in its place, both or none.

        Return the id of the proposal of `edge` if the caller can only propose: `former` then stays.
        """
        model, vectors = await self.store.embed_documents([compose_edge(edge)])
        return await self.store.call_one(
            "correct_relation",
            UUID,
            "relation",
            from_entity=edge.from_entity,
            former_relation=former.relation,
            former_entity=former.to_entity,
            relation=edge.relation,
            to_entity=edge.to_entity,
            valid_from=edge.valid_from,
            valid_until=edge.valid_until,
            model=model,
            embedding=vectors[0] if vectors else None,
            **caller.writing,
        )

    async def end(self, edge: Edge, caller: Caller) -> RelationRow:
        """End a relation, which stays as history. Raises ArgumentInvalid if there is none."""
        row = await self.store.call_one(
            "end_relation",
            EndedRow,
            "ended",
            from_entity=edge.from_entity,
            relation=edge.relation,
            to_entity=edge.to_entity,
            valid_until=edge.valid_until,
            **caller.writing,
        )
        return RelationRow(**asdict(row))

    async def forget(
        self,
        entity: str,
        caller: Caller,
        *,
        fact: str | None,
        dry_run: bool,
        planned: str | None = None,
    ) -> ForgottenRow | None:
        """Delete an entity or one fact of it. Return None if there is no such entity.

        `planned` is the plan of a dry run. Raises FactNotFound, and ArgumentInvalid if the deletion
        would take something else than `planned`.
        """
        row = await self.store.call_one(
            "forget_entity",
            ForgottenRow,
            "fact",
            entity=entity,
            fact=fact,
            dry_run=dry_run,
            planned=planned,
            **caller.writing,
        )
        return row if row.entity_id else None


async def _search_documents(
    question: Question, sources: Sources, search: Callable[..., Awaitable[list[HitRow]]]
) -> list[HitRow]:
    """Return passages of documents and the facts that `sources` covers, best first.

    Passages are long, so beside facts they are at most a third of an answer, unless facts are few.
    Documents have no type, and are not beside facts of one entity or of another time.
    """
    documents = sources.arguments()
    if not sources.facts:
        return [] if question.entity_types else await search(**documents)
    if question.entity_types or question.about is not None or question.times.as_of is not None:
        return await search()
    share = question.limit // _SHARE
    # Each takes milliseconds in a large memory, so they run at the same time.
    hits, passages = await gather(search(), search(**documents, max_rows=share))
    room = question.limit - len(hits)
    if len(passages) == share < room:
        passages = await search(**documents, max_rows=room)
    found = sorted([*hits, *passages], key=attrgetter("score"), reverse=True)
    return found[: question.limit]


def compose_edge(edge: Edge) -> str:
    """Return the text to embed for a relation. The upkeep composes the same text."""
    return compose_document(edge.from_entity, f"{read_relation(edge.relation)} {edge.to_entity}")


def write_fact(fact: Fact) -> dict[str, Any]:
    """Return the fact as a dictionary with the JSON keys that `build_knowledge` reads."""
    plain = {key: value for key, value in asdict(fact).items() if value is not None}
    return {key: _write(value) for key, value in plain.items()}


def _write(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def write_edge(edge: Edge) -> dict[str, Any]:
    """Return the relation as a dictionary with the JSON keys that `build_knowledge` reads."""
    fields = {
        "from": edge.from_entity,
        "relation": edge.relation,
        "to": edge.to_entity,
        "from_type": edge.from_type,
        "to_type": edge.to_type,
        "valid_from": edge.valid_from,
        "valid_until": edge.valid_until,
    }
    return {key: _write(value) for key, value in fields.items() if value is not None}


def _explain_batch(refusal: DataRefused) -> errors.ArgumentInvalid:
    paths_by_reason: dict[str, list[str]] = {}
    for fault in json.loads(refusal.detail or "[]"):
        paths_by_reason.setdefault(FACT_REASONS[fault["code"]], []).append(fault["path"])
    reasons = "; ".join(f"{', '.join(paths)}: {why}" for why, paths in paths_by_reason.items())
    return errors.ArgumentInvalid(f"Nothing was stored. {reasons}")
