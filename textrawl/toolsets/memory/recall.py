"""query_memory: the one tool that reads."""

from datetime import datetime
from typing import Annotated, Literal

from mcp.server.mcpserver.context import Context
from mcp.types import CallToolResult
from pydantic import Field
from rapidfuzz import process, utils

from textrawl.errors import EntityNameMissing, QueryMissing
from textrawl.memory import Question
from textrawl.toolsets import READS, App
from textrawl.toolsets.memory.answers import ListReply, SearchReply
from textrawl.toolsets.memory.declaration import EntityType, Instant, OptionalName, Query, memory
from textrawl.toolsets.memory.profile import EntityReply

_CLOSE = 75  # per cent of likeness (rapidfuzz WRatio) from which a name is worth naming
_MOST_CLOSE = 3
_MOST_FOUND, _MOST_LISTED = 50, 100


@memory.tool(READS, SearchReply, EntityReply, ListReply, required=("mode",))
async def query_memory(
    ctx: Context[App],
    mode: Annotated[
        Literal["search", "entity", "list"] | None,
        Field(description="search by meaning and keywords, look up one entity, or list entities"),
    ] = None,
    query: Annotated[Query, Field(description="search: a question or keywords")] = "",
    entityTypes: Annotated[list[EntityType] | None, Field(description="only these types")] = None,
    searchMode: Annotated[
        Literal["hybrid", "semantic"], Field(description="semantic: meaning alone")
    ] = "hybrid",
    entityName: Annotated[OptionalName, Field(description="entity: its name")] = "",
    includeRelated: Annotated[bool, Field(description="entity: with relations")] = True,
    maxObs: Annotated[int, Field(ge=1, le=100, description="entity: most facts")] = 20,
    limit: Annotated[int, Field(description="most results: search 50, list 100")] = 10,
    offset: Annotated[int, Field(ge=0, description="list: skip as many")] = 0,
    maxTokens: Annotated[
        int | None, Field(ge=50, le=25_000, description="most tokens of the answer")
    ] = None,
    asOf: Annotated[Instant, Field(description="ISO date: what was valid then")] = None,
    includeIds: Annotated[bool, Field(description="show ids of facts")] = False,
) -> CallToolResult:
    """Recall what was remembered. Use before answering anything that may depend on earlier
    conversations, people, projects or preferences. Example: {"mode":"search","query":"what does
    Jeff prefer"}."""
    app: App = ctx.request_context.lifespan_context
    match mode or _infer_mode(query, entityName):
        case "search":
            found = await _search(
                app,
                query,
                entityTypes,
                asOf,
                limit,
                semantic=searchMode == "semantic",
                with_ids=includeIds,
            )
            return app.render(found, maxTokens)
        case "entity":
            profile = await _look_up(
                app, entityName, asOf, maxObs, with_relations=includeRelated, with_ids=includeIds
            )
            return app.render(profile, maxTokens)
        case "list":
            page = await app.memory.list_entities(
                _or_none(entityTypes),
                limit=min(max(limit, 1), _MOST_LISTED),
                offset=offset,
                as_of=asOf,
            )
            return app.render(ListReply.build(page, offset), maxTokens)


def _infer_mode(query: str, entity_name: str) -> Literal["search", "entity", "list"]:
    if query:
        return "search"
    return "entity" if entity_name else "list"


def _or_none(types: list[EntityType] | None) -> list[str] | None:
    return list(types) if types else None


async def _search(
    app: App, query: str, types: list[EntityType] | None, as_of: datetime | None, limit: int,
    *, semantic: bool, with_ids: bool,
) -> SearchReply:  # fmt: skip
    if not query:
        raise QueryMissing
    question = Question(query, _or_none(types), as_of, min(max(limit, 1), _MOST_FOUND), semantic)
    rows, missing = await app.memory.search(question)
    return SearchReply.build(rows, missing, query, with_ids=with_ids)


async def _look_up(
    app: App, name: str, as_of: datetime | None, most: int, *, with_relations: bool, with_ids: bool
) -> EntityReply:
    if not name:
        raise EntityNameMissing
    row = await app.memory.describe(
        name, as_of=as_of, max_observations=most, with_relations=with_relations
    )
    if row:
        return EntityReply.build(row, with_relations=with_relations, with_ids=with_ids)
    names = await app.memory.find_similar_names(name)
    close = process.extract(
        name, names, processor=utils.default_process, limit=_MOST_CLOSE, score_cutoff=_CLOSE
    )
    return EntityReply(found=False, like=[found for found, *_ in close] or None)
