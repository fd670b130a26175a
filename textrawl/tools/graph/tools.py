"""The toolset `graph`, and its tools that store, find and delete entities and relations."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from mcp.types import CallToolResult
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from textrawl.errors import ArgumentInvalid, EntityNotFound
from textrawl.memory.graph import (
    DeletedEdgeRow,
    DeletedNodeRow,
    DeletedObservationsRow,
    Node,
    Observations,
    Page,
    PartRow,
    find_file,
    migrate_file,
    record_use,
    store_edges,
    store_nodes,
)
from textrawl.memory.graph import add_observations as store_observations
from textrawl.scheduling import run_aside
from textrawl.tools.call import Call
from textrawl.tools.graph.replies import (
    AddedPart,
    AddedReply,
    CreatedReply,
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
from textrawl.tools.toolset import (
    CLEAN_FACT,
    CLEAN_NAME,
    DELETES,
    READS,
    WRITES,
    Document,
    Name,
    OptionalName,
    Toolset,
)
from textrawl.values.text import LONG_LENGTH, RELATION_LENGTH
from textrawl.wire.replies import write_json

graph = Toolset(
    "graph",
    "The nine tools of the reference memory server, and twelve that search and tidy its graph.",
    (
        "create_entities",
        "create_relations",
        "add_observations",
        "delete_entities",
        "delete_observations",
        "delete_relations",
        "read_graph",
        "search_nodes",
        "open_nodes",
        "search_semantic",
        "end_relation",
        "add_reflection",
        "search_reflections",
        "delete_reflections",
        "analyze_entity_split",
        "propose_entity_split",
        "execute_entity_split",
        "find_split_candidates",
        "find_duplicate_observations",
        "consolidation_report",
        "migrate",
    ),
)

MOST_ITEMS = 1000


RelationName = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=RELATION_LENGTH)]
Text = Annotated[str, CLEAN_FACT, Field(min_length=1, max_length=LONG_LENGTH)]
Query = Annotated[str, CLEAN_NAME, Field(max_length=2048)]
Cursor = Annotated[
    str, Field(max_length=40, description="nextCursor of the answer before, to go on reading")
]


class EntityItem(BaseModel):
    """An entity. The reference server ignores unknown fields, and so does this class."""

    name: Name
    entityType: OptionalName = ""  # noqa: N815 - the wire's names, as for parameters
    observations: list[Text] = []


class RelationItem(BaseModel):
    """A relation, in active voice."""

    model_config = ConfigDict(populate_by_name=True)

    source: Annotated[Name, Field(alias="from")]
    to: Name
    relationType: RelationName  # noqa: N815

    def write(self) -> dict[str, str]:
        """Return the relation as SQL functions take it."""
        return {"from": self.source, "relation": self.relationType, "to": self.to}


def _wrap(key: str) -> BeforeValidator:
    """Return a validator that turns a bare text into an item without an entity.

    The text is then an observation of the entity that the call names in the parameter `name`.
    """

    def wrap(value: Any) -> Any:
        return {key: [value]} if isinstance(value, str) else value

    return BeforeValidator(wrap)


class AdditionItem(BaseModel):
    """New observations of an entity."""

    entityName: OptionalName = ""  # noqa: N815
    contents: list[Text]


class DeletionItem(BaseModel):
    """Observations of an entity to delete."""

    entityName: OptionalName = ""  # noqa: N815
    observations: list[Text]


Addition = Annotated[AdditionItem, _wrap("contents")]
Deletion = Annotated[DeletionItem, _wrap("observations")]
Relations = Annotated[list[RelationItem], Field(max_length=MOST_ITEMS)]


def _group_by_entity(name: str, items: Sequence[Observations]) -> Sequence[Observations]:
    """Return the items unchanged, or as one item if the call names an entity."""
    return [(name, [text for _, texts in items for text in texts])] if name else items


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
    return call.reply(CreatedReply.build(await store_nodes(call, nodes)))


@graph.tool(WRITES, RelatedReply)
async def create_relations(call: Call, relations: Relations) -> CallToolResult:
    """Connect entities that are there, in active voice.

    Answers what is new. Example: {"relations":[{"from":"Ada","to":"Acme Corp",
    "relationType":"works_at"}]}.
    """
    rows = await store_edges(call, [item.write() for item in relations])
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
    items = [(item.entityName, item.contents) for item in observations]
    additions = _group_by_entity(name, items)
    if not all(entity for entity, _ in additions):
        raise ArgumentInvalid("observations: every item needs entityName", title="Missing name")
    rows = await store_observations(call, additions)
    row = rows[0] if name else None
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


@graph.tool(DELETES, DoneReply)
async def delete_entities(
    call: Call, entityNames: Annotated[list[Name], Field(max_length=MOST_ITEMS)]
) -> CallToolResult:
    """Delete entities for good, with their observations and relations.

    Example: {"entityNames":["Old project"]}.
    """
    rows = await call.write("delete_nodes", DeletedNodeRow, names=entityNames)
    missing = [row.name for row in rows if not row.deleted]
    message = _write_message("Entities", len(rows) - len(missing), len(rows), missing)
    return reply_plainly(call, DoneReply(message=message))


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
    given = [*(deletions or []), *(observations or [])]
    groups = _group_by_entity(name, [(item.entityName, item.observations) for item in given])
    if (deletions is None and observations is None) or not all(entity for entity, _ in groups):
        raise ArgumentInvalid(
            "deletions: give entityName and observations", title="Missing deletions"
        )
    chosen = json.dumps([{"entity": entity, "observations": texts} for entity, texts in groups])
    rows = await call.write("delete_observations", DeletedObservationsRow, deletions=chosen)
    row = rows[0] if name else None
    if row is not None and row.observations is None:
        raise EntityNotFound(name)
    if row is not None and row.observations is not None and row.entity_type is not None:
        node = NodePart(name=row.name, entity_type=row.entity_type, observations=row.observations)
        return call.reply(EntityReply(entity=node))
    missing = [row.name for row in rows if row.observations is None]
    requested = sum(len(texts) for _, texts in groups)
    deleted = sum(row.deleted for row in rows)
    message = _write_message("Observations", deleted, requested, missing)
    return reply_plainly(call, DoneReply(message=message))


@graph.tool(DELETES, DoneReply)
async def delete_relations(call: Call, relations: Relations) -> CallToolResult:
    """Delete relations for good.

    Example: {"relations":[{"from":"Ada","to":"Acme Corp","relationType":"works_at"}]}.
    """
    chosen = json.dumps([item.write() for item in relations])
    rows = await call.write("delete_edges", DeletedEdgeRow, relations=chosen)
    missing = list(dict.fromkeys(name for row in rows for name in row.missing))
    given = [relations[row.place - 1] for row in rows]
    unknown = [
        f"{item.source} -> {item.to} ({item.relationType})"
        for item, row in zip(given, rows, strict=True)
        if not row.deleted and not row.missing
    ]
    deleted = sum(row.deleted for row in rows)
    message = _write_message("Relations", deleted, len(rows), missing, unknown)
    return reply_plainly(call, DoneReply(message=message))


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
    rows = await call.search("search_nodes", PartRow, query, **page.limits)
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
    rows = await call.read("open_nodes", PartRow, names=names, **page.limits)
    cursors = _write_plain_cursors(page, rows)
    reply = GraphReply.build(rows, cursors, page.count(rows), with_ids=includeIds)
    if call.app.recalls is not None:
        numbers = dict.fromkeys(row.number for row in rows if row.kind == "entity")
        await record_use(call, list(numbers))
    return await _recall(call, "entity", reply, rows)


async def _load_page(call: Call, page: Page) -> list[PartRow]:
    """Return a page of the whole graph.

    Raises ArgumentInvalid if the entity at which the page begins was deleted.
    """
    return await call.read("read_graph", PartRow, beginning=page.number, **page.limits)


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
    done = await migrate_file(call, file)
    told = replace(call, caller=replace(call.caller, cleaned=done.cleaned))
    return told.reply(MigratedReply.model_validate(done))
