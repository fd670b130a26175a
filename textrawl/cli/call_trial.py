"""A call, tried as far as it changes nothing: who may make it, where, and with which model."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from textrawl.access.directory import Directory
from textrawl.access.principal import Caller, Principal
from textrawl.cli.findings import Finding, noting
from textrawl.embeddings import choose_embedder
from textrawl.embeddings.active_model import Models, choose_named
from textrawl.errors import EmbeddingUnavailable, NotAuthenticated, ScopeMissing, StartRefused
from textrawl.postgres.database import Database
from textrawl.settings import Settings
from textrawl.store.store import Store
from textrawl.toolsets.memory.operations import MemoryOperations, Question

_TEXT = "textrawl doctor: is anybody there?"


async def try_call(
    conninfo: str,
    credential: bytes | None,
    settings: Settings,
    findings: list[Finding],
    *,
    person: str | None = None,
) -> None:
    """Find out whether a server would answer its own caller, and what else it would let them do.

    `person` is whose name the caller's facts get, where that is not the login's.
    """
    with noting(findings, "access"):
        async with _open_memory(conninfo, settings) as memory:
            principal = await Directory(memory.database).find(credential)
            if principal is None:
                raise NotAuthenticated(None if credential else _NOBODY)
            if settings.space is not None:
                principal = principal.pin(settings.space)
            principal.require("read")
            caller = Caller(principal, None, "doctor")
            await MemoryOperations(memory).search(Question(_TEXT, limit=1), caller)
            findings.append(Finding("access", "ok", _describe(principal, person)))


_NOBODY = (
    "A server over stdio has no caller: set TEXTRAWL_ACCESS_TOKEN to what `textrawl token create` "
    "printed. One over HTTP needs none, since clients bring theirs: `textrawl doctor --http`"
)


@asynccontextmanager
async def _open_memory(conninfo: str, settings: Settings) -> AsyncGenerator[Store]:
    """The memory as a server has it, but for the model, which is tried by itself."""
    database = Database(conninfo, timeout=settings.database_timeout, max_size=1)
    await database.open()
    try:
        yield Store(database, Models(database, None, read_only=True))
    finally:
        await database.close()


async def try_issuer(
    conninfo: str, credential: bytes | None, settings: Settings, findings: list[Finding]
) -> None:
    """Find out whether a server over HTTP may vouch for tokens of its identity provider."""
    with noting(findings, "access"):
        async with _open_memory(conninfo, settings) as memory:
            principal = await Directory(memory.database).find(credential) if credential else None
            if principal is None:
                raise NotAuthenticated(
                    "With TEXTRAWL_OAUTH_ISSUER the server vouches for its tokens: set "
                    "TEXTRAWL_ACCESS_TOKEN to a valid one with the scope admin"
                )
            if not any("admin" in space.scopes for space in principal.spaces):
                raise ScopeMissing(
                    "admin", f"TEXTRAWL_ACCESS_TOKEN of {principal.actor} has it nowhere"
                )
            told = f"{principal.actor} vouches for tokens of {settings.oauth_issuer}"
            findings.append(Finding("access", "ok", told))


def _describe(principal: Principal, person: str | None) -> str:
    reads = ", ".join(space.name for space in principal.readable)
    home = principal.home_space
    if home is None:
        writes = "writes where a call names the space"
    else:
        able = [scope for scope in ("write", "forget") if scope in home.scopes]
        writes = f"may {' and '.join(able)} in {home.name}" if able else "only reads"
    return f"{person or principal.actor} reads {reads}; {writes}"


async def try_model(active: str | None, settings: Settings, findings: list[Finding]) -> None:
    """Let the model in use make a vector; for a memory that has none yet the settings' one.

    Without vectors calls are answered all the same, but for a semantic search.
    """
    with noting(findings, "embeddings"):
        configured = choose_embedder(settings)  # where this is refused, no server starts
        if configured is None:
            told = "none: search goes by keywords alone"
            findings.append(Finding("embeddings", "note", told))
            return
        await configured.aclose()
        try:
            findings.append(await _ask(settings, active or configured.name))
        except (EmbeddingUnavailable, StartRefused) as reason:
            told = f"{active or configured.name} cannot be asked: {reason}. {_MEANWHILE}"
            findings.append(Finding("embeddings", "note", told))


_MEANWHILE = "Until it can, search goes by keywords alone, and facts wait for their vectors"


async def _ask(settings: Settings, name: str) -> Finding:
    embedder = choose_named(settings, name)
    if embedder is None:
        raise StartRefused(f"no provider makes {name}")
    try:
        await embedder.warm()
        began = time.perf_counter()
        [vector] = await embedder.embed_documents([_TEXT])
        spent = (time.perf_counter() - began) * 1000
    finally:
        await embedder.aclose()
    told = f"{embedder.name}: {len(vector)} dimensions, one text in {spent:.1f} ms"
    return Finding("embeddings", "ok", told)
