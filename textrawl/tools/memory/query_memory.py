"""query_memory: the only tool of the toolset that reads."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.access.principal import Caller
from textrawl.errors import ArgumentInvalid, EntityNameMissing, QueryMissing
from textrawl.memory.fact_rows import EVER
from textrawl.memory.facts import MemoryOperations
from textrawl.memory.questions import Question, Sources, Times
from textrawl.memory.speaker import SPEAKER, find_speaker
from textrawl.tools.call import Call
from textrawl.tools.memory.entity_reply import EntityReply
from textrawl.tools.memory.search_replies import (
    Answer,
    FactLayout,
    ListReply,
    SearchReply,
    find_for_program,
    find_space_labels,
)
from textrawl.tools.memory.tools import (
    AsOf,
    Instant,
    LeastScore,
    PastInstant,
    Query,
    SearchSource,
    WantedType,
    memory,
)
from textrawl.tools.toolset import READS, OptionalName
from textrawl.values.text import (
    LEAST_TOKENS,
    MOST_FACTS,
    MOST_TOKENS,
    QUERY_LENGTH,
    SUMMARY_TOKENS,
)
from textrawl.values.times import write_day
from textrawl.wire.replies import NOTHING

Mode = Literal["search", "entity", "list"]

_MOST_LISTED = 100
_LAST_OFFSET = 2**31 - 1  # the largest integer of Postgres


_ALIASES = {"q": "query", "question": "query", "entity": "entityName", "name": "entityName",
            "entityType": "entityTypes", "types": "entityTypes"}  # fmt: skip


@memory.tool(READS, SearchReply, EntityReply, ListReply, required=("mode",), aliases=_ALIASES)
async def query_memory(
    call: Call,
    mode: Annotated[
        Mode | None, Field(description="find facts, look up one entity, or list entities")
    ] = None,
    query: Annotated[Query, Field(description="question or keywords")] = "",
    sources: Annotated[list[SearchSource] | None, Field(description="search: default all")] = None,
    entityTypes: list[WantedType] | None = None,
    searchMode: Annotated[
        Literal["hybrid", "semantic"], Field(description="semantic: by meaning alone")
    ] = "hybrid",
    entityName: OptionalName = "",
    includeRelated: bool = True,
    maxObs: Annotated[int, Field(ge=1, le=100, description="entity: most facts")] = 20,
    minScore: LeastScore = None,
    limit: Annotated[int, Field(description="most results; search 50, list 100")] = 10,
    offset: Annotated[int, Field(ge=0, description="list, entity")] = 0,
    maxTokens: Annotated[int | None, Field(ge=LEAST_TOKENS, le=MOST_TOKENS)] = None,
    asOf: Annotated[AsOf, Field(description="ISO date or ever: valid then")] = None,
    since: Annotated[PastInstant, Field(description="ISO date: said from then")] = None,
    until: Instant = None,
    includeIds: Annotated[bool, Field(description="to replace or forget")] = False,
    dates: Annotated[bool, Field(description="day of each fact")] = False,
) -> CallToolResult:
    """Recall what was remembered.

    Use it before you answer anything that may depend on earlier conversations, people, projects or
    preferences; not for general knowledge. Example: {"mode":"search","query":"what does Jeff
    prefer"}.
    """
    if since and until and until < since:
        raise ArgumentInvalid("until must not be before since", title="Empty period")
    operations, times = MemoryOperations(call.store), Times(asOf, since, until)
    types = list[str](entityTypes) if entityTypes else None
    labels = find_space_labels(call.caller.principal)
    layout = FactLayout(labels, includeIds, dates, with_periods=asOf == EVER)
    skipped = min(offset, _LAST_OFFSET)
    reply: Answer
    inferred: Mode = "search" if query else "entity" if entityName else "list"
    used_mode = mode or inferred
    match used_mode:
        case "search":
            max_rows = min(max(limit, 1), MOST_FACTS)
            semantic = searchMode == "semantic"
            documents = sources or call.caller.principal.readable_graphs
            chosen = _choose_sources(call, sources, types) if documents else None
            question = Question(query, types, times, max_rows, semantic, minScore, chosen)
            reply = await _search(call, operations, question, layout)
        case "entity":
            budget = maxTokens or call.settings.max_recall_tokens
            lookup = Lookup(entityName, times, maxObs, skipped, includeRelated, budget)
            reply = await _look_up(operations, lookup, call.caller, layout)
        case "list":
            max_rows = min(max(limit, 1), _MOST_LISTED)
            page = await operations.list_entities(
                types, call.caller, limit=max_rows, offset=skipped, times=times
            )
            reply = ListReply.build(page, offset, layout.labels)
    finding = NOTHING
    if call.app.recalls is not None:
        finding = reply.read_finding(query if used_mode == "search" else entityName)
    return call.recall(used_mode, reply, maxTokens, finding)


def _choose_sources(
    call: Call, sources: list[SearchSource] | None, types: list[str] | None
) -> Sources | None:
    """Return the documents to search, by default all that the caller can read, or None."""
    if not sources:
        return Sources.find_all(call.caller.principal, call.settings)
    if "documents" not in sources:
        return None
    if types:
        raise ArgumentInvalid(
            "documents have no type: leave out entityTypes, or search only facts",
            title="entityTypes is only for facts",
        )
    facts = "facts" in sources
    return Sources(call.graphs, call.settings.max_recall_tokens, facts, whole=not facts)


async def _search(
    call: Call, memory: MemoryOperations, question: Question, layout: FactLayout
) -> SearchReply:
    if not question.query:
        raise QueryMissing
    caller, program = call.caller, call.program
    if program is not None:
        authors = call.settings.digest_authors
        return await find_for_program(memory, question, caller, program, authors, layout)
    if len(question.query) > QUERY_LENGTH:
        question = await memory.condense(question, caller)
    rows, reason = await memory.search(question, caller)
    if len(rows) > 1 and not (layout.with_ids or layout.with_dates):
        told = [
            (str(row.observation_id), str(row.entity_id), row.content, write_day(row.said_at))
            for row in rows
            if row.content and not (row.relation_id or row.document_id)
        ]
        layout = replace(layout, dated=await memory.find_disagreeing(told))
    reply = SearchReply.build(rows, reason, question.query, layout)
    if rows:
        return reply
    absence = await memory.explain_absence(question, caller)
    return reply.explain(absence, of_all=question.covers_every_fact)


@dataclass(frozen=True)
class Lookup:
    """A look-up of one entity. The `skip` newest facts are left out. `budget` is in tokens."""

    name: str
    times: Times
    max_observations: int
    skip: int
    related: bool
    budget: int

    @property
    def with_relations(self) -> bool:
        """True on the first page if relations were requested. Later pages would repeat them."""
        return self.related and self.skip == 0


async def _look_up(
    memory: MemoryOperations, lookup: Lookup, caller: Caller, layout: FactLayout
) -> EntityReply:
    if not lookup.name:
        raise EntityNameMissing
    if lookup.name.casefold() in SPEAKER:
        name, _ = await find_speaker(lookup.name, memory.store, caller)
        lookup = replace(lookup, name=name)
    row = await memory.describe(
        lookup.name,
        caller,
        max_observations=lookup.max_observations,
        with_relations=lookup.with_relations,
        skip=lookup.skip,
        times=lookup.times,
    )
    if row is None:
        reply = EntityReply.report_missing(await memory.suggest_names(lookup.name, caller))
    else:
        related = lookup.with_relations
        if lookup.budget < 2 * SUMMARY_TOKENS:  # facts are worth more
            row = replace(row, summary=None)
        if not (layout.with_ids or layout.with_dates):
            told = [(f["id"], "", f["content"], f["said_at"][:10]) for f in row.observations]
            layout = replace(layout, dated=await memory.find_disagreeing(told))
        reply = EntityReply.build(row, layout, with_relations=related, skipped=lookup.skip)
    if lookup.skip or lookup.times.as_of:
        return reply
    limit = lookup.max_observations
    return reply.add_proposals(await memory.list_own_proposals(lookup.name, caller, limit=limit))
