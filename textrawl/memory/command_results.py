"""Rows and results of the operations of commands. A terminal shows them, so they load quickly."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from textrawl.memory.fact_rows import EntityRow, ExplainedRow, HitRow, ReportRow, StatisticsRow

Keep = Literal["others", "own"]

State = Literal["pending", "accepted", "rejected", "withdrawn", "any"]

Decision = Literal["accept", "reject"]


@dataclass(frozen=True)
class WaitingProposal:
    """A proposal without a decision. `total` is the number of all of them."""

    id: UUID
    entity_name: str
    content: str
    total: int


@dataclass(frozen=True)
class RepositoryFact:
    """A fact that was stored in a repository. `anchors` are those of the session's repository."""

    observation_id: UUID
    space: str
    entity_name: str
    content: str
    repository: str
    author: str
    created_at: datetime
    anchors: list[str] | None = None


@dataclass(frozen=True)
class Here:
    """The newest facts of the repository of a session, or of all. `repository` is its first key.

    `proposals` are those that have waited longest for a decision.
    """

    repository: str | None
    rows: list[RepositoryFact]
    proposals: list[WaitingProposal]


@dataclass(frozen=True)
class SharedRow:
    """The counts of share_memories. `entity_id` is the entity in the target.

    `duplicate_facts` is the number of facts that were there before, or None for a caller who cannot
    read the target. `moved_facts` and `moved_relations` were taken away from the source.
    """

    entity_id: UUID | None
    entity_name: str
    shared_facts: int
    duplicate_facts: int | None
    relations: int
    moved_facts: int
    moved_relations: int
    sample: list[str] | None


@dataclass(frozen=True)
class RevisedRow:
    """The fact that revise_fact marked as wrong, and its successor.

    `content` is the text of the wrong fact, or None for a caller who cannot read. `duplicate` is
    true if the successor was a valid fact before. `repeated` is true if the same call came before.
    """

    entity_id: UUID
    entity_name: str
    observation_id: UUID
    content: str | None
    successor_id: UUID | None
    duplicate: bool | None
    repeated: bool


@dataclass(frozen=True)
class PinnedRow:
    """A fact that got a pin or lost it. `changed` is false if it was so before."""

    observation_id: UUID
    entity_name: str
    content: str
    changed: bool


@dataclass(frozen=True)
class PinProposedRow:
    """A fact that somebody proposed to pin. `proposal_id` is None if it is pinned."""

    entity_name: str
    observation_id: UUID
    proposal_id: UUID | None
    duplicate: bool


@dataclass(frozen=True)
class PinRow:
    """A pinned fact. `valid` is false if it is over. `author` has pinned it."""

    observation_id: UUID
    space: str
    entity_name: str
    content: str
    valid: bool
    author: str
    pinned_at: datetime


@dataclass(frozen=True)
class MergeRow:
    """The two entities of a merge and what moves.

    `merge_id` is None for a dry run. `collapsing` has up to 20 facts and relations that both
    entities have, or that connect the two.
    """

    merge_id: UUID | None
    kept_id: UUID
    kept_name: str
    kept_type: str
    merged_id: UUID
    merged_name: str
    merged_type: str
    facts: int
    relations: int
    duplicate_facts: int
    duplicate_relations: int
    collapsing: list[dict[str, Any]]


@dataclass(frozen=True)
class SplitRow:
    """The two entities of a split. `later` has the facts that were written since the merge."""

    merge_id: UUID
    kept_id: UUID
    kept_name: str
    merged_id: UUID
    merged_name: str
    facts: int
    relations: int
    later: list[dict[str, Any]]


@dataclass(frozen=True)
class NamedRow:
    """An entity and an alias that it got. `added` is false if it had the alias already."""

    entity_id: UUID
    entity_name: str
    stored_alias: str
    added: bool


@dataclass(frozen=True)
class UnnamedRow:
    """An entity and an alias that was removed from it."""

    entity_id: UUID
    entity_name: str
    stored_alias: str


@dataclass(frozen=True)
class DescribedRow:
    """An entity that got a description or another name."""

    entity_id: UUID
    entity_name: str


@dataclass(frozen=True)
class OwnRow:
    """The entity that the caller is in a space."""

    space: str
    entity_id: UUID
    entity_name: str
    entity_type: str


@dataclass(frozen=True)
class AliasRow:
    """An alias. `merged` is true if it is the former name of a merged entity."""

    space: str
    entity_name: str
    alias: str
    author: str
    merged: bool
    created_at: datetime


@dataclass(frozen=True)
class SamePair:
    """Two entities that can be one, with the score and the reasons for it."""

    space: str
    entity_id: UUID
    entity_name: str
    entity_type: str
    facts: int
    other_id: UUID
    other_name: str
    other_type: str
    other_facts: int
    score: float
    name_score: float
    shared_facts: int
    shared_relations: int
    cosine: float | None


_STAYS = {
    "event": "events that the person caused, without content",
    "archived_space": "rows, because this space is archived (open it with `textrawl space archive "
    "--restore`, then erase again)",
    "space_grant": "grants (`textrawl grant revoke` takes them back)",
    "space": "the name of the space (`textrawl space rename` changes it)",
    "encrypted_document": "encrypted documents, which nobody reads without their key (search for "
    "the person with `textrawl search --documents --space GRAPH`, and delete what names them with "
    "`textrawl document forget`)",
    "actor": "the name of the actor, which only the owner of the memory erases",
}
_THINGS = {
    "observation": "facts",
    "entity": "entities",
    "entity_alias": "aliases",
    "chunk": "parts of sources",
    "document_version": "versions of documents",
    "document_tombstone": "paths of deleted documents",
    "summary_clause": "clauses of summaries",
    "own_entity": "links of actors to entities",
    "undone": "rows that an undo keeps",
    "recall": "questions to the memory",
    "event": "events of the trail",
}
_WHOSE = {True: " by the person", False: " by others", None: ""}


@dataclass(frozen=True)
class ErasedFact:
    """One of the rows that an erasure deletes or redacts, such as a fact.

    `sample`, `entity_name` and `author` are None where the caller cannot read.
    """

    space_name: str
    action: Literal["delete", "redact"]
    kind: str
    key: str
    by_person: bool | None
    sample: str | None
    entity_name: str | None
    author: str | None
    total: int

    @property
    def things(self) -> str:
        """The kind in words."""
        return _THINGS.get(self.kind, f"{self.kind.replace('_', ' ')}s")


@dataclass(frozen=True)
class ErasurePlanRow:
    """A row of `erasure_plan`: rows of one kind that are deleted, redacted, or stay.

    `by_person` is None if the rows have no author. `fingerprint` is that of the plan of the space.
    """

    space_id: int
    space_name: str
    action: Literal["delete", "redact", "stay"]
    kind: str
    by_person: bool | None
    rows: int
    sample: list[str] | None
    fingerprint: str

    @property
    def sentence(self) -> str:
        """The row in words, such as "delete facts by others: 5"."""
        if self.action == "stay":
            return f"keep {_STAYS[self.kind]}: {self.rows:,}"
        deed = "delete" if self.action == "delete" else "take the name out of"
        things = _THINGS.get(self.kind, f"{self.kind.replace('_', ' ')}s")
        return f"{deed} {things}{_WHOSE[self.by_person]}: {self.rows:,}"


@dataclass(frozen=True)
class ErasedRow:
    """A row of `erase_person`: the number of rows of a space, and the signed receipt."""

    space_name: str
    rows: int
    receipt: dict[str, Any]


@dataclass(frozen=True)
class ProposalRow:
    """A proposal from list_proposals. `total` is the number of all proposals that match.

    `finding` is what `textrawl tidy` found, or pin, and `evidence` then its reason.

    `beside` has {id, content, why} for each stored fact that a pending proposal repeats, replaces
    or contradicts, and for the external fact that it pins. It is None if the caller cannot read
    the space or the proposal is decided.
    """

    id: UUID
    space_name: str
    kind: str
    entity_name: str
    entity_type: str | None
    content: str
    author_name: str
    client: str | None
    created_at: datetime
    state: str
    decided_at: datetime | None
    decided_by: str | None
    reason: str | None
    evidence: str | None
    finding: str | None
    observation_id: UUID | None
    relation_id: UUID | None
    beside: list[dict[str, Any]] | None
    total: int


@dataclass(frozen=True)
class PlannedRow:
    """The effect of accepting a proposal: new, repeats, replaces, merges, ends, pins or refused.

    `fault` says why it is refused. ended: the end of the fact has passed. gone: the fact that the
    proposal replaces, or the finding, is no longer there. pinned, full: see pin_fault().
    """

    id: UUID
    space_name: str
    author_name: str
    entity_name: str
    content: str
    outcome: str
    fault: str | None
    beside: list[dict[str, Any]]


@dataclass(frozen=True)
class DecidedRow:
    """A decided proposal, and the fact or relation that it became if it was accepted."""

    id: UUID
    state: str
    entity_name: str
    observation_id: UUID | None
    relation_id: UUID | None
    duplicate: bool


@dataclass(frozen=True)
class FindingRow:
    """A finding of tidy_memory. `proposal_id` is None in a dry run."""

    finding: str
    proposal_id: UUID | None
    entity_name: str
    content: str
    evidence: str


@dataclass(frozen=True)
class PlanRow:
    """A row of `plan_undo`: one step of an undo.

    `content` is the text of a fact, relation or reflection. `later_author` and `later_at` are the
    author and the time of what builds on a row that is kept. Merges and splits are kept too, with
    the name of the merged entity.
    """

    space_name: str
    action: str
    entity_name: str | None
    kind: str
    id: UUID
    content: str | None
    later_author: str | None
    later_at: datetime | None


@dataclass(frozen=True)
class ImportRow:
    """A row of `list_imports`: an import of another system. `items` is what it stored last.

    `undone` says that an undo took it back.
    """

    run: UUID
    space_name: str
    system: str
    author_name: str
    started_at: datetime
    finished_at: datetime | None
    items: int
    undone: bool


@dataclass(frozen=True)
class LanguageRow:
    """The row of `english_share`: the share of English, if it is known, and the active model."""

    share: float | None
    model: str | None


@dataclass(frozen=True)
class UndoRow:
    """A row of `undo_author`: how many items it changed in a space, for each action."""

    undo_id: int
    space_name: str
    removed: int
    revived: int
    reset: int
    moved: int
    retyped: int
    dropped: int
    lost: int
    kept: int


@dataclass(frozen=True)
class RevertedRow:
    """The row of `revert_undo`: the number of restored rows."""

    space_name: str
    restored: int


@dataclass(frozen=True)
class PurgedRow:
    """A row of `purge_undone`: how many undos it purged in a space, and how many of their rows."""

    space_name: str
    undos: int
    rows: int


@dataclass(frozen=True)
class EventRow:
    """An event of the trail. `read_events` with its `cursor` returns all later events.

    `other_name` is the entity to which a relation leads.
    """

    cursor: str
    at: datetime
    space_name: str
    author_name: str
    client: str | None
    tool: str
    request: str | None
    action: str
    entity_name: str | None
    entity_id: UUID | None
    observation_id: UUID | None
    relation_id: UUID | None
    other_name: str | None = None


@dataclass(frozen=True)
class EventFilter:
    """A filter of events. `entity` is a name. A field that is None accepts all events."""

    author: str | None = None
    entity: str | None = None
    action: str | None = None
    since: datetime | None = None


@dataclass(frozen=True)
class Absence:
    """The reason why an answer has no fact: words of the question that no fact has.

    `closest` is the name and the beginning of the fact that came closest, or None.
    """

    words: list[str]
    closest: str | None


@dataclass(frozen=True)
class Access:
    """The caller as the memory knows it, for `textrawl doctor`."""

    version: str
    actor: str
    reads: list[str]
    home: str | None
    scopes: list[str]


@dataclass(frozen=True)
class Found:
    """Rows of a search, and the reason why vectors were not used, or None.

    `several` is true if the rows can come from several spaces. `absence` says why there are no
    rows.
    """

    rows: list[HitRow]
    missing: str | None
    several: bool
    absence: Absence | None = None


@dataclass(frozen=True)
class Explained:
    """Rows of an explanation, and the reason why vectors were not used, or None.

    `time` has the tense and the period that the words of the question name: see read_time.
    """

    rows: list[ExplainedRow]
    missing: str | None
    time: dict[str, Any]


@dataclass(frozen=True)
class Described:
    """An entity. `several` is true if its facts can come from several spaces."""

    row: EntityRow
    several: bool


@dataclass(frozen=True)
class Report:
    """The contents of the memory now, and the row about the last `days`.

    `documents` and `chunks` are the numbers in graphs that the caller can read.
    """

    holdings: StatisticsRow
    recent: ReportRow
    days: int
    documents: int = 0
    chunks: int = 0


@dataclass(frozen=True)
class ListedEntity:
    """An entity of a list."""

    id: UUID
    space: str
    name: str
    entity_type: str
    description: str | None
    updated_at: datetime
    given_type: str | None


@dataclass(frozen=True)
class EntityPage:
    """Entities, last updated first, and the number of all that match."""

    total: int
    entities: list[ListedEntity]
