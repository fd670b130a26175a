"""`textrawl doctor`: a check of everything that a call needs, with a fix for each fault."""

from typing import Annotated

import typer
from rich.table import Table

from textrawl.cli.console import open_console, show_wait, write_json
from textrawl.cli.foreground import run_foreground
from textrawl.examination.examination import examine
from textrawl.examination.findings import Finding

_COLOURS = {"ok": "green", "note": "yellow", "broken": "bold red"}


def doctor(
    http: Annotated[
        bool,
        typer.Option(
            "--http", help="Check the settings for a server over HTTP. Its clients send tokens."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Check everything that a call needs, from settings to embeddings.

    The command says what to do about each fault. Its exit code is 1 if calls of a server with these
    settings would fail, or if the model of the memory's vectors is not on this machine. It creates
    and changes nothing: it rolls back the fact that it stores as a trial. An embedded Postgres that
    exists is started while the check runs.
    """
    with show_wait("Checking"):
        findings = run_foreground(lambda: examine(http=http))
    healthy = all(finding.verdict != "broken" for finding in findings)
    if as_json:
        write_json({"ok": healthy, "findings": [_write_plain(finding) for finding in findings]})
    else:
        open_console().print(_draw(findings))
    if not healthy:
        raise typer.Exit(1)


def _write_plain(finding: Finding) -> dict[str, str]:
    return {"name": finding.name, "verdict": finding.verdict, "told": finding.message}


def _draw(findings: list[Finding]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=6)
    table.add_column(style="bold")
    table.add_column()
    for finding in findings:
        colour = _COLOURS[finding.verdict]
        table.add_row(f"[{colour}]{finding.verdict}[/]", finding.name, finding.message)
    return table
