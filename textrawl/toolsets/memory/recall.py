"""query_memory: the one tool that reads."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import Field

from textrawl.access import Caller
from textrawl.errors import EntityNameMissing, QueryMissing
from textrawl.memory import Memory, Question
from textrawl.toolsets import READS, App
from textrawl.toolsets.memory.answers import Answer, ListReply, SearchReply, read_reach
from textrawl.toolsets.memory.declaration import EntityType, Instant, OptionalName, Query, memory
from textrawl.toolsets.memory.profile import EntityReply

Mode = Literal["search", "entity", "list"]

_CLOSE = 75  # per cent of likeness (rapidfuzz WRatio) from which a name is worth naming
_MOST_CLOSE = 3
_MOST_FOUND, _MOST_LISTED = 50, 100
_LAST_OFFSET = 2**31 - 1  # what Postgres takes for an integer


@memory.tool(READS, SearchReply, EntityReply, ListReply, required=("mode",))
async def query_memory(
    ctx: Context[App],
    mode: Annotated[
        Mode | None, Field(description="find facts, look up one entity, or list entities")
    ] = None,
    query: Annotated[Query, Field(description="search: question or keywords")] = "",
    entityTypes: Annotated[list[EntityType] | None, Field(description="only these")] = None,
    searchMode: Annotated[
        Literal["hybrid", "semantic"], Field(description="semantic: by meaning alone")
    ] = "hybrid",
    entityName: Annotated[OptionalName, Field(description="entity: whom to look up")] = "",
    includeRelated: Annotated[bool, Field(description="entity: relations too")] = True,
    maxObs: Annotated[int, Field(ge=1, le=100, description="entity: most facts")] = 20,
    limit: Annotated[int, Field(description="most results; search 50, list 100")] = 10,
    offset: Annotated[int, Field(ge=0, description="list: how many to skip")] = 0,
    maxTokens: Annotated[
        int | None, Field(ge=50, le=25_000, description="size limit of the answer")
    ] = None,
    asOf: Annotated[Instant, Field(description="ISO date: what was valid then")] = None,
    includeIds: Annotated[bool, Field(description="ids of facts, to replace or forget")] = False,
) -> CallToolResult:
    """Recall what was remembered.

    Use it before you answer anything that may depend on earlier conversations, people, projects or
    preferences; not for general knowledge. Example: {"mode":"search","query":"what does Jeff
    prefer"}.
    """
    app: App = ctx.request_context.lifespan_context
    caller = await app.identify(ctx, "query_memory")
    types = list[str](entityTypes) if entityTypes else None
    reply: Answer
    chosen = mode or _infer_mode(query, entityName)
    match chosen:
        case "search":
            most = min(max(limit, 1), _MOST_FOUND)
            question = Question(query, types, asOf, most, searchMode == "semantic")
            reply = await _search(app.memory, question, caller, with_ids=includeIds)
        case "entity":
            asked = Asked(entityName, asOf, maxObs, includeRelated, includeIds)
            reply = await _look_up(app.memory, asked, caller)
        case "list":
            most, skipped = min(max(limit, 1), _MOST_LISTED), min(offset, _LAST_OFFSET)
            page = await app.memory.list_entities(
                types, caller, limit=most, offset=skipped, as_of=asOf
            )
            reply = ListReply.build(page, offset, read_reach(caller.principal))
    finding = reply.read_finding(query if chosen == "search" else entityName)
    return app.recall(caller, chosen, reply, maxTokens, finding)


def _infer_mode(query: str, entity_name: str) -> Mode:
    if query:
        return "search"
    return "entity" if entity_name else "list"


async def _search(
    memory: Memory, question: Question, caller: Caller, *, with_ids: bool
) -> SearchReply:
    if not question.query:
        raise QueryMissing
    rows, missing = await memory.search(question, caller)
    reach = read_reach(caller.principal)
    return SearchReply.build(rows, missing, question.query, with_ids=with_ids, reach=reach)


@dataclass(frozen=True)
class Asked:
    """What is asked of one entity."""

    name: str
    as_of: datetime | None
    max_observations: int
    with_relations: bool
    with_ids: bool


async def _look_up(memory: Memory, asked: Asked, caller: Caller) -> EntityReply:
    if not asked.name:
        raise EntityNameMissing
    row = await memory.describe(
        asked.name, caller, as_of=asked.as_of, max_observations=asked.max_observations,
        with_relations=asked.with_relations,
    )  # fmt: skip
    if row is None:
        return await _miss(memory, asked.name, caller)
    return EntityReply.build(
        row, with_relations=asked.with_relations, with_ids=asked.with_ids,
        reach=read_reach(caller.principal),
    )  # fmt: skip


async def _miss(memory: Memory, name: str, caller: Caller) -> EntityReply:
    """The reply where there is no such entity, with the names that are close."""
    from rapidfuzz import process, utils  # noqa: PLC0415 - most callers know their names

    known = await memory.find_similar_names(name, caller)
    close = process.extract(
        name, known, processor=utils.default_process, limit=_MOST_CLOSE, score_cutoff=_CLOSE
    )
    return EntityReply.miss([found for found, *_ in close])
