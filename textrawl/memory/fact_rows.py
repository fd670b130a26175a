"""Rows that the SQL functions of the memory toolset return: a class for each function."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal, cast
from uuid import UUID

EVER: Literal["ever"] = "ever"


@dataclass  # not frozen: a frozen row takes ten times as long to make, and an answer has ten rows
class HitRow:
    """A fact, a relation or a chunk of a document that search_memory found.

    Score, cosine and coverage are numbers from 0 to 1. A relation has four fields, and its id is
    also its `observation_id`. A chunk has a document, a part and a line. Its `content` is None if a
    limit of tokens left it out. `several_authors` is true if several authors write to the space.
    `origin` is said, inferred or external, or None for a chunk. `anchors` are those of a fact
    of the repository of the session. `change` says what became of their files. It is no field:
    whoever shows the fact reads these files. `outlived` is true if the fact was last said longer
    ago than states of its kind usually hold.
    """

    observation_id: UUID
    entity_id: UUID
    space: str
    entity_name: str
    entity_type: str
    content: str | None
    source: str
    created_at: datetime
    said_at: datetime
    author: str
    score: float
    cosine: float | None = None
    coverage: float | None = None
    relation_id: UUID | None = None
    relation_type: str | None = None
    to_entity: str | None = None
    to_entity_type: str | None = None
    document_id: UUID | None = None
    part: int | None = None
    line: int | None = None
    several_authors: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    dated: bool = False
    given_type: str | None = None
    origin: str | None = None
    anchors: list[str] | None = None
    outlived: bool = False
    proposed: ClassVar[bool] = False
    change = cast("str | None", None)

    @property
    def text(self) -> str:
        """The text of a fact or a chunk, or a relation as an arrow."""
        if self.relation_id:
            return f"{self.relation_type}→{self.to_entity}"
        return self.content or ""

    @property
    def chunk_id(self) -> str | None:
        """The id of a chunk for the corpus tools, or None."""
        return f"{self.document_id}:{self.part}" if self.document_id else None


class ProposedHitRow(HitRow):
    """A proposal of the caller that search_proposals found. Its id is the `observation_id`."""

    proposed: ClassVar[bool] = True


@dataclass(frozen=True)
class OwnProposalRow:
    """A proposal of the caller about an entity, from entity_proposals."""

    id: UUID
    content: str | None
    relation_type: str | None
    to_name: str | None
    created_at: datetime

    @property
    def text(self) -> str:
        """The text of the fact, or the relation as an arrow."""
        return self.content or f"{self.relation_type}→{self.to_name}"


@dataclass
class DigestRow:
    """A fact from digest_memory. `section` says why the digest has it.

    `several_authors` is true if several authors write to the space. A summary has no `origin`.
    `change` and `outlived` are those of HitRow.
    """

    observation_id: UUID
    entity_id: UUID
    space: str
    entity_name: str
    entity_type: str
    content: str
    created_at: datetime
    said_at: datetime
    author: str
    section: str
    score: float
    several_authors: bool
    origin: str | None = None
    anchors: list[str] | None = None
    outlived: bool = False
    change = cast("str | None", None)


EVIDENCE = (
    *("base", "meaning", "words", "about", "beside", "period", "unheard", "better", "order"),
)
"""The names of the parts of `log_odds`, in the order of search_memory()."""


@dataclass(frozen=True)
class ExplainedRow:
    """A fact from explain_search. Scores, likeness and coverage are numbers from 0 to 1.

    `place` is its rank, or None if it is not valid. `outcome` is returned, over the limit, below
    the least score or ended. `words` has {word, weight, found} for each word of the query.
    `found_by` says how the fact was found: words, vector, or neither if a neighbour or relation led
    to it. `timeless_score` is the score without the time that the question is about. `log_odds` are
    what each kind of EVIDENCE adds to the log odds of the score. `evidence` is the sentence of a
    text from which an LLM took the fact, and `evidence_start` its place there.
    """

    place: int | None
    outcome: str
    observation_id: UUID
    space: str
    entity_name: str
    entity_type: str
    content: str
    score: float | None
    own_score: float | None
    cosine: float | None
    likeness: float | None
    coverage: float | None
    words: list[dict[str, Any]]
    found_by: list[str]
    valid_from: datetime
    valid_until: datetime | None
    timeless_score: float | None
    log_odds: list[float] | None
    evidence: str | None = None
    evidence_start: int | None = None

    @property
    def named_evidence(self) -> list[tuple[str, str]]:
        """The log odds of each kind of evidence, by name. Those that add nothing are left out."""
        named = zip(EVIDENCE, self.log_odds or [0.0] * len(EVIDENCE), strict=True)
        return [(name, f"{value:+.2f}") for name, value in named if round(value, 2)]


@dataclass(frozen=True)
class EntityRow:
    """An entity from describe_entity, with its facts and relations, newest first.

    `revised` has the newest facts that were wrong. `given_type` is the word that a caller gave as
    the type, or None if it is one of the seven. `summary` quotes facts with their short ids.
    """

    id: UUID
    space: str
    name: str
    entity_type: str
    description: str | None
    observations: list[dict[str, Any]]
    total_observations: int
    outgoing: list[dict[str, Any]]
    incoming: list[dict[str, Any]]
    total_relations: int
    revised: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    aliases: list[str] = field(default_factory=list[str])
    given_type: str | None = None
    namesakes: list[str] = field(default_factory=list[str])
    summary: str | None = None


@dataclass(frozen=True)
class ListRow:
    """A page of list_entities, and the number of all entities that match."""

    total: int
    entities: list[dict[str, Any]]


@dataclass(frozen=True)
class NameRow:
    """A name from similar_names or complete_name."""

    entity_name: str


@dataclass(frozen=True)
class FactRow:
    """The fact that remember_fact stored, found or proposed.

    `closest` holds the id and the content of the close fact, if there is a close fact, and why the
    two disagree. A proposal has a `proposal_id` instead of the ids of an entity and a fact.
    `placed_before` is the id of the fact that `replaces` named, if the new fact begins before it
    and ends when it begins. If the entity has another type, `same_name` is a name for another
    thing, such as Jordan (person). `closed` holds the id and the content of each fact that this one
    ended, and why. `copies` has the ids of other facts that still say what was replaced. `period`
    is the period that was read from the text of a new fact, such as 2016/2021-03.
    """

    entity_id: UUID | None
    entity_name: str
    entity_type: str
    observation_id: UUID | None
    duplicate: bool
    updated: bool
    closest: dict[str, Any] | None
    proposal_id: UUID | None = None
    ended: bool | None = None
    placed_before: UUID | None = None
    same_name: str | None = None
    closed: list[dict[str, Any]] | None = None
    copies: list[UUID] | None = None
    period: str | None = None

    @property
    def id(self) -> UUID | None:
        """The id of the fact, or of the proposal."""
        return self.proposal_id or self.observation_id


@dataclass(frozen=True)
class BatchRow:
    """The counts of build_knowledge.

    `repeated` and `updated` list the positions of facts in the batch, counted from 0. An item of
    `closest` holds the position of a new fact, and the id and the content of its close fact.
    `ended` lists the positions of facts that have ended already. `periods` has the periods that
    were read from texts, by position.
    `proposals` has the ids of proposals, facts first, if the caller can only propose. An item of
    `closed` holds the position of a new fact, and the id and the content of a fact that it ended.
    """

    facts_created: int
    facts_duplicate: int
    relations_created: int
    repeated: list[int]
    updated: list[int]
    closest: list[dict[str, Any]] | None
    proposals: list[UUID] | None = None
    ended: list[int] | None = None
    same_names: list[str] | None = None
    closed: list[dict[str, Any]] | None = None
    copies: list[UUID] | None = None
    periods: dict[str, str] | None = None


@dataclass(frozen=True)
class EndedRow:
    """The relation that end_relation ended or found, with its two entities.

    `ended` holds the targets of the relations that ended.
    """

    relation_id: UUID | None
    created: bool
    from_id: UUID | None
    from_name: str
    from_stored_type: str
    to_id: UUID | None
    to_name: str
    to_stored_type: str
    ended: list[str] | None


@dataclass(frozen=True)
class RelationRow(EndedRow):
    """The relation that relate_entities stored, found or proposed, with its two entities.

    A proposal has a `proposal_id` instead of the other ids. If the new
    relation ends because a later one begins, `placed_before` is the target of the later one.
    `others` has the targets of valid relations that the new one contradicts.
    """

    proposal_id: UUID | None = None
    placed_before: str | None = None
    others: list[str] | None = None

    @property
    def id(self) -> UUID | None:
        """The id of the relation, or of the proposal."""
        return self.proposal_id or self.relation_id


@dataclass(frozen=True)
class ForgottenRow:
    """The counts of forget_entity. `entity_id` is None if there is no such entity.

    `plan` says what goes, to compare a dry run with the deletion. `documents` have the name of the
    entity, each after its graph, and stay.
    """

    entity_id: UUID | None
    entity_name: str | None
    observation_id: UUID | None
    facts: int | None
    relations: int | None
    sample: list[str] | None
    reflections: int | None = None
    relation_id: UUID | None = None
    plan: str | None = None
    documents: list[str] | None = None


@dataclass(frozen=True)
class StatisticsRow:
    """The counts of a memory. `bytes` is the size of the whole database."""

    entities: int
    facts: int
    valid_facts: int
    relations: int
    events: int
    bytes: int
    types: dict[str, int]
    models: list[dict[str, Any]]


@dataclass(frozen=True)
class ReportRow:
    """The row of memory_report about the last days. Times are ISO 8601. Costs are in tokens."""

    growth: list[dict[str, Any]]
    sources: dict[str, int]
    authors: list[dict[str, Any]]
    recalls: dict[str, Any]
    recall_days: list[dict[str, Any]]
    slowest: list[dict[str, Any]]
    stale: dict[str, Any]
    unanswered: dict[str, Any]
    llm: list[dict[str, Any]]
    proposals: list[dict[str, Any]]
