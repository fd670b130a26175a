"""The commands `doctor`, `settings`, `trust` and `distrust`."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from textrawl.cli.console import (
    open_console,
    show_rows,
    show_wait,
    write_cell,
    write_json,
    write_message,
    write_row,
)
from textrawl.cli.foreground import run_foreground
from textrawl.cli.inputs import AsJson, argument, option
from textrawl.cli.places import Place, list_places
from textrawl.cli.questions import ask
from textrawl.doctor.checks import CheckResult, examine, record_errors
from textrawl.doctor.configuration import DEFAULT, describe_settings, list_settings
from textrawl.environment import distrust as drop_trust
from textrawl.environment import (
    find_user_file,
    is_setting,
    list_trusted,
    name_local_file,
    parse_file,
    read_local_file,
)
from textrawl.environment import trust as record_trust
from textrawl.memory.command_results import Access
from textrawl.settings import Settings, read_settings

_COLOURS = {"ok": "green", "note": "yellow", "broken": "bold red"}


def doctor(
    http: Annotated[
        bool,
        option("--http", "Check the settings for a server over HTTP. Its clients send tokens."),
    ] = False,
    places: Annotated[
        bool, option("--places", "Check nothing: list what lies where, and what removes it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check everything that a call needs, from settings to embeddings.

    The command says what to do about each fault. Its exit code is 1 if calls of a server with these
    settings would fail, or if the model of the memory's vectors is not on this machine. It creates
    and changes nothing: it rolls back the fact that it stores as a trial. An embedded Postgres that
    exists is started while the check runs. With TEXTRAWL_SERVER_URL, it checks only that server and
    what the token can do there.
    """
    if places:
        columns = ("what", "place", "there", "to remove it")
        show_rows(list_places(), columns, _list_cells, as_json=as_json, describe=Place._asdict)
        return
    with show_wait("Checking"):
        findings = run_foreground(lambda: examine(http=http))
    if not http and all(finding.verdict != "broken" for finding in findings):
        findings += _examine_server(read_settings())
    healthy = all(finding.verdict != "broken" for finding in findings)
    if as_json:
        told = [{"name": f.name, "verdict": f.verdict, "told": f.message} for f in findings]
        write_json({"ok": healthy, "findings": told})
    else:
        _show(findings)
    if not healthy:
        raise typer.Exit(1)


def _list_cells(place: Place) -> tuple[str, ...]:
    there = {True: "yes", False: "no", None: "elsewhere"}[place.exists]
    return (place.kind, place.place, there, place.removal)


def _examine_server(settings: Settings) -> list[CheckResult]:
    """Check that the server of SERVER_URL answers, and report what the token can do there."""
    findings: list[CheckResult] = []
    if settings.server_url is None:
        return findings
    with record_errors(findings, "server"):
        found = ask("identify", Access)
        message = f"{settings.server_url}: textrawl {found.version}"
        findings.append(CheckResult("server", "ok", message))
        rights = f"{', '.join(found.scopes)} in {found.home}" if found.home else "no home space"
        message = f"{found.actor} reads {', '.join(found.reads) or 'nothing'}; {rights}"
        findings.append(CheckResult("access", "ok", message))
    return findings


def _show(findings: list[CheckResult]) -> None:
    """Write the findings as a table in a terminal, and otherwise as lines."""
    console, table = open_console(), Table.grid(padding=(0, 2))
    table.add_column(width=6)
    table.add_column(style="bold")
    table.add_column()
    for finding in findings:
        cells = (finding.verdict, finding.name, finding.message)
        if not console.is_terminal:
            write_row(cells)
        verdict, *others = cells
        table.add_row(write_cell(verdict, _COLOURS[verdict]), *map(write_cell, others))
    if console.is_terminal:
        console.print(table)


def settings(
    example: Annotated[
        bool, option("--example", "Write a .env file with every setting and its description.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the current settings and where each value comes from.

    A setting is taken from the first of these places that has it: the environment, the file of
    --env-file, .env in the working directory, .env in the user's configuration folder. In the
    working directory only names that begin with TEXTRAWL_ are read, and only formats and sizes of
    answers if the folder is not trusted. Passwords, tokens and keys are not shown.
    """
    if example:
        sys.stdout.write(describe_settings())
        return
    rows = list_settings(read_settings())
    if as_json:
        write_json([row._asdict() for row in rows])
        return
    console = open_console()
    if not console.is_terminal:
        for row in rows:
            write_row(row)
        return
    table = Table.grid(padding=(0, 2))
    for name, value, source in rows:
        style = "dim" if source == DEFAULT else "bold"
        table.add_row(name, write_cell(value, style), source, style=style)
    console.print(table)


TrustedFolder = Annotated[Path, argument("[FOLDER]", "The folder; default: the working directory.")]


def trust(
    folder: TrustedFolder = Path(),
    listing: Annotated[
        bool, option("--list", "List the files that you trusted, and their state.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let the `.env` of a folder set all settings, until the file changes.

    Without this, textrawl takes only formats and sizes of answers from the `.env` of the working
    directory, because a repository that you cloned can contain this file. Read the file first. The
    states of `--list` are trusted, changed (the file is ignored again) and missing.
    """
    if listing:
        _list(as_json=as_json)
        return
    file = read_local_file(folder)
    names = sorted(filter(is_setting, parse_file(file).withheld))
    record_trust(find_user_file().parent, Path(file.label), file.content)
    if as_json:
        write_json({"file": file.label, "settings": names})
    taken = f" It now sets {', '.join(names)}." if names else ""
    write_message(f"{file.label} is trusted until it changes.{taken}")


def _list(*, as_json: bool) -> None:
    found = list_trusted(find_user_file().parent)
    if as_json:
        write_json([{"file": str(path), "state": state} for path, state in found])
        return
    for path, state in found:
        write_row((state, str(path)))


def distrust(folder: TrustedFolder = Path()) -> None:
    """Take back the trust in the `.env` of a folder.

    The folder does not need to exist any more.
    """
    file = name_local_file(folder)
    state = "no longer" if drop_trust(find_user_file().parent, file) else "not"
    write_message(f"{file} is {state} trusted.")
