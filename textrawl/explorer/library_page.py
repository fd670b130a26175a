"""Texts: documents, the journal, identity files with their snapshots, and fading memories.

The citations of connectors lead to documents, and from here on to entities and facts.
"""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from textrawl.access.request import find_principal
from textrawl.errors import ItemNotFound, SpaceNotFound
from textrawl.explorer.arguments import read_id
from textrawl.explorer.forms import MOST_FILES, MOST_MEGABYTES
from textrawl.explorer.rendering import render, write_link
from textrawl.explorer.requests import PageRequest, turn
from textrawl.explorer.site import Record
from textrawl.explorer.upload_page import can_create_graph
from textrawl.memory.connector import ConnectorOperations, ItemId, read_item_id
from textrawl.memory.decay import ObservedPart
from textrawl.memory.identity import FilePart
from textrawl.memory.journal import ListedEntryRow
from textrawl.memory.store import list_graphs

_PAGE = 50


async def list_documents(visit: PageRequest) -> Response:
    """Show the graphs that the person can read, and the documents of one of them."""
    skip, credential = visit.read_skip(), visit.principal.credential
    database, own = visit.site.store.database, visit.site.own_machine
    all_graphs = await list_graphs(database, credential, visit.graphs, sensitive=own)
    graphs = [each for each in all_graphs if each.tier != "sensitive"]
    encrypted = [each.name for each in all_graphs if each.tier == "sensitive"]
    graph = graphs[0].name if len(graphs) == 1 else ""
    rows = await visit.call_anywhere(
        "list_sources", Record, graph=graph, graphs=visit.graphs, max_rows=_PAGE, skip=skip
    )
    total = rows[0].total if rows else 0
    writable = [] if visit.site.settings.read_only else [g.name for g in graphs if g.writable]
    first = not (graphs or visit.site.settings.read_only) and await can_create_graph(visit)
    values = {"graphs": graphs, "graph": graph, "sources": rows, "places": writable, "first": first}
    values |= {"encrypted": encrypted, "most_files": MOST_FILES, "most_megabytes": MOST_MEGABYTES}
    return visit.show("documents.html", {**values, **turn(skip, _PAGE, total)})


async def show_journal(visit: PageRequest) -> Response:
    """Show the entries of the journal of one space, the newest first, or one entry."""
    place = _choose_space(visit)
    if path := visit.read("entry"):
        return await _show_text(visit, place, "journal", path)
    skip = visit.read_skip()
    rows = await visit.site.store.database.call(
        "list_entries", ListedEntryRow, max_rows=_PAGE, skip=skip, **place.caller.reading_home
    )
    entries, total = [row for row in rows if row.path], rows[0].total if rows else 0
    values = {"entries": entries, **_name_spaces(visit, place)}
    return visit.show("journal.html", {**values, **turn(skip, _PAGE, total)})


async def show_identity(visit: PageRequest) -> Response:
    """Show the identity files of one space with their snapshots, or one file or snapshot."""
    place, database = _choose_space(visit), visit.site.store.database
    if path := visit.read("file"):
        return await _show_text(visit, place, "identity", path)
    reading = place.caller.reading_home
    if chosen := visit.read("snapshot"):
        kept = await database.call("list_snapshots", Record, only_id=chosen, texts=True, **reading)
        if not kept:
            raise ItemNotFound
        return visit.show(
            "text.html", {**_name_spaces(visit, place), "kind": "identity", "text": kept[0]}
        )
    files = await database.call("read_identity", FilePart, texts=False, **reading)
    snapshots = await database.call("list_snapshots", Record, **reading)
    values = {"files": [each for each in files if each.version], "snapshots": snapshots}
    return visit.show("identity.html", {**values, **_name_spaces(visit, place)})


async def show_fading(visit: PageRequest) -> Response:
    """Show the memories that the next garbage collection takes, and those to look at again."""
    place, skip = _choose_space(visit), visit.read_skip()
    rows = await visit.site.store.database.call(
        "review_queue", Record, max_rows=_PAGE, skip=skip, **place.caller.reading_home
    )
    total = rows[0].total if rows else 0
    values = {"memories": rows, **_name_spaces(visit, place)}
    return visit.show("fading.html", {**values, **turn(skip, _PAGE, total)})


async def keep(visit: PageRequest) -> Response:
    """Keep a memory that fades: count a use of it."""
    space = visit.require_space()
    memory = read_id(visit.read("fact"))
    rows = await visit.site.store.database.call(
        "reinforce_memories", ObservedPart, memories=[memory], **visit.caller.writing
    )
    if not any(row.status == "reinforced" for row in rows):
        raise ItemNotFound
    return visit.report("The memory is kept.", default=write_link("fading", space=space))


async def _show_text(visit: PageRequest, place: PageRequest, kind: str, path: str) -> Response:
    rows = await place.site.store.database.call(
        "read_document", Record, kind=kind, path=path, **place.caller.reading_home
    )
    if not rows:
        raise ItemNotFound
    return visit.show("text.html", {**_name_spaces(visit, place), "kind": kind, "text": rows[0]})


def _choose_space(visit: PageRequest) -> PageRequest:
    """Return the visit in one space: the chosen one, else the home space, else the first one."""
    readable = visit.principal.readable
    if not readable:
        raise SpaceNotFound("This page is about spaces with facts, and you can read none")
    home = next((space for space in readable if space.id == visit.principal.home), readable[0])
    return visit.pin(home.name)


def _name_spaces(visit: PageRequest, place: PageRequest) -> dict[str, object]:
    """Return the names of the space that is shown, and of those to choose from."""
    principal = find_principal(visit.request) or visit.principal
    return {"space": place.require_space(), "choices": [each.name for each in principal.readable]}


async def open_item(request: Request) -> Response:
    """Lead from another site to an item.

    Browsers send the Strict cookie of a session only if a page of ours leads on. Without this page,
    signed-in people would have to sign in again after each citation.
    """
    try:
        page = write_link("item", id=str(read_item_id(request.query_params.get("id", ""))))
    except ItemNotFound:
        page = write_link("search")
    return render("leading.html", {"title": "One moment", "target": page})


async def show_item(visit: PageRequest) -> Response:
    """Show a document, or lead to the page of an entity or of a fact's entity."""
    item = read_item_id(visit.read("id"))
    operations = ConnectorOperations(visit.site.store, visit.caller)
    match item.kind:
        case "fact":
            fact = await operations.find_fact(item)
            number, part = ("", "#relations") if fact.is_relation else (str(fact.id), "")
            page = write_link("entity", name=fact.entity_name, space=fact.space, fact=number)
            return RedirectResponse(page + part, 303)
        case "entity":
            place = await operations.find_entity(item)
            return RedirectResponse(write_link("entity", name=place.name, space=place.space), 303)
        case "document":
            return await _show_document(visit, operations, item)


async def _show_document(
    visit: PageRequest, operations: ConnectorOperations, item: ItemId
) -> Response:
    ceiling = visit.site.settings.max_recall_tokens
    chunks = await operations.read_document(item, visit.graphs, ceiling)
    following = chunks[-1].next_part
    values = {
        "document": chunks[0],
        "chunks": chunks,
        "beginning": None if item.place is None else str(ItemId("document", item.id)),
        "rest": None if following is None else str(ItemId("document", item.id, following)),
    }
    return visit.show("document.html", values)
