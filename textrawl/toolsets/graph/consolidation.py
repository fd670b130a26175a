"""find_duplicate_observations, consolidation_report: the tools that report and change nothing."""

from collections.abc import Sequence
from typing import Annotated, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.scheduling.workers import run_aside
from textrawl.store.rows import StatisticsRow
from textrawl.toolsets.call import Call
from textrawl.toolsets.graph.declaration import Name, graph
from textrawl.toolsets.graph.maintenance_operations import MaintenanceOperations
from textrawl.toolsets.graph.rows import ComparedRow, PairRow, SizeRow, StaleRow
from textrawl.toolsets.graph.snake_case_replies import ListedReply
from textrawl.toolsets.graph.splits import AnalysisPart
from textrawl.toolsets.graph.topics import Analysis
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import SnakePart

_COSINE, _CONTAINMENT = 0.85, 0.7
Share = Annotated[float, Field(ge=0, le=1)]


class PairPart(SnakePart):
    """Two observations that possibly state the same thing."""

    obs_text_a: str
    obs_text_b: str
    similarity_score: float
    match_type: str


class PairsReply(ListedReply):
    """Pairs of similar observations of an entity."""

    entity_name: str
    total_observations: int
    duplicate_pairs: list[PairPart]

    @classmethod
    def build(cls, size: SizeRow, rows: Sequence[PairRow]) -> Self:
        """Return the reply with the pairs in `rows`. `size` is the entity's row."""
        pairs = [
            PairPart(
                obs_text_a=row.one,
                obs_text_b=row.other,
                similarity_score=round(row.similarity, 4),
                match_type=row.match_type,
            )
            for row in rows
        ]
        return cls(entity_name=size.name, total_observations=size.facts, duplicate_pairs=pairs)


@graph.tool(READS, PairsReply)
async def find_duplicate_observations(
    call: Call,
    entity_name: Name,
    threshold: Share = _COSINE,
    containment_threshold: Share = _CONTAINMENT,
) -> CallToolResult:
    """List pairs of an entity's observations that may say the same; changes nothing."""
    operations = MaintenanceOperations(call.store)
    size = await operations.count(entity_name, call.caller)
    rows = await operations.find_similar(entity_name, threshold, containment_threshold, call.caller)
    return await run_aside(call.reply, PairsReply.build(size, rows))


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


class StalePart(SnakePart):
    """An entity that was not used lately.

    `last_accessed_days_ago` is None if the entity was never used.
    """

    entity_name: str
    entity_type: str
    last_accessed_days_ago: int | None
    access_count: int
    observation_count: int

    @classmethod
    def build(cls, row: StaleRow) -> Self:
        """Return the part for `row`, with whole days."""
        return cls(
            entity_name=row.name,
            entity_type=row.entity_type,
            last_accessed_days_ago=None if row.days is None else int(row.days),
            access_count=row.uses,
            observation_count=row.facts,
        )


class LargePart(SnakePart):
    """A large entity that does not need a split."""

    entity_name: str
    entity_type: str
    observation_count: int

    @classmethod
    def build(cls, row: SizeRow) -> Self:
        """Return the part for `row`."""
        return cls(entity_name=row.name, entity_type=row.entity_type, observation_count=row.facts)


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
        pairs: Sequence[PairRow],
        compared: ComparedRow,
        stale: Sequence[StaleRow],
    ) -> Self:
        """Return the report. It flags the later observation of each pair.

        An entity that needs a split is not also listed as a large entity.
        """
        flagged = dict.fromkeys((row.entity_name, row.other) for row in pairs)
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
            stale_entities=list(map(StalePart.build, stale)),
            large_entities=list(map(LargePart.build, large)),
            note=_note(compared),
        )


def _note(compared: ComparedRow) -> str | None:
    """Return a note if only some of the observations were compared, else None."""
    if compared.compared >= compared.facts:
        return None
    return (
        f"Compared with each other: {compared.compared} of {compared.facts} observations, the "
        "newest of the entities that were changed last. find_duplicate_observations compares the "
        "observations of one entity"
    )


@graph.tool(READS, ReportReply)
async def consolidation_report(
    call: Call, stale_days: Annotated[float, Field(ge=0, le=36_500)] = 90.0
) -> CallToolResult:
    """Report what might be tidied: too large, said twice, not looked at; changes nothing."""
    operations = MaintenanceOperations(call.store)
    sized = await operations.find_large(call.caller)
    pairs = await operations.find_similar(None, _COSINE, _CONTAINMENT, call.caller)
    compared = await operations.count_compared(call.caller)
    stale = await operations.find_stale(stale_days, call.caller)
    total = await operations.count_all(call.caller)
    reply = ReportReply.build(total, sized, pairs, compared, stale)
    return await run_aside(call.reply, reply)
