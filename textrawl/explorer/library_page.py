"""Texts: documents, uploads, the journal, identity files, fading memories, and downloads.

The citations of connectors lead to documents, and from here on to entities and facts. Uploaded
files become sources of a graph, as those of `textrawl ingest` do. On the own machine, this process
decrypts and searches sensitive graphs.
"""

import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import LiteralString, TypeVar

import anyio
from anyio import to_thread
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from textrawl.errors import (
    ItemNotFound,
    SpaceNotFound,
    TextrawlError,
)
from textrawl.explorer.arguments import FieldInvalid, read_id, read_query
from textrawl.explorer.forms import MOST_FILES, MOST_MEGABYTES
from textrawl.explorer.grants_page import open_owner
from textrawl.explorer.rendering import render, write_count, write_link
from textrawl.explorer.requests import PageRequest, turn
from textrawl.explorer.site import NoticePart, Record
from textrawl.memory.backlog import fill_graph
from textrawl.memory.chunking import DOCUMENTS, find_ending
from textrawl.memory.connector import (
    ItemId,
    find_entity,
    find_fact,
    read_document,
    read_item_id,
)
from textrawl.memory.decay import ObservedPart
from textrawl.memory.documents import FoundFile
from textrawl.memory.encrypted_documents import EncryptedGraph
from textrawl.memory.identity import FilePart
from textrawl.memory.ingestion import (
    FIRST_GRAPH,
    Ingestion,
    IngestReport,
    create_graph,
    measure,
)
from textrawl.memory.journal import ListedEntryRow
from textrawl.memory.key_files import KeyFiles
from textrawl.memory.opening import open_patiently
from textrawl.memory.store import Store, StoreCall, list_graphs
from textrawl.values.leaks import SECRETS_DONE
from textrawl.values.text import clean_name, escape_json

Row = TypeVar("Row")

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
    values |= turn(skip, _PAGE, total)
    columns = "label path kind chunks tokens updated_at document_id"
    return visit.show_list("documents.html", values, rows, columns)


async def show_journal(visit: PageRequest) -> Response:
    """Show the entries of the journal of one space, the newest first, or one entry."""
    if path := clean_name(visit.read("entry")):
        return await _show_text(visit, _choose_space(visit), "journal", path)
    skip = visit.read_skip()
    pinned, rows = await _read_first_filled(
        visit, "list_entries", ListedEntryRow, "total", max_rows=_PAGE, skip=skip
    )
    entries, total = [row for row in rows if row.path], rows[0].total if rows else 0
    values = {"entries": entries, "space": pinned.require_space()}
    return visit.show("journal.html", {**values, **turn(skip, _PAGE, total)})


async def show_identity(visit: PageRequest) -> Response:
    """Show the identity files of one space with their snapshots, or one file or snapshot."""
    pinned, database = _choose_space(visit), visit.site.store.database
    if path := clean_name(visit.read("file")):
        return await _show_text(visit, pinned, "identity", path)
    reading = pinned.caller.reading_home
    if chosen := visit.read("snapshot"):
        kept = await database.call("list_snapshots", Record, only_id=chosen, texts=True, **reading)
        if not kept:
            raise ItemNotFound
        return visit.show(
            "text.html", {"space": pinned.require_space(), "kind": "identity", "text": kept[0]}
        )
    pinned, files = await _read_first_filled(
        visit, "read_identity", FilePart, "version", texts=False
    )
    snapshots = await database.call("list_snapshots", Record, **pinned.caller.reading_home)
    values = {"files": [each for each in files if each.version], "snapshots": snapshots}
    return visit.show("identity.html", {**values, "space": pinned.require_space()})


async def show_fading(visit: PageRequest) -> Response:
    """Show the memories that the next garbage collection takes, and those to look at again."""
    skip = visit.read_skip()
    pinned, rows = await _read_first_filled(
        visit, "review_queue", Record, "total", max_rows=_PAGE, skip=skip
    )
    total = rows[0].total if rows else 0
    values = {"memories": rows, "space": pinned.require_space()}
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


async def _show_text(visit: PageRequest, pinned: PageRequest, kind: str, path: str) -> Response:
    rows = await pinned.site.store.database.call(
        "read_document", Record, kind=kind, path=path, **pinned.caller.reading_home
    )
    if not rows:
        raise ItemNotFound
    return visit.show("text.html", {"space": pinned.require_space(), "kind": kind, "text": rows[0]})


def _choose_space(visit: PageRequest) -> PageRequest:
    """Return the visit in one space: the chosen one, else the home space, else the first one."""
    readable = visit.principal.readable
    if not readable:
        raise SpaceNotFound("This page is about spaces with facts, and you can read none")
    home = next((space for space in readable if space.id == visit.principal.home), readable[0])
    return visit.pin(home.name)


async def _read_first_filled(
    visit: PageRequest, function: LiteralString, row: type[Row], count: str, **arguments: object
) -> tuple[PageRequest, list[Row]]:
    """Return the rows of the chosen or the home space, or of the first where `count` is not 0.

    A further page stays in its space.
    """
    home, spaces = _choose_space(visit), visit.principal.readable
    others = [] if arguments.get("skip") else [s for s in spaces if s.id != home.principal.home]
    for pinned in (home, *(visit.pin(each.name) for each in others)):
        reading = pinned.caller.reading_home
        rows = await visit.site.store.database.call(function, row, **arguments, **reading)
        if any(getattr(each, count) for each in rows):
            return pinned, rows
    return home, []


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
    call = visit.store_call
    match item.kind:
        case "fact":
            fact = await find_fact(call, item)
            number, part = ("", "#relations") if fact.is_relation else (str(fact.id), "")
            page = write_link("entity", name=fact.entity_name, space=fact.space, fact=number)
            return RedirectResponse(page + part, 303)
        case "entity":
            owner = await find_entity(call, item)
            return RedirectResponse(write_link("entity", name=owner.name, space=owner.space), 303)
        case "document":
            return await _show_document(visit, call, item)


async def _show_document(visit: PageRequest, call: StoreCall, item: ItemId) -> Response:
    ceiling = visit.site.settings.max_recall_tokens
    chunks = await read_document(call, item, visit.graphs, ceiling)
    following = chunks[-1].next_part
    values = {
        "document": chunks[0],
        "chunks": chunks,
        "beginning": None if item.place is None else str(ItemId("document", item.id)),
        "rest": None if following is None else str(ItemId("document", item.id, following)),
    }
    return visit.show("document.html", values)


_SHOWN_ENCRYPTED, _FOUND_ENCRYPTED = 50, 10


async def show_encrypted(visit: PageRequest) -> Response:
    """Show the documents of a sensitive graph. Raises ItemNotFound on a server for a team."""
    graph = _open_graph(visit)
    documents = sorted(await graph.list_documents(), key=lambda each: each.head.path)
    values = {"documents": documents[:_SHOWN_ENCRYPTED], "total": len(documents), "hits": None}
    return visit.show("encrypted.html", {**values, "graph": graph.name, "query": ""})


async def search_encrypted(visit: PageRequest) -> Response:
    """Show the chunks that match the words of a form, so that no address has these words."""
    graph, query = _open_graph(visit), read_query(visit.read("q"))
    hits = await graph.search(query, _FOUND_ENCRYPTED) if query else []
    return visit.show("encrypted.html", {"hits": hits, "graph": graph.name, "query": query})


def _open_graph(visit: PageRequest) -> EncryptedGraph:
    name = visit.require_space()
    if not visit.site.own_machine or (visit.graphs is not None and name not in visit.graphs):
        raise ItemNotFound
    files = KeyFiles(visit.site.settings.encryption_key)
    return EncryptedGraph(visit.site.store, visit.caller.signing, name, files)


_MOST_SECONDS = 30  # of the processor, to read one file
_ALL_SECONDS = 240  # for all files: the answer, which tells what is stored, has 300
# A file of so many bytes takes Postgres a few seconds, and one of ten times as many takes 20.
_LARGE = 250_000
_LATE = "the upload took too long: send it alone, or use `textrawl ingest`"
_TWICE = "another of the chosen files has the same name: rename one"


async def upload(visit: PageRequest) -> Response:
    """Store the files of a form in a graph. A file that is refused does not stop the others."""
    visit.principal.require("write")
    graph = "" if await can_create_graph(visit) else await _check_graph(visit)
    if not visit.files:
        raise FieldInvalid("files", "No file is chosen", "Choose files")
    graph = graph or await _create_graph(visit)
    with TemporaryDirectory(prefix="textrawl-") as folder:
        found, twice = await to_thread.run_sync(_keep, visit.files, Path(folder))
        report = await _store(visit, graph, found)
    report.refused += [(file, _TWICE) for file in twice]
    text, parts = _describe(visit, report)
    undone, back = graph if report.stored else "", write_link("documents", space=graph)
    response = visit.report(text, undone, parts=parts, default=back)
    if report.stored and visit.site.own_machine:  # no server runs that would make the vectors
        visit.after.add_task(_embed, visit, graph)
        response.background = visit.after
    return response


async def can_create_graph(visit: PageRequest) -> bool:
    """Return whether a visitor without a graph owns the memory of this machine."""
    site = visit.site
    if (
        visit.graphs is not None
        or site.open_owner is None
        or site.settings.database_url is not None
    ):
        return False
    database, credential = site.store.database, visit.principal.credential
    return not await list_graphs(database, credential, sensitive=True)


async def _create_graph(visit: PageRequest) -> str:
    """Create the first graph as `textrawl ingest` does, and return its name."""
    async with open_owner(visit) as owner:
        await create_graph(owner)
    visit.site.directory.forget(visit.principal.actor)
    return FIRST_GRAPH


async def _check_graph(visit: PageRequest) -> str:
    """Return the name of the chosen graph. Raises SpaceNotFound if nobody can write to it here."""
    name, credential = visit.require_space(), visit.principal.credential
    graphs = await list_graphs(visit.site.store.database, credential, visit.graphs)
    if not any(graph.writable and graph.name == name for graph in graphs):
        raise SpaceNotFound("Choose a graph on the page of documents")
    return name


def _keep(files: Sequence[UploadFile], folder: Path) -> tuple[list[FoundFile], list[FoundFile]]:
    """Copy files to a folder. Return the copies, and the files whose names were taken already.

    Only the end of a name, which tells the kind of the file, becomes part of a path.
    """
    found, twice = dict[str, FoundFile](), list[FoundFile]()
    for number, file in enumerate(files):
        name = clean_name((file.filename or "").replace("\\", "/").rpartition("/")[2]) or "untitled"
        ending = find_ending(name)
        kept = FoundFile(folder / f"{number}{ending if ending in DOCUMENTS else ''}", name)
        if found.setdefault(kept.path, kept) is not kept:
            twice.append(kept)
            continue
        with kept.file.open("wb") as copy:
            shutil.copyfileobj(file.file, copy)
    return list(found.values()), twice


async def _store(visit: PageRequest, graph: str, files: Sequence[FoundFile]) -> IngestReport:
    async with _open_store(visit, large=any(measure(file) > _LARGE for file in files)) as store:
        mode = visit.site.settings.secrets
        ingestion = Ingestion(store, visit.caller, graph, mode, _MOST_SECONDS)
        return await _store_each(ingestion, files)


@asynccontextmanager
async def _open_store(visit: PageRequest, *, large: bool) -> AsyncGenerator[Store]:
    """Return the memory. A text is stored by one call, to which a large one gives more time.

    Raises DatabaseUnavailable.
    """
    if not large:
        yield visit.site.store
        return
    async with open_patiently(visit.site.store, _ALL_SECONDS) as store:
        yield store


async def _store_each(ingestion: Ingestion, files: Sequence[FoundFile]) -> IngestReport:
    end = anyio.current_time() + _ALL_SECONDS
    for file in files:
        try:
            with anyio.fail_after(end - anyio.current_time()):
                await ingestion.run([file], lambda _: None)
        except TimeoutError:
            ingestion.report.refused.append((file, _LATE))
        except TextrawlError as error:  # report the files that are already stored
            ingestion.report.refused.append((file, f"{error.title}. {error.fix}"))
    return ingestion.report


def _describe(visit: PageRequest, report: IngestReport) -> tuple[str, list[NoticePart]]:
    """Return a sentence about all files, and a part of the notice for each file."""
    done = [
        (file.label, write_link("item", id=f"document:{row.document_id}"), row.chunk_count)
        for file, row in report.stored
    ]
    parts = [(name, address, write_count(chunks, "chunk")) for name, address, chunks in done]
    secrets = SECRETS_DONE[visit.site.settings.secrets]
    parts += [(file.name, "", f"secrets {secrets}: {kinds}") for file, kinds in report.secrets]
    parts += [(file.name, "", f"not stored, because {reason}") for file, reason in report.refused]
    known = report.counts["unchanged"] + report.counts["repeated"]
    texts = [f"Stored {write_count(len(done), 'document')}."] if done else ["Nothing was stored."]
    texts += [f"{write_count(known, 'file')} known already."] if known else []
    return " ".join(texts), parts


async def _embed(visit: PageRequest, graph: str) -> None:
    """Make the vectors of new chunks. If the database is away, the next command makes them."""
    with suppress(TextrawlError):
        await fill_graph(visit.site.store, graph, visit.principal.credential, lambda _: None)


async def show_export(visit: PageRequest) -> Response:
    """Show which spaces can be downloaded, or send the facts of one.

    On a server, only administrators of a space get all of it at once.
    """
    scope = "read" if visit.site.own_machine else "admin"
    if visit.read("download"):
        visit.require_space()
        visit.principal.require(scope)
        pages = _read_pages(visit)
        first = await anext(pages)  # an error comes before the response begins
        return StreamingResponse(
            _send_pages(first, pages),
            media_type="application/x-ndjson",
            headers={"content-disposition": 'attachment; filename="textrawl-facts.jsonl"'},
        )
    spaces = [space.name for space in visit.principal.readable if scope in space.scopes]
    return visit.show("export.html", {"offered": spaces, "own_machine": visit.site.own_machine})


async def _send_pages(first: bytes, pages: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    yield first
    async for page in pages:
        yield page


async def _read_pages(visit: PageRequest) -> AsyncGenerator[bytes]:
    last: int | None = None
    while True:
        rows = await visit.site.store.database.call(
            "download_facts", Record, after=last, **visit.caller.reading_home
        )
        # A program that takes the file for a page must find no markup in it.
        lines = (escape_json(row.line).replace("<", "\\u003c") for row in rows)
        yield "".join(f"{line}\n" for line in lines).encode()
        if not rows:
            return
        last = rows[-1].last
