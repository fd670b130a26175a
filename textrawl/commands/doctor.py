"""`textrawl doctor`: what works, what does not, and what to do about it."""

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer
from psycopg import OperationalError
from rich.filesize import decimal
from rich.table import Table

from textrawl.commands.console import open_console, show_wait, write_json
from textrawl.commands.foreground import run_foreground
from textrawl.commands.inspection import ActiveModel, Server, find_active_model, inspect_server
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.configuration import APP
from textrawl.embedded.state import State, read_state
from textrawl.embeddings import choose_embedder
from textrawl.errors import SchemaOutdated, StartRefused, TextrawlError
from textrawl.migrations import check
from textrawl.settings import Settings, read_settings
from textrawl.tokens import choose_counter

_COLOURS = {"ok": "green", "note": "yellow", "broken": "bold red"}


@dataclass(frozen=True)
class Finding:
    """One thing looked at; `broken` ones keep the server from working, and say what to do."""

    name: str
    verdict: Literal["ok", "note", "broken"]
    told: str


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Check settings, database, embeddings and token counting, and say what to do.

    Exits with 1 if something is broken. Makes and changes nothing; an embedded Postgres that
    exists is started for as long as the check takes.
    """
    with show_wait("Looking"):
        findings = run_foreground(_examine)
    healthy = all(finding.verdict != "broken" for finding in findings)
    if as_json:
        write_json({"ok": healthy, "findings": [asdict(finding) for finding in findings]})
    else:
        open_console().print(_draw(findings))
    if not healthy:
        raise typer.Exit(1)


def _draw(findings: list[Finding]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=6)
    table.add_column(style="bold")
    table.add_column()
    for finding in findings:
        colour = _COLOURS[finding.verdict]
        table.add_row(f"[{colour}]{finding.verdict}[/]", finding.name, finding.told)
    return table


async def _examine() -> list[Finding]:
    findings: list[Finding] = []
    with _noting(findings, "settings"):
        settings = read_settings()
        findings.append(Finding("settings", "ok", "every one can be used"))
        if not settings.enable_memory:
            findings.append(Finding("memory", "note", "off: set ENABLE_MEMORY=true to offer it"))
        await _examine_database(settings, findings)
        await _examine_embedder(settings, findings)
        findings.append(_examine_counter(settings))
    return findings


@contextmanager
def _noting(findings: list[Finding], name: str) -> Generator[None]:
    """Turns an expected error into a finding."""
    try:
        yield
    except (StartRefused, TextrawlError) as error:
        cause = error.__cause__
        more = f" ({str(cause).splitlines()[0]})" if isinstance(cause, OperationalError) else ""
        findings.append(Finding(name, "broken", f"{error}{more}"))


async def _examine_database(settings: Settings, findings: list[Finding]) -> None:
    with _noting(findings, "database"):
        if settings.database_url is not None:
            conninfo = settings.database_url.get_secret_value()
            await _examine_server(conninfo, settings.database_timeout, findings)
            return
        state = read_state(settings.data_dir)
        findings.append(_examine_folder(settings.data_dir, state))
        if state.phase != "not initialised":
            async with run_embedded(settings.data_dir) as cluster:
                await _examine_server(
                    cluster.dsn(APP), settings.database_timeout, findings, mends_itself=True
                )


def _examine_folder(data_dir: Path, state: State) -> Finding:
    if state.phase != "not initialised":
        return Finding("data folder", "ok", f"{data_dir}: {decimal(state.size)}, was {state.phase}")
    there = next(path for path in (data_dir, *data_dir.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        fault = "cannot be written" if there.is_dir() else "is no folder"
        fix = f"{there} {fault}: set DATA_DIR to one that can be written, or DATABASE_URL"
        return Finding("data folder", "broken", fix)
    told = f"{data_dir}: no database yet, the first `textrawl serve` makes it"
    return Finding("data folder", "note", told)


async def _examine_server(
    conninfo: str, timeout: float, findings: list[Finding], *, mends_itself: bool = False
) -> None:
    server = await inspect_server(conninfo, timeout=timeout)
    findings.append(Finding("database", "ok", f"PostgreSQL {server.postgres}"))
    findings.append(judge_extension(server))
    with _noting(findings, "schema"):
        try:
            await check(conninfo, connect_timeout=timeout)
        except SchemaOutdated as outdated:
            if not mends_itself:
                raise
            told = f"{outdated}, or leave it to the next start"
            findings.append(Finding("schema", "note", told))
            return
        findings.append(Finding("schema", "ok", "up to date"))
        active = await find_active_model(conninfo, timeout=timeout)
        findings += _judge_model(active, mends_itself=mends_itself)


def _judge_model(active: ActiveModel | None, *, mends_itself: bool) -> list[Finding]:
    if active is None:
        return [Finding("model", "ok", "no vectors yet")]
    model = Finding("model", "ok", f"{active.name}; `textrawl embed` changes it")
    if active.indexed:
        return [model, Finding("index", "ok", "of all vectors")]
    told = "missing or half built, searches are slower and as right: " + (
        "a server that runs builds it"
        if mends_itself
        else "unless an import is under way, run `textrawl migrate` as the database's owner"
    )
    return [model, Finding("index", "note", told)]


def judge_extension(server: Server) -> Finding:
    """Whether pgvector is there; if it is too old, checking the schema says so."""
    if server.pgvector is not None:
        return Finding("pgvector", "ok", server.pgvector)
    if server.offered is not None:
        fix = "run `create extension vector` in this database as a superuser"
        return Finding("pgvector", "broken", f"{server.offered} is installed but not in use: {fix}")
    return Finding("pgvector", "broken", "missing: install 0.8 or newer on the database server")


async def _examine_embedder(settings: Settings, findings: list[Finding]) -> None:
    with _noting(findings, "embeddings"):
        embedder = choose_embedder(settings)
        if embedder is None:
            told = "none: search goes by keywords alone"
            findings.append(Finding("embeddings", "note", told))
            return
        try:
            await embedder.warm()
            began = time.perf_counter()
            [vector] = await embedder.embed_documents(["textrawl doctor: is anybody there?"])
            spent = (time.perf_counter() - began) * 1000
        finally:
            await embedder.aclose()
        told = f"{embedder.name}: {len(vector)} dimensions, one text in {spent:.1f} ms"
        findings.append(Finding("embeddings", "ok", told))


def _examine_counter(settings: Settings) -> Finding:
    counter = choose_counter(settings.tokenizer)
    if counter.exact:
        return Finding("tokens", "ok", f"counted exactly, {counter.name}")
    return Finding("tokens", "note", f"counted as {counter.name}, which is never too few")
