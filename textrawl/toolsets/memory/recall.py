"""query_memory: the one tool that reads."""

from typing import Annotated, Literal

from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import Field
from rapidfuzz import process, utils

from textrawl.errors import EntityNameMissing, QueryMissing
from textrawl.memory import Memory, Question
from textrawl.toolsets import READS, App
from textrawl.toolsets.memory.answers import Answer, ListReply, SearchReply
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
    types = list[str](entityTypes) if entityTypes else None
    reply: Answer
    chosen = mode or _infer_mode(query, entityName)
    match chosen:
        case "search":
            most = min(max(limit, 1), _MOST_FOUND)
            question = Question(query, types, asOf, most, searchMode == "semantic")
            reply = await _search(app.memory, question, with_ids=includeIds)
        case "entity":
            shown = {"with_relations": includeRelated, "with_ids": includeIds}
            row = await app.memory.describe(
                _require_name(entityName),
                as_of=asOf,
                max_observations=maxObs,
                with_relations=includeRelated,
            )
            reply = EntityReply.build(row, **shown) if row else await _miss(app.memory, entityName)
        case "list":
            most, skipped = min(max(limit, 1), _MOST_LISTED), min(offset, _LAST_OFFSET)
            page = await app.memory.list_entities(types, limit=most, offset=skipped, as_of=asOf)
            reply = ListReply.build(page, offset)
    return app.recall(ctx, chosen, reply, maxTokens)


def _infer_mode(query: str, entity_name: str) -> Mode:
    if query:
        return "search"
    return "entity" if entity_name else "list"


def _require_name(name: str) -> str:
    if not name:
        raise EntityNameMissing
    return name


async def _search(memory: Memory, question: Question, *, with_ids: bool) -> SearchReply:
    if not question.query:
        raise QueryMissing
    rows, missing = await memory.search(question)
    return SearchReply.build(rows, missing, question.query, with_ids=with_ids)


async def _miss(memory: Memory, name: str) -> EntityReply:
    """The reply where there is no such entity, with the names that are close."""
    known = await memory.find_similar_names(name)
    close = process.extract(
        name, known, processor=utils.default_process, limit=_MOST_CLOSE, score_cutoff=_CLOSE
    )
    return EntityReply.miss([found for found, *_ in close])
