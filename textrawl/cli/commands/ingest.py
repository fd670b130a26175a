"""`textrawl ingest`: files added to a graph."""

import time
from pathlib import Path
from typing import Annotated

import typer

from textrawl.cli.console import count, write_json, write_message
from textrawl.cli.first_graph import FIRST_GRAPH, create_first_graph
from textrawl.cli.ingestion import Ingestion, Report, choose_graph
from textrawl.cli.inputs import AsJson
from textrawl.cli.memory_session import MemorySession, change_memory
from textrawl.cli.progress import show_progress
from textrawl.documents.folders import Findings, find_files
from textrawl.values.text import clean_name

_LONGEST_STATEMENT = 600.0  # seconds; a text of 5,000,000 characters takes half a minute

_Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH...",
        help="Files, and folders with their subfolders: text, Markdown, code, HTML and PDF.",
    ),
]
_Graph = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="GRAPH",
        parser=clean_name,
        help="Write to this graph; default: the home space if it is a graph, or the only graph. "
        "The first ingest on this machine creates the graph documents.",
    ),
]


def ingest(paths: _Paths, graph: _Graph = None, as_json: AsJson = False) -> None:
    """Add files to a graph, as sources that `recall` searches.

    Files that did not change are left out, so an interrupted ingest continues if you run it again.
    A file that changed becomes a new version of its source. HTML and PDF need textrawl[documents].
    Exit code 1: some files were refused.
    """
    findings = _find(paths)
    began = time.monotonic()
    if graph is None and create_first_graph():
        write_message(f"Created the graph {FIRST_GRAPH}, which only you can read.")

    async def work(session: MemorySession) -> tuple[str, Report]:
        chosen = await choose_graph(session.store, session.caller, graph)
        ingestion = Ingestion(session.store, session.caller, chosen)
        with show_progress("Files", len(findings.files)) as step:
            await ingestion.run(findings.files, step)
        with show_progress("Vectors", ingestion.report.chunks) as step:
            await ingestion.embed(step)
        return chosen, ingestion.report

    chosen, report = change_memory(
        "textrawl ingest", None, work, homeless=True, least_timeout=_LONGEST_STATEMENT
    )
    _tell_refusals(report, findings.left_out)
    if as_json:
        write_json(_write_plain(chosen, report, findings.left_out))
    else:
        _tell(chosen, report, time.monotonic() - began)
    if report.refused:
        raise typer.Exit(1)


def _find(paths: list[Path]) -> Findings:
    try:
        return find_files(paths)
    except FileNotFoundError as error:
        raise typer.BadParameter(f"{error} does not exist", param_hint="PATH") from None
    except ValueError as error:
        message = f"{error}: name the folder that contains both"
        raise typer.BadParameter(message, param_hint="PATH") from None


def _tell_refusals(report: Report, left_out: int) -> None:
    for found, reason in report.refused:
        write_message(f"{found.name} was not stored: {reason}")
    if left_out:
        write_message(
            f"{count(left_out, 'file')} of other kinds left out: to store one, name it as PATH"
        )
    if report.without_vector:
        write_message(
            f"New chunks have no vectors yet ({report.without_vector}). Until a server adds them, "
            "recall finds the chunks by their words"
        )


def _tell(graph: str, report: Report, seconds: float) -> None:
    outcomes = ", ".join(f"{number:,} {name}" for name, number in report.counts.items()) or "none"
    rate = f"{report.chunks / seconds:,.0f} a second"
    chunks = (
        f" {count(report.chunks, 'chunk')} in {seconds:,.1f} s ({rate})." if report.chunks else ""
    )
    write_message(f"Files in {graph}: {outcomes}.{chunks}")


def _write_plain(graph: str, report: Report, left_out: int) -> dict[str, object]:
    return {
        "graph": graph,
        **{name: report.counts[name] for name in ("added", "changed", "unchanged", "repeated")},
        "chunks": report.chunks,
        "left_out": left_out,
        "refused": [{"file": found.name, "reason": reason} for found, reason in report.refused],
        "without_vector": report.without_vector,
    }
