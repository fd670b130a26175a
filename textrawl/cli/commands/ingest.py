"""The commands `ingest` and `document`: files for graphs, and documents of sensitive graphs."""

import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from textrawl.access.principal import Caller
from textrawl.archive.items import SecretGate
from textrawl.cli.administration import open_login
from textrawl.cli.console import (
    confirm,
    count,
    show_progress,
    show_rows,
    write_instant,
    write_json,
    write_line,
    write_message,
)
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import AsJson, Yes, argument, option, read_path
from textrawl.cli.memory_session import (
    change_memory,
    open_graph,
    read_key_files,
    read_memory,
)
from textrawl.cluster.opening import open_connection
from textrawl.errors import ArgumentInvalid, MemoryNotEnabled, require_writable
from textrawl.installation import write_install_command
from textrawl.memory.backlog import fill_graph
from textrawl.memory.commands import Session
from textrawl.memory.documents import EXTRA, FoundFile, FoundFiles, find_files
from textrawl.memory.encrypted_documents import (
    DecryptedDocument,
    EncryptedGraph,
    EncryptedIngestion,
)
from textrawl.memory.ingestion import (
    FIRST_GRAPH,
    Ingestion,
    IngestReport,
    create_graph,
    measure,
)
from textrawl.memory.store import GraphPart, Store, list_graphs
from textrawl.settings import read_settings
from textrawl.values.choice import join_choices
from textrawl.values.text import clean_name
from textrawl.values.word_lists import SecretMode

Result = TypeVar("Result")

LONGEST_STATEMENT = 600.0  # seconds; a text of 5,000,000 characters takes half a minute

_Paths = Annotated[
    list[Path],
    argument(
        "PATH...",
        "Files, and folders with their subfolders: text, Markdown, code, HTML and PDF.",
        read_path,
    ),
]
_Graph = Annotated[
    str | None,
    option(
        "--graph GRAPH",
        "Write to this graph; default: the home space if it is a graph, or the only graph. "
        "The first ingest on this machine creates the graph documents.",
        clean_name,
    ),
]


_NAMED = 10  # files that are left out


def ingest(paths: _Paths, graph: _Graph = None, as_json: AsJson = False) -> None:
    """Add files to a graph, as sources that `recall` searches.

    Files that did not change are left out, so an interrupted ingest continues if you run it again.
    A file that changed becomes a new version of its source. HTML and PDF need textrawl[documents].
    Exit code 1: some files were refused.
    """
    findings = _find(paths)
    began, gate = time.monotonic(), SecretGate(read_settings().secrets)
    if graph is None:
        create_first_graph()

    async def work(session: Session) -> tuple[str, IngestReport]:
        chosen = await choose_graph(session.store, session.caller, graph)
        return chosen.name, await _store(session, chosen, findings.files, gate.mode)

    chosen, report = change_memory(
        "textrawl ingest", None, work, homeless=True, least_timeout=LONGEST_STATEMENT
    )
    _tell_refusals(report, findings.left_out)
    gate.places = [f"{found.name}: {kinds}" for found, kinds in report.secrets]
    write_message(*gate.describe())
    if as_json:
        write_json(_write_plain(chosen, report, findings.left_out))
    else:
        _tell(chosen, report, time.monotonic() - began)
    if report.refused:
        raise typer.Exit(1)


async def _store(
    session: Session, graph: GraphPart, files: list[FoundFile], mode: SecretMode
) -> IngestReport:
    """Store files in a graph, encrypted if it is sensitive, and else with vectors."""
    given = session.store, session.caller, graph.name, mode
    encrypted = graph.tier == "sensitive"
    ingestion = EncryptedIngestion(*given, read_key_files()) if encrypted else Ingestion(*given)
    with show_progress("Files", sum(map(measure, files)), of_bytes=True) as step:
        await ingestion.run(files, step)
    if not encrypted:
        with show_progress("Vectors", ingestion.report.chunks) as step:
            credential = session.caller.principal.credential
            without = await fill_graph(session.store, graph.name, credential, step)
            ingestion.report.without_vector = without
    return ingestion.report


def _find(paths: list[Path]) -> FoundFiles:
    try:
        return find_files(paths)
    except FileNotFoundError as error:
        raise typer.BadParameter(f"{error} does not exist", param_hint="PATH") from None
    except ValueError as error:
        message = f"{error}: name the folder that contains both"
        raise typer.BadParameter(message, param_hint="PATH") from None


def _tell_refusals(report: IngestReport, left_out: Sequence[str]) -> None:
    refused = dict[str, list[str]]()
    for found, reason in report.refused:
        refused.setdefault(reason, []).append(found.name)
    for reason, names in refused.items():
        if len(names) == 1:
            write_message(f"{names[0]} was not stored: {reason}")
        else:
            files = f"{count(len(names), 'file')}, such as {names[0]}, were not stored"
            write_message(f"{files}: {reason}")
    if any(EXTRA in reason for _, reason in report.refused):
        write_message(f"To install {EXTRA}, run: {write_install_command('documents')}")
    if left_out:
        more = f" and {len(left_out) - _NAMED:,} more" if len(left_out) > _NAMED else ""
        write_message(
            f"Left out {count(len(left_out), 'file')}, a link or of another kind each: "
            f"{', '.join(left_out[:_NAMED])}{more}. To store one, name it as PATH"
        )
    if report.without_vector:
        tell_missing_vectors(report.without_vector)


def tell_missing_vectors(reason: str) -> None:
    """Say why new chunks have no vectors, and what this means."""
    write_message(
        f"New chunks have no vectors yet ({reason}). Until a server adds them, recall finds the "
        "chunks by their words"
    )


def _tell(graph: str, report: IngestReport, seconds: float) -> None:
    outcomes = ", ".join(f"{number:,} {name}" for name, number in report.counts.items()) or "none"
    rate = f"{report.chunks / seconds:,.0f} a second"
    chunks = (
        f" {count(report.chunks, 'chunk')} in {seconds:,.1f} s ({rate})." if report.chunks else ""
    )
    write_message(f"Files in {graph}: {outcomes}.{chunks}")


def _write_plain(graph: str, report: IngestReport, left_out: Sequence[str]) -> dict[str, object]:
    return {
        "graph": graph,
        **{name: report.counts[name] for name in ("added", "changed", "unchanged", "repeated")},
        "chunks": report.chunks,
        "left_out": len(left_out),
        "left_out_files": list(left_out),
        "refused": [{"file": found.name, "reason": reason} for found, reason in report.refused],
        "without_vector": report.without_vector,
    }


async def choose_graph(store: Store, caller: Caller, name: str | None) -> GraphPart:
    """Return the named graph, or else the home space if it is a graph, or the only writable graph.

    Raises ArgumentInvalid with the names of all writable graphs.
    """
    rows = await list_graphs(store.database, caller.principal.credential, sensitive=True)
    graphs = {row.name: row for row in rows if row.writable}
    if name is not None and name in graphs:
        return graphs[name]
    home = caller.principal.home_space
    if name is None and (len(graphs) == 1 or (home and home.name in graphs)):
        return graphs[home.name] if home and home.name in graphs else next(iter(graphs.values()))
    command = "run `textrawl space create documents --tier personal` for a new one"
    if not graphs:
        raise ArgumentInvalid(command, title="There is no graph to write to")
    title = "The graph is not clear" if name is None else f"There is no graph {name} to write to"
    fix = f"choose {join_choices(list(graphs))} as --graph, or {command}"
    raise ArgumentInvalid(fix, title=title)


def create_first_graph() -> None:
    """Create the graph `documents` if the embedded memory has no graph, and say so.

    The embedded memory is created too if it does not exist. A memory in DATABASE_URL is not
    changed, because its administrator decides about graphs. Raises MemoryNotEnabled, ReadOnly,
    StartRefused.
    """
    settings = read_settings()
    if not settings.enable_memory:
        raise MemoryNotEnabled
    require_writable(settings.read_only)
    if settings.database_url is not None or settings.space is not None:
        return

    async def run() -> bool:
        async with (
            open_login(settings, empty=True) as login,
            open_connection(login.conninfo, timeout=login.timeout) as database,
        ):
            return await create_graph(database)

    if run_foreground(run):
        write_message(f"Created the graph {FIRST_GRAPH}, which only you can read.")


document = typer.Typer(no_args_is_help=True)

Graph = Annotated[str, argument("GRAPH", "Name of a sensitive graph.", clean_name)]
_Document = Annotated[
    str, argument("DOCUMENT", "Name of the document as `list` shows it, its path or its id.")
]


@document.command(name="list")
def list_documents(graph: Graph, as_json: AsJson = False) -> None:
    """Show the documents of a sensitive graph."""
    found = _read(graph, EncryptedGraph.list_documents)
    columns = ("document", "characters", "chunks", "version", "stored")
    show_rows(found, columns, _list_cells, as_json=as_json, describe=_write_document)


def _list_cells(found: DecryptedDocument) -> list[str]:
    head, numbers = found.head, (found.head.size, found.head.chunks, found.version)
    return [head.label, *(f"{number:,}" for number in numbers), write_instant(found.stored_at, "")]


@document.command()
def show(graph: Graph, name: _Document, as_json: AsJson = False) -> None:
    """Write the text of a document. Piped output is the exact text, so it can become a file."""
    found = _read(graph, lambda one: one.find_document(name))
    if as_json:
        write_json(_write_document(found) | {"text": found.text})
    elif sys.stdout.isatty():
        write_line(found.text.removesuffix("\n"))
    else:
        sys.stdout.buffer.write(found.text.encode())
        sys.stdout.buffer.flush()


@document.command()
def forget(graph: Graph, name: _Document, yes: Yes = False) -> None:
    """Delete a document for good."""
    if not yes:
        confirm(f"Delete {name} from {graph} for good?", "deleted")
    change_memory(
        "textrawl document",
        None,
        lambda session: open_graph(session, graph).forget(name),
        homeless=True,
    )
    write_message(f"Deleted {name} from {graph}.")


def _read(graph: str, work: Callable[[EncryptedGraph], Awaitable[Result]]) -> Result:
    return read_memory("textrawl document", None, lambda session: work(open_graph(session, graph)))


def _write_document(found: DecryptedDocument) -> dict[str, object]:
    return {
        "id": str(found.id),
        "path": found.head.path,
        "label": found.head.label,
        "characters": found.head.size,
        "chunks": found.head.chunks,
        "version": found.version,
        "stored_at": found.stored_at.isoformat(),
        "modified_at": found.head.modified_at,
    }
