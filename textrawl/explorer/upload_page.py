"""Files that people upload become sources of a graph, as those of `textrawl ingest` do."""

import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from anyio import to_thread
from starlette.datastructures import UploadFile
from starlette.responses import Response

from textrawl.errors import (
    ArgumentInvalid,
    DatabaseUnavailable,
    SpaceNotFound,
    StartRefused,
    TextrawlError,
)
from textrawl.explorer.grants_page import open_owner
from textrawl.explorer.notices import NoticePart
from textrawl.explorer.rendering import write_count, write_link
from textrawl.explorer.requests import PageRequest
from textrawl.memory.backlog import fill_graph
from textrawl.memory.chunking import DOCUMENTS, find_ending
from textrawl.memory.documents import FoundFile
from textrawl.memory.ingestion import (
    FIRST_GRAPH,
    Ingestion,
    IngestReport,
    create_graph,
    measure,
)
from textrawl.memory.opening import open_database, open_patiently
from textrawl.memory.store import Store, list_graphs
from textrawl.values.leaks import SECRETS_DONE
from textrawl.values.text import clean_name

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
        raise ArgumentInvalid("Go back, and choose files", title="No file is chosen")
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
    """Return the name of the chosen graph. Raises SpaceNotFound if it is none to write to."""
    name, credential = visit.require_space(), visit.principal.credential
    graphs = await list_graphs(visit.site.store.database, credential, visit.graphs)
    if not any(graph.writable and graph.name == name for graph in graphs):
        raise SpaceNotFound("Choose a graph on the page of documents")
    return name


def _keep(files: Sequence[UploadFile], folder: Path) -> tuple[list[FoundFile], list[FoundFile]]:
    """Copy files to a folder, and return them. Return apart those whose name others have too.

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
        mode = visit.site.settings.secrets or "mask"
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
    try:
        async with (
            open_database(visit.site.settings) as target,
            open_patiently(target, _ALL_SECONDS) as store,
        ):
            yield store
    except StartRefused as refused:
        raise DatabaseUnavailable(str(refused)) from refused


async def _store_each(ingestion: Ingestion, files: Sequence[FoundFile]) -> IngestReport:
    end = anyio.current_time() + _ALL_SECONDS
    for file in files:
        try:
            with anyio.fail_after(end - anyio.current_time()):
                await ingestion.run([file], lambda _: None)
        except TimeoutError:
            ingestion.report.refused.append((file, _LATE))
        except TextrawlError as error:  # what is stored already has to be told
            ingestion.report.refused.append((file, f"{error.title}. {error.fix}"))
    return ingestion.report


def _describe(visit: PageRequest, report: IngestReport) -> tuple[str, list[NoticePart]]:
    """Return what became of all files, and of each."""
    done = [
        (file.label, write_link("item", id=f"document:{row.document_id}"), row.chunk_count)
        for file, row in report.stored
    ]
    parts = [(name, address, write_count(chunks, "chunk")) for name, address, chunks in done]
    secrets = SECRETS_DONE[visit.site.settings.secrets or "mask"]
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
