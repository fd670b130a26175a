"""Tools that report on the graph, find duplicates, and split large entities."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Self

from mcp.types import CallToolResult
from pydantic import BaseModel, Field, WithJsonSchema

from textrawl.memory.fact_rows import StatisticsRow
from textrawl.memory.graph_upkeep import (
    Analysis,
    ComparedRow,
    DonePart,
    PairPart,
    SizeRow,
    StalePart,
    analyse_nodes,
    find_large,
    measure_node,
    split_node,
    try_to_find_model,
)
from textrawl.scheduling import run_aside
from textrawl.tools.call import Call
from textrawl.tools.graph.replies import ListedReply, SnakeReply
from textrawl.tools.graph.tools import MOST_ITEMS, Text, graph
from textrawl.tools.toolset import READS, WRITES, Name, OptionalName
from textrawl.values.text import NAME_LENGTH
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
    row = await measure_node(call, entity_name)
    [analysis] = await analyse_nodes(call, [row])
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

    # Null is no object, and a schema with both is refused by some clients.
    proposal: Annotated[ProposalPart | None, WithJsonSchema({})] = None
    message: str | None = None
    dropped: int | None = None

    def structured(self) -> dict[str, Any]:
        """Return the content with the key `proposal` also if there is no proposal."""
        return {"proposal": None, **super().structured()}

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
    row = await measure_node(call, entity_name)
    [analysis] = await analyse_nodes(call, [row])
    if not analysis.needs_split:
        counts = f"{analysis.count} of at most {analysis.threshold} observations"
        message = f"{row.name} does not need a split: it has {counts}"
        return call.reply(ProposalReply(message=message))
    return await run_aside(call.reply, ProposalReply(proposal=_propose(row, analysis)))


def _propose(row: SizeRow, analysis: Analysis) -> ProposalPart:
    names = {
        topic: f"{row.name[: NAME_LENGTH - len(topic) - 3]} - {topic}" for topic in analysis.topics
    }
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


class ApprovedSplit(BaseModel):
    """A part of an entity that somebody agreed to move to a new entity."""

    name: Name
    entity_type: OptionalName = ""
    observations: list[Text]


class SplitDoneReply(SnakeReply):
    """The result of a split."""

    result: DonePart


@graph.tool(WRITES, SplitDoneReply)
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
        {"name": part.name, "type": part.entity_type or None, "observations": part.observations}
        for part in approved_splits
    ]
    del parent_entity_name  # unused, because the new entities are parts of `entity_name`
    return call.reply(SplitDoneReply(result=await split_node(call, entity_name, splits)))


class SplitCandidatesReply(SnakeReply):
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
        short = [part.model_copy(update={"topics": None}) for part in listed[detailed:]]
        kept = [*listed[:detailed], *short]
        dropped = len(self.candidates) - len(kept)
        changes = {"candidates": kept, "note": _note_split(kept), "dropped": dropped or None}
        return self.model_copy(update=changes)


def _note_split(parts: Sequence[AnalysisPart]) -> str | None:
    """Return a note if topics are missing, else None."""
    return None if all(part.topics is not None for part in parts) else _NOT_ALL


@graph.tool(READS, SplitCandidatesReply)
async def find_split_candidates(call: Call) -> CallToolResult:
    """List the entities that have too many observations."""
    rows = await find_large(call)
    parts = [AnalysisPart.build(row, analysis) for row, analysis in rows if analysis.needs_split]
    reply = SplitCandidatesReply(candidates=parts, note=_note_split(parts))
    return await run_aside(call.reply, reply)


_COSINE, _CONTAINMENT = 0.85, 0.7
Share = Annotated[float, Field(ge=0, le=1)]


class PairsReply(ListedReply):
    """Pairs of similar observations of an entity."""

    entity_name: str
    total_observations: int
    duplicate_pairs: list[PairPart]


@graph.tool(READS, PairsReply)
async def find_duplicate_observations(
    call: Call,
    entity_name: Name,
    threshold: Share = _COSINE,
    containment_threshold: Share = _CONTAINMENT,
) -> CallToolResult:
    """List pairs of an entity's observations that may say the same; changes nothing."""
    size = await measure_node(call, entity_name, most_texts=0)
    active = await call.store.models.find_active()
    pairs = await call.read(
        "similar_observations",
        PairPart,
        entity=entity_name,
        model=active.model_id,
        threshold=threshold,
        containment=containment_threshold,
    )
    reply = PairsReply(entity_name=size.name, total_observations=size.facts, duplicate_pairs=pairs)
    return await run_aside(call.reply, reply)


class SummaryPart(SnakePart):
    """The counts of the report."""

    total_entities: int
    total_observations: int
    split_candidates_count: int
    flagged_observations_count: int
    stale_entities_count: int
    large_entities_count: int


class FlaggedPart(SnakePart):
    """An observation that possibly repeats an earlier observation."""

    entity_name: str
    observation_text: str
    similarity_flag: int = 1


class LargePart(SnakePart):
    """A large entity that does not need a split."""

    entity_name: Annotated[str, Field(validation_alias="name")]
    entity_type: str
    observation_count: Annotated[int, Field(validation_alias="facts")]


class ReportReply(ListedReply):
    """A report of entities and observations to tidy."""

    summary: SummaryPart
    split_candidates: list[AnalysisPart]
    flagged_observations: list[FlaggedPart]
    stale_entities: list[StalePart]
    large_entities: list[LargePart]
    note: str | None = None

    @classmethod
    def build(
        cls,
        total: StatisticsRow,
        sized: Sequence[tuple[SizeRow, Analysis]],
        pairs: Sequence[PairPart],
        stale: Sequence[StalePart],
    ) -> Self:
        """Return the report. It flags the later observation of each pair.

        An entity that needs a split is not also listed as a large entity.
        """
        flagged = dict.fromkeys((pair.entity_name, pair.obs_text_b) for pair in pairs)
        splits = [row for row in sized if row[1].needs_split]
        large = [row for row, analysis in sized if not analysis.needs_split]
        summary = SummaryPart(
            total_entities=total.entities,
            total_observations=total.valid_facts,
            split_candidates_count=len(splits),
            flagged_observations_count=len(flagged),
            stale_entities_count=len(stale),
            large_entities_count=len(large),
        )
        return cls(
            summary=summary,
            split_candidates=[AnalysisPart.build(*row, with_topics=False) for row in splits],
            flagged_observations=[
                FlaggedPart(entity_name=name, observation_text=text) for name, text in flagged
            ],
            stale_entities=list(stale),
            large_entities=list(map(LargePart.model_validate, large)),
        )


def _list_notes(compared: ComparedRow, missing: str | None) -> Iterator[str]:
    """Yield a note if only words were compared, and one if only some observations were."""
    if missing:
        yield f"Only words were compared: {missing}"
    if compared.compared < compared.facts:
        yield (
            f"Compared with each other: {compared.compared} of {compared.facts} observations, the "
            "newest of the entities that were changed last. find_duplicate_observations compares "
            "the observations of one entity"
        )


@graph.tool(READS, ReportReply)
async def consolidation_report(
    call: Call, stale_days: Annotated[float, Field(ge=0, le=36_500)] = 90.0
) -> CallToolResult:
    """Report what might be tidied: too large, said twice, not looked at; changes nothing."""
    sized = await find_large(call)
    model, missing = await try_to_find_model(call.store)
    limits = {"threshold": _COSINE, "containment": _CONTAINMENT}
    pairs = await call.read("similar_observations", PairPart, entity=None, model=model, **limits)
    [compared] = await call.read("compared_observations", ComparedRow)
    stale = await call.read("stale_nodes", StalePart, stale_days=stale_days)
    home = call.caller.reading_home
    spaces = None if home["space"] is None else [home["space"]]
    total = await call.store.call_one(
        "memory_statistics", StatisticsRow, credential=home["credential"], spaces=spaces
    )
    reply = ReportReply.build(total, sized, pairs, stale)
    reply.note = "; ".join(_list_notes(compared, missing)) or None
    return await run_aside(call.reply, reply)
