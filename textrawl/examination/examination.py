"""The checks of `textrawl doctor`. They change nothing, because a trial write is rolled back."""

import getpass
import os
from pathlib import Path

from rich.filesize import decimal

from textrawl.access.access_token import hash_token
from textrawl.embedded.cluster import run_embedded
from textrawl.embedded.configuration import APP, OWNER
from textrawl.embedded.state import State, read_state
from textrawl.errors import SchemaOutdated
from textrawl.examination.cluster_trial import try_cluster
from textrawl.examination.configuration import DEFAULT, list_settings
from textrawl.examination.findings import Finding, record_errors
from textrawl.examination.model_trial import try_model
from textrawl.examination.setting_mistakes import find_ignored
from textrawl.examination.standby_trial import try_standby
from textrawl.examination.trials import try_call, try_issuer, try_llm
from textrawl.postgres.inspection import (
    ActiveModel,
    Server,
    find_active_model,
    find_vector_indexes,
    inspect_server,
    require_expected_schema,
)
from textrawl.postgres.migrations import check, migrate
from textrawl.settings import Settings, read_settings
from textrawl.wire.token_counter import choose_counter


async def examine(*, http: bool) -> list[Finding]:
    """Check the settings, and what a server with these settings needs."""
    findings: list[Finding] = []
    with record_errors(findings, "settings"):
        settings = read_settings()
        findings.append(_describe_settings(settings))
        findings += await examine_memory(settings, http=http)
    return findings


async def examine_memory(settings: Settings, *, http: bool = False) -> list[Finding]:
    """Check what a server with `settings` needs. With `http`, its clients send tokens."""
    findings: list[Finding] = []
    with record_errors(findings, "settings"):
        findings += [Finding(".env", "note", line) for line in find_ignored()]
        if not settings.enable_memory:
            findings.append(
                Finding("memory", "note", "off: set TEXTRAWL_ENABLE_MEMORY=true to offer it")
            )
        active = await _examine_database(settings, findings, http=http)
        await try_model(active, settings, findings)
        await try_llm(settings, findings)
        findings.append(_examine_counter(settings))
    return findings


def _describe_settings(settings: Settings) -> Finding:
    rows = [row for row in list_settings(settings) if row.source != DEFAULT]
    lines = [f"{row.name}={row.value} ({row.source})" for row in rows]
    return Finding("settings", "ok", "\n".join([*lines, "all other settings have their defaults"]))


async def _examine_database(
    settings: Settings, findings: list[Finding], *, http: bool
) -> ActiveModel | None:
    """Check the database. Return its active model, or None if there is none or it is unknown."""
    token = settings.access_token
    credential = hash_token(token.get_secret_value()) if token is not None else None
    with record_errors(findings, "database"):
        if settings.database_url is not None:
            conninfo = settings.database_url.get_secret_value()
            usable = await _examine_server(conninfo, settings.database_timeout, findings)
            await try_cluster(conninfo, settings.database_timeout, findings)
            if not usable:
                return None
            if settings.database_read_url is not None:
                await try_standby(settings, findings)
            if not http:
                await try_call(conninfo, credential, settings, findings)
            elif settings.oauth_issuer is not None:
                await try_issuer(conninfo, credential, settings, findings)
            return await _examine_vectors(conninfo, settings.database_timeout, findings)
        return await _examine_embedded(credential, settings, findings)
    return None


async def _examine_embedded(
    credential: bytes | None, settings: Settings, findings: list[Finding]
) -> ActiveModel | None:
    state, timeout = read_state(settings.data_dir), settings.database_timeout
    findings.append(_examine_folder(settings.data_dir, state))
    if state.phase == "not initialised":
        return None
    async with run_embedded(settings.data_dir) as cluster:
        conninfo = cluster.dsn(APP)
        owner = cluster.dsn(OWNER)
        if not await _examine_server(conninfo, timeout, findings, owner=owner):
            return None
        # Without a token, a call is made as the user of this machine, with the owner's rights.
        login, person = (conninfo, None) if credential else (owner, getpass.getuser())
        await try_call(login, credential, settings, findings, person=person)
        return await _examine_vectors(conninfo, timeout, findings, embedded=True)


def _examine_folder(data_dir: Path, state: State) -> Finding:
    if state.phase != "not initialised":
        message = f"{data_dir}: {decimal(state.size)}, Postgres was {state.phase} before the check"
        return Finding("data folder", "ok", message)
    folder = next(path for path in (data_dir, *data_dir.parents) if path.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        fault = "cannot be written" if folder.is_dir() else "is not a folder"
        fix = "set TEXTRAWL_DATA_DIR to a writable folder, or set TEXTRAWL_DATABASE_URL"
        return Finding("data folder", "broken", f"{folder} {fault}: {fix}")
    message = f"{data_dir}: no database yet; the first `textrawl serve` creates it"
    return Finding("data folder", "note", message)


async def _examine_server(
    conninfo: str, timeout: float, findings: list[Finding], *, owner: str | None = None
) -> bool:
    """Return True if the schema is up to date and a server may use this login.

    `owner` is the owner's conninfo if the Postgres is embedded.
    """
    server = await inspect_server(conninfo, timeout=timeout)
    route = ", through a pooler" if server.pooled else ""
    findings.append(Finding("database", "ok", f"PostgreSQL {server.postgres}{route}"))
    findings.append(judge_extension(server))
    with record_errors(findings, "schema"):
        try:
            await check(conninfo, connect_timeout=timeout, serving=False)
            await require_expected_schema(conninfo, timeout=timeout)
        except SchemaOutdated as outdated:
            if owner is None:
                raise
            # A start would migrate it, so find out whether this works.
            await migrate(owner, rehearse=True)
            message = f"{outdated}, or start a server, which does the same"
            findings.append(Finding("schema", "note", message))
            return False
        findings.append(Finding("schema", "ok", "up to date"))
        with record_errors(findings, "login"):
            await check(conninfo, connect_timeout=timeout)
            findings.append(Finding("login", "ok", f"{server.login}, which a server can use"))
            return True
    return False


async def _examine_vectors(
    conninfo: str, timeout: float, findings: list[Finding], *, embedded: bool = False
) -> ActiveModel | None:
    active = await find_active_model(conninfo, timeout=timeout)
    message = f"{active.name}; `textrawl embed` changes it" if active else "no vectors yet"
    findings.append(Finding("model", "ok", message))
    indexes = await find_vector_indexes(conninfo, timeout=timeout)
    if active or indexes:
        findings.append(judge_indexes(indexes, embedded=embedded))
    return active


def judge_indexes(indexes: dict[str, str], *, embedded: bool) -> Finding:
    """Return a note if vector indexes are missing. Searches without an index work, but slowly."""
    faults = [f"{name} is {state}" for name, state in indexes.items() if state != "ready"]
    if not faults:
        return Finding("vector indexes", "ok", ", ".join(indexes))
    fix = "a server starts one within a minute" if embedded else "run `textrawl migrate`"
    message = f"{', '.join(faults)}. If no build is running, {fix}"
    return Finding("vector indexes", "note", message)


def judge_extension(server: Server) -> Finding:
    """Return a finding about pgvector. `textrawl migrate` refuses a version that is too old."""
    if server.pgvector is not None:
        return Finding("pgvector", "ok", server.pgvector)
    if server.offered is not None:
        fix = "run `create extension vector` in this database as a superuser"
        return Finding("pgvector", "broken", f"{server.offered} is installed but not active: {fix}")
    return Finding("pgvector", "broken", "missing: install 0.8 or newer on the database server")


def _examine_counter(settings: Settings) -> Finding:
    counter = choose_counter()
    if counter.exact:
        return Finding("tokens", "ok", f"counted exactly, {counter.name}")
    message = f"counted by {counter.name}. The number can be too high, but never too low"
    return Finding("tokens", "note", message)
