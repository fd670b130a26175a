"""`textrawl document`: the documents of encrypted graphs, decrypted in this process."""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from textrawl.cli.administration import draw_rows, write_instant
from textrawl.cli.console import confirm, open_console, write_json, write_line, write_message
from textrawl.cli.inputs import AsJson
from textrawl.cli.memory_session import change_memory, read_memory
from textrawl.memory.commands import Session
from textrawl.memory.encrypted_documents import Document, EncryptedGraph
from textrawl.memory.key_files import KeyFiles
from textrawl.settings import read_settings
from textrawl.values.text import clean_name

Result = TypeVar("Result")

document = typer.Typer(
    help="List, show and delete the documents of a sensitive graph.", no_args_is_help=True
)

Graph = Annotated[
    str, typer.Argument(metavar="GRAPH", parser=clean_name, help="Name of a sensitive graph.")
]
_Name = Annotated[
    str, typer.Argument(metavar="DOCUMENT", help="Path or id of the document, as `list` shows it.")
]


def read_graph(
    command: str, graph: str, work: Callable[[EncryptedGraph], Awaitable[Result]]
) -> Result:
    """Run `work` on an encrypted graph that it only reads, and return its result.

    Raises the errors of `read_memory` and EncryptedGraph.
    """
    return read_memory(command, None, lambda session: work(open_graph(session, graph)))


def change_graph(
    command: str, graph: str, work: Callable[[EncryptedGraph], Awaitable[Result]]
) -> Result:
    """Run `work` on an encrypted graph, and return its result.

    Raises the errors of `change_memory` and EncryptedGraph.
    """
    return change_memory(
        command, None, lambda session: work(open_graph(session, graph)), homeless=True
    )


def open_graph(session: Session, graph: str) -> EncryptedGraph:
    """Return an encrypted graph with the keys of the settings."""
    files = KeyFiles(read_settings().encryption_key)
    return EncryptedGraph(session.store, session.caller, graph, files)


@document.command(name="list")
def list_documents(graph: Graph, as_json: AsJson = False) -> None:
    """Show the documents of a sensitive graph."""
    found = read_graph("textrawl document", graph, EncryptedGraph.list_documents)
    if as_json:
        write_json([_write_plain(one) for one in found])
        return
    columns = ("document", "characters", "chunks", "version", "stored")
    lines = [
        (
            one.head.label,
            f"{one.head.size:,}",
            f"{one.head.chunks:,}",
            f"{one.version:,}",
            write_instant(one.stored_at, ""),
        )
        for one in found
    ]
    open_console().print(draw_rows(columns, lines))


@document.command()
def show(graph: Graph, name: _Name, as_json: AsJson = False) -> None:
    """Write the text of a document."""
    found = read_graph("textrawl document", graph, lambda one: one.find_document(name))
    if as_json:
        write_json(_write_plain(found) | {"text": found.text})
    else:
        write_line(found.text.removesuffix("\n"))


@document.command()
def forget(
    graph: Graph,
    name: _Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a document for good."""
    if not yes:
        confirm(f"Delete {name} from {graph} for good?", "deleted")
    change_graph("textrawl document", graph, lambda encrypted: encrypted.forget(name))
    write_message(f"Deleted {name} from {graph}.")


def _write_plain(found: Document) -> dict[str, object]:
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
