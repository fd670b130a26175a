"""analyze_entity_split, propose_entity_split, execute_entity_split, find_split_candidates."""

from collections.abc import Sequence
from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from textrawl.scheduling.workers import run_aside
from textrawl.toolsets.call import Call
from textrawl.toolsets.graph.declaration import MOST_ITEMS, Name, OptionalName, Text, graph
from textrawl.toolsets.graph.maintenance_operations import MaintenanceOperations, Split
from textrawl.toolsets.graph.rows import SizeRow
from textrawl.toolsets.graph.snake_case_replies import SnakeReply
from textrawl.toolsets.graph.topics import Analysis
from textrawl.toolsets.toolset import READS, WRITES
from textrawl.values.limits import NAME_LENGTH
from textrawl.wire.replies import SnakePart

# The Spanish relation names of an earlier graph server, kept for its users.
CONTAINS, PART_OF = "contiene", "parte_de"
_NOT_ALL = "Topics of the first entities only: analyze_entity_split has the topics of one entity"


class AnalysisPart(SnakePart):
    """The size and the topics of an entity."""

    entity_name: str
    entity_type: str
    observation_count: int
    threshold: int
    needs_split: bool
    topics: dict[str, list[str]] | None = None
    split_score: float

    @classmethod
    def build(cls, row: SizeRow, analysis: Analysis, *, with_topics: bool = True) -> Self:
        """Return the part for `row` and its `analysis`."""
        return cls(
            entity_name=row.name,
            entity_type=row.entity_type,
            observation_count=analysis.count,
            threshold=analysis.threshold,
            needs_split=analysis.needs_split,
            topics=analysis.topics if with_topics and row.observations else None,
            split_score=round(analysis.score, 4),
        )


class AnalysisReply(SnakeReply):
    """The analysis of an entity. Topics that do not fit the budget are left out."""

    analysis: AnalysisPart
    dropped: int | None = None

    def size(self) -> int:
        """Return the number of observations in all topics."""
        return sum(map(len, (self.analysis.topics or {}).values()))

    def choose(self, count: int) -> Self:
        """Return a copy with the first `count` observations, topic by topic."""
        kept, left = dict[str, list[str]](), count
        for name, texts in (self.analysis.topics or {}).items():
            if left > 0:
                kept[name] = texts[:left]
                left -= len(texts)
        shorter = self.analysis.model_copy(update={"topics": kept})
        dropped = self.size() - count
        return self.model_copy(update={"analysis": shorter, "dropped": dropped or None})


@graph.tool(READS, AnalysisReply)
async def analyze_entity_split(call: Call, entity_name: Name) -> CallToolResult:
    """Tell whether an entity has too many observations, and what topics they fall into."""
    row, analysis = await MaintenanceOperations(call.store).measure(entity_name, call.caller)
    reply = AnalysisReply(analysis=AnalysisPart.build(row, analysis))
    return await run_aside(call.reply, reply)


class EntityPart(SnakePart):
    """The name and type of an entity."""

    name: str
    entity_type: str


class SplitPart(SnakePart):
    """A new entity, and the observations to move to it."""

    name: str
    entity_type: str
    observations: list[str]


class LinkPart(SnakePart):
    """A new relation."""

    source: Annotated[str, Field(alias="from")]
    to: str
    type: str


class CountPart(SnakePart):
    """The figures of an analysis."""

    observation_count: int
    threshold: int
    split_score: float
    num_topics: int


class ProposalPart(SnakePart):
    """A proposal to split an entity."""

    original_entity: EntityPart
    suggested_splits: list[SplitPart]
    relations_to_create: list[LinkPart]
    analysis: CountPart


class ProposalReply(SnakeReply):
    """A proposal, or a message that says why the entity does not need a split."""

    proposal: ProposalPart | None = None
    message: str | None = None
    dropped: int | None = None

    def size(self) -> int:
        """Return the number of proposed entities."""
        return len(self.proposal.suggested_splits) if self.proposal else 0

    def choose(self, count: int) -> Self:
        """Return a copy with the first `count` new entities. A later call proposes the rest."""
        if self.proposal is None:
            return self
        kept = {
            "suggested_splits": self.proposal.suggested_splits[:count],
            "relations_to_create": self.proposal.relations_to_create[: 2 * count],
        }
        dropped = self.size() - count
        shorter = self.proposal.model_copy(update=kept)
        return self.model_copy(update={"proposal": shorter, "dropped": dropped or None})


@graph.tool(READS, ProposalReply)
async def propose_entity_split(call: Call, entity_name: Name) -> CallToolResult:
    """Propose how to split an entity that is too large, by topic; changes nothing."""
    row, analysis = await MaintenanceOperations(call.store).measure(entity_name, call.caller)
    if not analysis.needs_split:
        counts = f"{analysis.count} of at most {analysis.threshold} observations"
        message = f"{row.name} does not need a split: it has {counts}"
        return call.reply(ProposalReply(message=message))
    return await run_aside(call.reply, ProposalReply(proposal=_propose(row, analysis)))


def _propose(row: SizeRow, analysis: Analysis) -> ProposalPart:
    names = {topic: _name_part(row.name, topic) for topic in analysis.topics}
    links: list[LinkPart] = []
    for name in names.values():
        links.append(LinkPart(source=row.name, to=name, type=CONTAINS))
        links.append(LinkPart(source=name, to=row.name, type=PART_OF))
    return ProposalPart(
        original_entity=EntityPart(name=row.name, entity_type=row.entity_type),
        suggested_splits=[
            SplitPart(name=names[topic], entity_type=row.entity_type, observations=texts)
            for topic, texts in analysis.topics.items()
        ],
        relations_to_create=links,
        analysis=CountPart(
            observation_count=analysis.count,
            threshold=analysis.threshold,
            split_score=round(analysis.score, 4),
            num_topics=len(analysis.topics),
        ),
    )


def _name_part(entity: str, topic: str) -> str:
    return f"{entity[: NAME_LENGTH - len(topic) - 3]} - {topic}"


class ApprovedSplit(BaseModel):
    """A part of an entity that somebody agreed to move to a new entity."""

    name: Name
    entity_type: OptionalName = ""
    observations: list[Text]


class DonePart(SnakePart):
    """The new entities and the counts of a split."""

    new_entities: list[str]
    moved_observations: int
    relations_created: int
    original_observations_remaining: int


class DoneReply(SnakeReply):
    """The result of a split."""

    result: DonePart


@graph.tool(WRITES, DoneReply)
async def execute_entity_split(
    call: Call,
    entity_name: Name,
    approved_splits: Annotated[list[ApprovedSplit], Field(min_length=1, max_length=MOST_ITEMS)],
    parent_entity_name: OptionalName = "",
) -> CallToolResult:
    """Move observations of an entity to others and relate them, all or nothing.

    Takes what propose_entity_split suggested and somebody approved.
    """
    splits = [
        Split(split.name, split.entity_type or None, split.observations)
        for split in approved_splits
    ]
    del parent_entity_name  # unused, because the new entities are parts of `entity_name`
    row = await MaintenanceOperations(call.store).split(entity_name, splits, call.caller)
    done = DonePart(
        new_entities=row.names,
        moved_observations=row.moved,
        relations_created=row.related,
        original_observations_remaining=row.remaining,
    )
    return call.reply(DoneReply(result=done))


class CandidatesReply(SnakeReply):
    """Entities that need a split, largest first. Topics that do not fit the budget are left out."""

    candidates: list[AnalysisPart]
    note: str | None = None
    dropped: int | None = None

    def size(self) -> int:
        """Return twice the number of entities: an entity and its topics are two items."""
        return 2 * len(self.candidates)

    def choose(self, count: int) -> Self:
        """Return a copy with the first entities.

        If `count` allows more than all entities, the first entities also keep their topics.
        """
        listed = self.candidates[:count]
        detailed = max(count - len(self.candidates), 0)
        kept = [*listed[:detailed], *map(_drop_topics, listed[detailed:])]
        dropped = len(self.candidates) - len(kept)
        changes = {"candidates": kept, "note": _note(kept), "dropped": dropped or None}
        return self.model_copy(update=changes)


def _drop_topics(part: AnalysisPart) -> AnalysisPart:
    return part.model_copy(update={"topics": None})


def _note(parts: Sequence[AnalysisPart]) -> str | None:
    """Return a note if topics are missing, else None."""
    return None if all(part.topics is not None for part in parts) else _NOT_ALL


@graph.tool(READS, CandidatesReply)
async def find_split_candidates(call: Call) -> CallToolResult:
    """List the entities that have too many observations."""
    rows = await MaintenanceOperations(call.store).find_large(call.caller)
    parts = [AnalysisPart.build(row, analysis) for row, analysis in rows if analysis.needs_split]
    reply = CandidatesReply(candidates=parts, note=_note(parts))
    return await run_aside(call.reply, reply)
