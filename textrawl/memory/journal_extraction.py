"""Extraction: nodes and edges of the mind toolset from a journal entry, with the LLM."""

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from pydantic import BaseModel, Field

from textrawl.errors import InternalError, LlmBadOutput, LlmFailed
from textrawl.memory.facts import Edge, Fact, compose_edge, write_edge, write_fact
from textrawl.memory.journal import name_entry
from textrawl.memory.llm_calls import LlmCalls
from textrawl.memory.store import Store
from textrawl.models.embeddings import Vector, compose_document
from textrawl.models.llm import Material, Prompt
from textrawl.postgres.sqlstates import DataRefused
from textrawl.values.grounding import Evidence, Grounding, Unsupported
from textrawl.values.text import FACT_LENGTH, NAME_LENGTH, clean_fact, clean_name

logger = logging.getLogger("textrawl")

_LEAST_CONFIDENCE = 0.7
_MOST_NODES = 30
_MOST_EDGES = 60
_TYPE_LENGTH = 100
_MOST_CHARACTERS = 60_000  # of an entry in the prompt
_MOST_ATTEMPTS = 5  # if the answer to the last attempt is unusable
_TASK = (
    "Extract what is worth remembering for years from the journal entry: people, places, projects, "
    "topics, preferences, events. Answer as JSON. A node has a label (a short name), a type (one "
    "lower-case word such as person, place, project, topic, preference, event), a description (one "
    "sentence) and a confidence from 0 to 1. The author of the entry is the node self of type "
    "self. An edge has the labels of two of these nodes (source, target), a type such as knows, "
    "likes or works_on, a weight from 0 to 1 and the words of the entry that support it "
    "(evidence). Invent nothing. If there is nothing to extract, both lists are empty."
)


class ExtractedNode(BaseModel):
    """A node as the LLM describes it. `clean_nodes` checks it."""

    label: str
    type: str
    description: str = ""
    confidence: float = 0.0


class ExtractedEdge(BaseModel):
    """An edge as the LLM describes it. `clean_edges` checks it."""

    source: str
    target: str
    type: str
    weight: float = 0.5
    evidence: str = ""


class Extraction(BaseModel):
    """The answer of the LLM."""

    nodes: list[ExtractedNode] = Field(max_length=1_000)
    edges: list[ExtractedEdge] = Field(max_length=1_000)


@dataclass(frozen=True)
class ClaimedEntry:
    """A journal entry that this server reads. `content` is None if an undo took it back.

    `aliases` holds the other names in it, by the case-folded name of their entity.
    """

    space_id: int
    document_id: UUID
    version: int
    path: str
    content: str | None
    attempts: int
    aliases: dict[str, list[str]]


@dataclass(frozen=True)
class _StoredRow:
    nodes_created: int
    edges_created: int


Propose = Callable[[Store, ClaimedEntry, LlmCalls], Awaitable[None]]
"""A function that proposes the facts of an entry. Raises LlmFailed."""


class ExtractionOperations:
    """Extracts from the journal entries that wait in the queue of the database."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._call = store.database.call

    async def extract_next(self, propose: Propose) -> bool:
        """Propose the facts of an entry, and extract nodes and edges, as the settings say.

        Return False if no entry is due.
        After a fault, the entry is tried again later. Raises DatabaseUnavailable, ServerBusy.
        """
        timeout = self._store.llm.timeout if self._store.llm is not None else 0.0
        rows = await self._call("claim_extraction", ClaimedEntry, lease=2 * timeout + 60)
        for row in rows:
            try:
                await self._extract(row, propose)
            except LlmBadOutput as failure:
                await self._delay(row, str(failure), give_up=row.attempts >= _MOST_ATTEMPTS)
            except LlmFailed as failure:
                await self._delay(row, str(failure), answered=False)
            except (DataRefused, InternalError):
                give_up = row.attempts >= _MOST_ATTEMPTS
                await self._delay(row, "What was extracted cannot be stored", give_up=give_up)
        return bool(rows)

    async def _delay(
        self, row: ClaimedEntry, error: str, *, give_up: bool = False, answered: bool = True
    ) -> None:
        await self._call(
            "delay_extraction",
            bool,
            space=row.space_id,
            document=row.document_id,
            version=row.version,
            error=error,
            give_up=give_up,
            answered=answered,
        )

    async def _extract(self, row: ClaimedEntry, propose: Propose) -> None:
        """Propose the facts of an entry, and then store its nodes and edges.

        The last step takes the entry out of the queue. If the server ends before it, the next one
        proposes nothing twice.
        """
        found = Extraction(nodes=[], edges=[])
        place = {"space": row.space_id, "document": row.document_id}
        calls = LlmCalls(self._store, "record_extraction_use", **place)
        if row.content is not None and "facts" in self._store.extracts:
            await propose(self._store, row, calls)
        if row.content is not None and "graph" in self._store.extracts:
            found = await calls.complete_json(build_prompt(row.path, row.content), Extraction)
        grounding = Grounding((row.content or "")[:_MOST_CHARACTERS], row.aliases)
        nodes = clean_nodes(found.nodes, grounding)
        edges = clean_edges(found.edges, nodes, grounding)
        model, vectors = await self._embed(nodes)
        memory = name_entry(row.path)
        written = [
            {
                "from": edge.source,
                "to": edge.target,
                "type": edge.type,
                "strength": edge.weight,
                "evidence": edge.evidence or None,
            }
            for edge in edges
        ]
        await self._call(
            "store_extraction",
            _StoredRow,
            space=row.space_id,
            document=row.document_id,
            version=row.version,
            nodes=json.dumps([{**node.model_dump(), "memory": memory} for node in nodes]),
            edges=json.dumps(written),
            model=model,
            embeddings=vectors,
        )

    async def propose(
        self,
        entry: ClaimedEntry,
        facts: Sequence[Fact],
        relations: Sequence[Edge],
        relations_said: Sequence[Evidence],
    ) -> None:
        """Propose facts and relations for the author of an entry, each with its sentence."""
        texts = [compose_document(one.entity, one.observation) for one in facts]
        texts += map(compose_edge, relations)
        said = [
            {"evidence": clean_fact(one.text)[:FACT_LENGTH], "evidence_start": one.start}
            for one in relations_said
        ]
        pairs = zip(relations, said, strict=True)
        model, vectors = await self._store.embed_documents(texts)
        await self._call(
            "propose_extraction",
            list[UUID],
            space=entry.space_id,
            document=entry.document_id,
            version=entry.version,
            facts=json.dumps([write_fact(one) for one in facts]),
            relations=json.dumps([write_edge(edge) | sentence for edge, sentence in pairs]),
            model=model,
            fact_vectors=vectors and vectors[: len(facts)],
            relation_vectors=vectors and vectors[len(facts) :],
            llm=self._store.llm.name if self._store.llm is not None else None,
        )

    async def _embed(
        self, nodes: Sequence[ExtractedNode]
    ) -> tuple[int | None, list[Vector] | None]:
        texts = [compose_document(node.label, node.description or node.type) for node in nodes]
        return await self._store.embed_documents(texts)


def build_prompt(path: str, content: str) -> Prompt:
    """Return the prompt for an entry. A very long entry is read up to 60,000 characters."""
    material = Material()
    entry = material.enclose("entry", path, content[:_MOST_CHARACTERS])
    return Prompt(f"{_TASK}\n\n{material.care}", entry, max_tokens=4_000)


def clean_nodes(nodes: Sequence[ExtractedNode], grounding: Grounding) -> list[ExtractedNode]:
    """Return the nodes that the entry names, each label once.

    Each fits the limits of the tool and the least confidence. A description that the entry does
    not support becomes a sentence of the entry, or is left out.
    """
    kept = dict[str, ExtractedNode]()
    for node in nodes:
        label, kind = clean_name(node.label), clean_name(node.type).lower()
        named = 0 < len(label) <= NAME_LENGTH and 0 < len(kind) <= _TYPE_LENGTH
        if named and _LEAST_CONFIDENCE <= node.confidence <= 1 and grounding.names(label):
            description = _describe(label, _clean(node.description), grounding)
            cleaned = {"label": label, "type": kind, "description": description}
            kept.setdefault(label.casefold(), node.model_copy(update=cleaned))
    return list(kept.values())[:_MOST_NODES]


def _describe(label: str, description: str, grounding: Grounding) -> str:
    try:
        evidence = grounding.cite_fact(label, description)
    except Unsupported:
        return ""
    return _clean(evidence.quotation) if evidence.quoted else description


def clean_edges(
    edges: Sequence[ExtractedEdge], nodes: Sequence[ExtractedNode], grounding: Grounding
) -> list[ExtractedEdge]:
    """Return the edges between `nodes` that the entry says, with the sentence that says it."""
    labels = {node.label.casefold(): node.label for node in nodes}
    kept = list[ExtractedEdge]()
    for edge in edges:
        source, target = (
            labels.get(clean_name(end).casefold()) for end in (edge.source, edge.target)
        )
        kind = clean_name(edge.type)
        if source and target and 0 < len(kind) <= _TYPE_LENGTH and 0 <= edge.weight <= 1:
            try:
                evidence = _clean(grounding.support_relation(source, kind, target).text)
            except Unsupported:
                continue
            cleaned = {"source": source, "target": target, "type": kind, "evidence": evidence}
            kept.append(edge.model_copy(update=cleaned))
    return kept[:_MOST_EDGES]


def _clean(text: str) -> str:
    """Return the stored form of a text, or an empty text if a tool would not accept it."""
    plain = clean_fact(text)
    return plain if len(plain) <= FACT_LENGTH else ""
