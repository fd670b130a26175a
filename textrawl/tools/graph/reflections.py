"""Tools that search by meaning, end relations, and store and find reflections."""

import re
from typing import Annotated, Literal, Self

from mcp.types import CallToolResult
from pydantic import BeforeValidator, Field

from textrawl.errors import ArgumentInvalid, TextrawlError
from textrawl.memory.graph import (
    DeletedReflectionRow,
    EndedEdgeRow,
    RankedRow,
    ReflectionPart,
    StoredReflectionRow,
    record_use,
)
from textrawl.tools.call import Call
from textrawl.tools.graph.replies import DoneReply, SnakeReply, reply_plainly
from textrawl.tools.graph.tools import MOST_ITEMS, Query, graph
from textrawl.tools.toolset import CLEAN_FACT, DELETES, READS, WRITES, OptionalName
from textrawl.values.names import check_id
from textrawl.wire.columns import ROUNDED, SIX_DIGITS
from textrawl.wire.replies import SnakePart

Limit = Annotated[int, Field(ge=1, le=50)]

_DIGITS = re.compile(r"[0-9]+")


def _refuse_foreign_id(value: object) -> object:
    if isinstance(value, str) and not value.strip().lstrip("+-").isdecimal():
        check_id(value, "entity, relation or reflection", _DIGITS)
    return value


Number = Annotated[int, Field(ge=0, le=2**48 - 1), BeforeValidator(_refuse_foreign_id)]
Target = Literal["entity", "session", "relation", "global"]


class ScoringPart(SnakePart):
    """The factors, besides relevance, that decide the order of the entities."""

    importance: Annotated[float, ROUNDED]
    temporal_factor: Annotated[float, ROUNDED, Field(validation_alias="temporal")]
    cooc_boost: Annotated[float, ROUNDED, Field(validation_alias="cooc")]


class RankedPart(SnakePart):
    """An entity that a search found."""

    id: Annotated[int, Field(validation_alias="number")]
    name: str
    entityType: Annotated[str, Field(validation_alias="entity_type")]  # noqa: N815 - the wire's
    observations: list[str]
    limbic_score: Annotated[float, ROUNDED]
    scoring: ScoringPart
    distance: Annotated[float | None, ROUNDED]
    rrf_score: Annotated[float | None, SIX_DIGITS, Field(validation_alias="rrf")]


class RankedReply(SnakeReply):
    """Entities that a search found, best first."""

    results: list[RankedPart]
    dropped: int | None = None

    def size(self) -> int:
        """Return the number of entities and observations."""
        return sum(1 + len(part.observations) for part in self.results)

    def choose(self, count: int) -> Self:
        """Return a copy with the best entities. The last entity can lose its newest observations.

        Each entity and each observation is one of the `count` items.
        """
        results, left = list[RankedPart](), count
        for part in self.results:
            if left <= 0:
                break
            kept = part.observations[: left - 1]
            results.append(part.model_copy(update={"observations": kept}))
            left -= 1 + len(part.observations)
        return self.cut(self.size() - count, results=results)


@graph.tool(READS, RankedReply)
async def search_semantic(call: Call, query: Query, limit: Limit = 10) -> CallToolResult:
    """Find entities by meaning; what is looked at often and lately ranks higher.

    Example: {"query":"web framework for documentation sites"}.
    """
    rows = await call.search("search_semantic", RankedRow, query, "vector", max_rows=limit)
    if call.app.recalls is not None:
        await record_use(call, [row.number for row in rows])
    return call.recall("search", RankedReply(results=[*map(RankedPart.model_validate, rows)]))


class EndedReply(SnakeReply):
    """The result in a sentence."""

    result: str


@graph.tool(WRITES, EndedReply)
async def end_relation(
    call: Call,
    relation_id: Annotated[Number, Field(description="from open_nodes with includeIds")],
) -> CallToolResult:
    """End a relation that is true no more, and keep that it was; contains and part_of as a pair."""
    row = await call.write_one("end_edge", EndedEdgeRow, number=relation_id)
    if row.outcome == "missing":
        raise TextrawlError(
            "open_nodes with includeIds shows the ids of relations", title="Relation not found"
        )
    outcome = "expired successfully" if row.outcome == "ended" else "had expired already"
    inverse = f", with its inverse {row.inverse}" if row.inverse is not None else ""
    return call.reply(EndedReply(result=f"Relation {relation_id} {outcome}{inverse}"))


class ReflectionReply(SnakeReply):
    """The reflection that was stored."""

    result: ReflectionPart


Prose = Annotated[str, CLEAN_FACT, Field(min_length=1, max_length=10_000)]


@graph.tool(WRITES, ReflectionReply)
async def add_reflection(
    call: Call,
    target_type: Target,
    content: Prose,
    author: OptionalName = "",
    mood: OptionalName = "",
    target_id: Annotated[Number | None, Field(description="of the entity or relation")] = None,
) -> CallToolResult:
    """Keep a thought in prose about an entity, a relation, this session, or everything.

    Example: {"target_type":"session","content":"The outage taught us to test restores."}.
    """
    if (target_id is None) == (target_type in ("entity", "relation")):
        verb = "needs" if target_id is None else "does not take"
        raise ArgumentInvalid(f"target_id: the target {target_type} {verb} a target_id")
    writer = call.caller.principal.actor
    model, vector, _ = await call.store.embed_query(content)
    row = await call.write_one(
        "add_reflection",
        StoredReflectionRow,
        target_type,
        content=content,
        target_type=target_type,
        target=target_id,
        voice=author or writer,
        mood=mood or None,
        model=model,
        embedding=vector,
    )
    part = ReflectionPart(
        id=row.number,
        target_type=target_type,
        target_id=target_id,
        author=writer,
        voice=author or None,
        content=content,
        mood=mood or None,
        created_at=row.created_at,
    )
    return call.reply(ReflectionReply(result=part))


class ReflectionsReply(SnakeReply):
    """Reflections that a search found, best first."""

    items = ("results",)

    results: list[ReflectionPart]
    dropped: int | None = None


@graph.tool(READS, ReflectionsReply)
async def search_reflections(
    call: Call,
    query: Query,
    author: OptionalName = "",
    mood: OptionalName = "",
    target_type: Target | None = None,
    limit: Limit = 10,
) -> CallToolResult:
    """Find thoughts that add_reflection kept, by words and meaning. Example: {"query":"outage"}."""
    found = await call.search(
        "search_reflections",
        ReflectionPart,
        query,
        voice=author or None,
        mood=mood or None,
        target_type=target_type,
        max_rows=limit,
    )
    for part in found:
        part.voice = None if part.voice == part.author else part.voice
    return call.reply(ReflectionsReply(results=found))


@graph.tool(DELETES, DoneReply)
async def delete_reflections(
    call: Call,
    reflection_ids: Annotated[list[Number], Field(min_length=1, max_length=MOST_ITEMS)],
) -> CallToolResult:
    """Delete reflections for good, by the ids that search_reflections tells."""
    rows = await call.write("delete_reflections", DeletedReflectionRow, numbers=reflection_ids)
    deleted = sum(row.deleted for row in rows)
    return reply_plainly(call, DoneReply(message=f"Deleted {deleted} of {len(rows)} reflections"))
