"""`textrawl document`: the documents of encrypted graphs, decrypted in this process."""

import sys
from typing import Annotated

import typer

from textrawl.cli.console import (
    confirm,
    draw_rows,
    open_console,
    write_instant,
    write_json,
    write_line,
    write_message,
)
from textrawl.cli.encrypted_graphs import change_graph, read_graph
from textrawl.cli.inputs import AsJson, Yes
from textrawl.memory.encrypted_documents import DecryptedDocument, EncryptedGraph
from textrawl.values.text import clean_name

document = typer.Typer(
    help="List, show and delete the documents of a sensitive graph.", no_args_is_help=True
)

Graph = Annotated[
    str, typer.Argument(metavar="GRAPH", parser=clean_name, help="Name of a sensitive graph.")
]
_Name = Annotated[
    str,
    typer.Argument(
        metavar="DOCUMENT", help="Name of the document as `list` shows it, its path or its id."
    ),
]


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
    """Write the text of a document. Piped output is the exact text, so it can become a file."""
    found = read_graph("textrawl document", graph, lambda one: one.find_document(name))
    if as_json:
        write_json(_write_plain(found) | {"text": found.text})
    elif sys.stdout.isatty():
        write_line(found.text.removesuffix("\n"))
    else:
        sys.stdout.buffer.write(found.text.encode())
        sys.stdout.buffer.flush()


@document.command()
def forget(graph: Graph, name: _Name, yes: Yes = False) -> None:
    """Delete a document for good."""
    if not yes:
        confirm(f"Delete {name} from {graph} for good?", "deleted")
    change_graph("textrawl document", graph, lambda encrypted: encrypted.forget(name))
    write_message(f"Deleted {name} from {graph}.")


def _write_plain(found: DecryptedDocument) -> dict[str, object]:
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
