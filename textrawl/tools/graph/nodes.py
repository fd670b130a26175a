"""Tools that store, find and delete entities, observations and relations."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.errors import ArgumentInvalid, EntityNotFound
from textrawl.memory.graph import (
    EntityObservations,
    GraphOperations,
    Node,
    Page,
    find_file,
    migrate_file,
)
from textrawl.memory.graph_rows import DeletedNodeRow, PartRow
from textrawl.scheduling import run_aside
from textrawl.tools.call import Call
from textrawl.tools.graph.declaration import (
    MOST_ITEMS,
    Addition,
    Cursor,
    Deletion,
    EntityItem,
    Name,
    OptionalName,
    Query,
    Relations,
    graph,
    group_by_entity,
)
from textrawl.tools.graph.replies import (
    AddedPart,
    AddedReply,
    CreatedReply,
    DeletedReply,
    DoneReply,
    EdgePart,
    EntityReply,
    GraphReply,
    NodePart,
    RelatedReply,
    SnakeReply,
    reply_plainly,
    write_number,
)
from textrawl.tools.toolset import DELETES, READS, WRITES, Document
from textrawl.wire.replies import write_json


@graph.tool(WRITES, CreatedReply)
async def create_entities(
    call: Call,
    entities: Annotated[list[EntityItem], Field(max_length=MOST_ITEMS)],
) -> CallToolResult:
    """Create entities, or add observations to those that are there.

    Answers what is new. Example: {"entities":[{"name":"Ada","entityType":"person",
    "observations":["leads QA"]}]}.
    """
    nodes = [Node(item.name, item.entityType or None, item.observations) for item in entities]
    rows = await GraphOperations(call.store).create(nodes, call.caller)
    return call.reply(CreatedReply.build(rows))


@graph.tool(WRITES, RelatedReply)
async def create_relations(call: Call, relations: Relations) -> CallToolResult:
    """Connect entities that are there, in active voice.

    Answers what is new. Example: {"relations":[{"from":"Ada","to":"Acme Corp",
    "relationType":"works_at"}]}.
    """
    rows = await GraphOperations(call.store).relate(
        [item.read() for item in relations], call.caller
    )
    missing = list(dict.fromkeys(name for row in rows for name in row.missing))
    faults = [f"Entity not found: {name}" for name in missing]
    if rows and all(row.outcome == "missing" for row in rows):
        raise EntityNotFound(missing[0])
    created = [relations[row.place - 1] for row in rows if row.outcome == "created"]
    parts = [
        EdgePart(source=item.source, to=item.to, relation_type=item.relationType)
        for item in created
    ]
    return call.reply(RelatedReply(relations=parts, errors=faults or None))


@graph.tool(WRITES, AddedReply, EntityReply)
async def add_observations(
    call: Call,
    observations: Annotated[list[Addition], Field(max_length=MOST_ITEMS)],
    name: Annotated[
        OptionalName, Field(description="entity, where observations are plain text")
    ] = "",
) -> CallToolResult:
    """Add observations to entities that are there, all or none.

    Example: {"observations":[{"entityName":"Ada","contents":["prefers tea"]}]}.
    """
    items = [EntityObservations(item.entityName, item.contents) for item in observations]
    additions, single = group_by_entity(name, items)
    if not all(addition.entity for addition in additions):
        raise ArgumentInvalid("observations: every item needs entityName", title="Missing name")
    rows = await GraphOperations(call.store).add(additions, call.caller)
    row = rows[0] if single else None
    if row is not None and row.entity_type is not None:
        node = NodePart(name=row.name, entity_type=row.entity_type, observations=row.observations)
        return call.reply(EntityReply(entity=node))
    parts = [AddedPart(entity_name=row.name, added_observations=row.added) for row in rows]
    return call.reply(AddedReply(results=parts))


_MOST_NAMED = 20  # the most missing items that a message names. A call can name a thousand.


def _write_message(
    kind: str, deleted: int, requested: int, missing: Sequence[str], relations: Sequence[str] = ()
) -> str:
    message = f"{kind} deleted successfully"
    if deleted != requested:
        message = f"Deleted {deleted} of {requested} {kind.lower()}"
    for thing, names in (("Entity", missing), ("Relation", relations)):
        if names:
            named, more = ", ".join(names[:_MOST_NAMED]), len(names) - _MOST_NAMED
            message += f". {thing} not found: {named}" + (f", and {more} more" if more > 0 else "")
    return message


@graph.tool(DELETES, DeletedReply)
async def delete_entities(
    call: Call, entityNames: Annotated[list[Name], Field(max_length=MOST_ITEMS)]
) -> CallToolResult:
    """Delete entities for good, with their observations and relations.

    Example: {"entityNames":["Old project"]}.
    """
    rows = await call.store.call(
        "delete_nodes", DeletedNodeRow, names=entityNames, **call.caller.writing
    )
    missing = [row.name for row in rows if not row.deleted]
    deleted = [row.name for row in rows if row.deleted]
    reply = DeletedReply(
        message=_write_message("Entities", len(deleted), len(rows), missing),
        deleted=deleted,
        errors=[f"Entity not found: {name}" for name in missing] or None,
    )
    return reply_plainly(call, reply)


@graph.tool(DELETES, DoneReply, EntityReply)
async def delete_observations(
    call: Call,
    deletions: Annotated[list[Deletion] | None, Field(max_length=MOST_ITEMS)] = None,
    name: Annotated[OptionalName, Field(description="entity, with observations")] = "",
    observations: Annotated[list[Deletion] | None, Field(max_length=MOST_ITEMS)] = None,
) -> CallToolResult:
    """Delete observations for good, by their exact text.

    Example: {"deletions":[{"entityName":"Ada","observations":["prefers tea"]}]}.
    """
    items = [
        EntityObservations(item.entityName, item.observations)
        for item in (*(deletions or []), *(observations or []))
    ]
    groups, single = group_by_entity(name, items)
    if (deletions is None and observations is None) or not all(one.entity for one in groups):
        raise ArgumentInvalid(
            "deletions: give entityName and observations", title="Missing deletions"
        )
    rows = await GraphOperations(call.store).delete_observations(groups, call.caller)
    row = rows[0] if single else None
    if row is not None and row.observations is None:
        raise EntityNotFound(name)
    if row is not None and row.observations is not None and row.entity_type is not None:
        node = NodePart(name=row.name, entity_type=row.entity_type, observations=row.observations)
        return call.reply(EntityReply(entity=node))
    missing = [row.name for row in rows if row.observations is None]
    requested = sum(len(group.observations) for group in groups)
    deleted = sum(row.deleted for row in rows)
    message = _write_message("Observations", deleted, requested, missing)
    return reply_plainly(call, DoneReply(message=message))


@graph.tool(DELETES, DeletedReply)
async def delete_relations(call: Call, relations: Relations) -> CallToolResult:
    """Delete relations for good.

    Example: {"relations":[{"from":"Ada","to":"Acme Corp","relationType":"works_at"}]}.
    """
    rows = await GraphOperations(call.store).delete_edges(
        [item.read() for item in relations], call.caller
    )
    missing = list(dict.fromkeys(name for row in rows for name in row.missing))
    given = [relations[row.place - 1] for row in rows]
    deleted = [item for item, row in zip(given, rows, strict=True) if row.deleted]
    unknown = [
        f"{item.source} -> {item.to} ({item.relationType})"
        for item, row in zip(given, rows, strict=True)
        if not row.deleted and not row.missing
    ]
    errors = [f"Entity not found: {name}" for name in missing]
    reply = DeletedReply(
        message=_write_message("Relations", len(deleted), len(rows), missing, unknown),
        deleted=[item.model_dump(by_alias=True) for item in deleted],
        errors=[*errors, *(f"Relation not found: {name}" for name in unknown)] or None,
    )
    return reply_plainly(call, reply)


_MOST_PARTS = 3000  # parts of a page; more parts than fit the default budget
_MOST_TEXT = 1_000_000  # characters of a page; more than fit the largest budget
_MOST_RESOURCE_PARTS = 20_000  # the resource does not have a budget
_MOST_RESOURCE_TEXT = 16_000_000  # characters
_SHORT_PARTS, _SHORT_TEXT = 200, 100_000  # parts and characters; a longer reply needs a thread
_GRAPH_CURSOR = re.compile(r"([0-9a-z]{1,10})\.(\d{1,9})")
_PLAIN_CURSOR = re.compile(r"\d{1,9}")
_CURSOR_INVALID = "cursor: pass nextCursor of the previous answer without changes"


@graph.tool(READS, GraphReply)
async def read_graph(call: Call, cursor: Cursor = "") -> CallToolResult:
    """Read the whole graph, a page at a time: while an answer has nextCursor, there is more."""
    number, skip = None, 0
    if cursor:
        match = _GRAPH_CURSOR.fullmatch(cursor)
        if match is None:
            raise ArgumentInvalid(_CURSOR_INVALID)
        number, skip = int(match[1], 36), int(match[2])
    page = Page(number, skip, _MOST_PARTS, _MOST_TEXT)
    rows = await _load_page(call, page)
    reply = GraphReply.build(rows, _write_graph_cursors(rows), page.count(rows))
    return await _recall(call, "graph", reply, rows)


@graph.tool(READS, GraphReply)
async def search_nodes(call: Call, query: Query, cursor: Cursor = "") -> CallToolResult:
    """Find entities by a part of their name, type or an observation, by words, or by meaning.

    Use it before you answer anything that may depend on earlier conversations. Example:
    {"query":"database migrations"}.
    """
    page = _read_page(cursor)
    rows = await GraphOperations(call.store).search(query, page, call.caller)
    reply = GraphReply.build(rows, _write_plain_cursors(page, rows), page.count(rows))
    return await _recall(call, "search", reply, rows)


@graph.tool(READS, GraphReply)
async def open_nodes(
    call: Call,
    names: Annotated[list[Name], Field(max_length=MOST_ITEMS)],
    cursor: Cursor = "",
    includeIds: Annotated[bool, Field(description="ids, to end or reflect on")] = False,
) -> CallToolResult:
    """Read entities by name, with their observations and relations.

    Example: {"names":["Ada"]}.
    """
    page = _read_page(cursor)
    rows = await call.store.call(
        "open_nodes", PartRow, names=names, **page.limits, **call.caller.reading_home
    )
    cursors = _write_plain_cursors(page, rows)
    reply = GraphReply.build(rows, cursors, page.count(rows), with_ids=includeIds)
    if call.app.recalls is not None:
        numbers = dict.fromkeys(row.number for row in rows if row.kind == "entity")
        await GraphOperations(call.store).record_use(list(numbers), call.caller)
    return await _recall(call, "entity", reply, rows)


async def _load_page(call: Call, page: Page) -> list[PartRow]:
    """Return a page of the whole graph.

    Raises ArgumentInvalid if the entity at which the page begins was deleted.
    """
    return await call.store.call(
        "read_graph",
        PartRow,
        beginning=page.number,
        **page.limits,
        **call.caller.reading_home,
    )


async def _recall(
    call: Call, mode: str, reply: GraphReply, rows: Sequence[PartRow]
) -> CallToolResult:
    if len(rows) <= _SHORT_PARTS and sum(row.length for row in rows) <= _SHORT_TEXT:
        return call.recall(mode, reply)
    return await call.recall_aside(mode, reply)


async def _read_resource(call: Call) -> str:
    page = Page(None, 0, _MOST_RESOURCE_PARTS, _MOST_RESOURCE_TEXT)
    rows = await _load_page(call, page)
    return await run_aside(_write_resource, page, rows)


def _write_resource(page: Page, rows: Sequence[PartRow]) -> str:
    reply = GraphReply.build(rows, _write_graph_cursors(rows), page.count(rows))
    return write_json(reply.structured())


graph.documents.append(
    Document(
        "memory://knowledge-graph",
        "knowledge-graph",
        "Knowledge graph",
        "All entities with their observations and relations",
        _read_resource,
    )
)


def _read_page(cursor: str) -> Page:
    if cursor and not _PLAIN_CURSOR.fullmatch(cursor):
        raise ArgumentInvalid(_CURSOR_INVALID)
    return Page(None, int(cursor or 0), _MOST_PARTS, _MOST_TEXT)


def _write_graph_cursors(rows: Sequence[PartRow]) -> list[str]:
    """Return a cursor for each row. The cursor is the place of the row in the whole graph."""
    return [f"{write_number(row.number)}.{row.part}" for row in rows]


def _write_plain_cursors(page: Page, rows: Sequence[PartRow]) -> list[str]:
    """Return a cursor for each row. The cursor is the place of the row in the whole answer."""
    return [str(page.skip + place) for place in range(len(rows))]


class MigratedReply(SnakeReply):
    """The counts of imported and skipped lines. `errors` of the skipped are no JSON."""

    entities_imported: Annotated[int, Field(validation_alias="entities")]
    relations_imported: Annotated[int, Field(validation_alias="relations")]
    errors: int
    skipped: int


@graph.tool(WRITES, MigratedReply)
async def migrate(
    call: Call,
    source_path: Annotated[
        str, Field(max_length=1000, description="a file of the import folder")
    ] = "",
) -> CallToolResult:
    """Add what a JSONL file of the reference memory server holds; again adds nothing twice."""
    file = find_file(call.settings.import_dir, source_path)
    done = await migrate_file(file, GraphOperations(call.store), call.caller)
    told = replace(call, caller=replace(call.caller, cleaned=done.cleaned))
    return told.reply(MigratedReply.model_validate(done))
