"""The pages that citations of connectors lead to."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from textrawl.errors import ItemNotFound
from textrawl.explorer.rendering import render, write_link
from textrawl.explorer.requests import PageRequest
from textrawl.memory.connector import ConnectorOperations, ItemId, read_item_id


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


async def show(visit: PageRequest) -> Response:
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
    settings = visit.site.settings
    graphs = visit.principal.find_graphs(settings.graphs)
    chunks = await operations.read_document(item, graphs, settings.max_recall_tokens)
    following = chunks[-1].next_part
    values = {
        "document": chunks[0],
        "chunks": chunks,
        "beginning": None if item.place is None else str(ItemId("document", item.id)),
        "rest": None if following is None else str(ItemId("document", item.id, following)),
    }
    return visit.show("document.html", values)
