"""Trial calls of `textrawl doctor`, which check access and the embedding model."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from textrawl.access.directory import Directory
from textrawl.access.principal import Caller, Principal
from textrawl.cli.findings import Finding, record_errors
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
    """Check that a server would answer its caller, and report what the caller may do.

    `person` is the author of the caller's facts, if that is not the actor of the login.
    """
    with record_errors(findings, "access"):
        async with _open_memory(conninfo, settings) as memory:
            principal = await Directory(memory.database).find(credential)
            if principal is None:
                raise NotAuthenticated(None if credential else _NO_CALLER)
            if settings.space is not None:
                principal = principal.pin(settings.space)
            principal.require("read")
            caller = Caller(principal, None, "doctor")
            await MemoryOperations(memory).search(Question(_TEXT, limit=1), caller)
            findings.append(Finding("access", "ok", _describe(principal, person)))


_NO_CALLER = (
    "A server over stdio has no caller: set TEXTRAWL_ACCESS_TOKEN to what `textrawl token create` "
    "printed. One over HTTP needs none, since clients bring theirs: `textrawl doctor --http`"
)


@asynccontextmanager
async def _open_memory(conninfo: str, settings: Settings) -> AsyncGenerator[Store]:
    """Open the memory as a server does, but without a model: try_model checks that one."""
    database = Database(conninfo, timeout=settings.database_timeout, max_size=1)
    await database.open()
    try:
        yield Store(database, Models(database, None, read_only=True))
    finally:
        await database.close()


async def try_issuer(
    conninfo: str, credential: bytes | None, settings: Settings, findings: list[Finding]
) -> None:
    """Check that a server over HTTP may vouch for tokens of its identity provider."""
    with record_errors(findings, "access"):
        async with _open_memory(conninfo, settings) as memory:
            principal = await Directory(memory.database).find(credential) if credential else None
            if principal is None:
                raise NotAuthenticated(
                    "With TEXTRAWL_OAUTH_ISSUER the server vouches for its tokens: set "
                    "TEXTRAWL_ACCESS_TOKEN to a valid one with the scope admin"
                )
            if not any("admin" in space.scopes for space in principal.spaces):
                raise ScopeMissing(
                    "admin", f"the TEXTRAWL_ACCESS_TOKEN of {principal.actor} has it in no space"
                )
            message = f"{principal.actor} vouches for tokens of {settings.oauth_issuer}"
            findings.append(Finding("access", "ok", message))


def _describe(principal: Principal, person: str | None) -> str:
    reads = ", ".join(space.name for space in principal.readable)
    home = principal.home_space
    if home is None:
        writes = "writes to the space that a call names"
    else:
        scopes = [scope for scope in ("write", "forget") if scope in home.scopes]
        writes = f"may {' and '.join(scopes)} in {home.name}" if scopes else "only reads"
    return f"{person or principal.actor} reads {reads}; {writes}"


async def try_model(active: str | None, settings: Settings, findings: list[Finding]) -> None:
    """Compute a vector with the active model or, in a memory without one, that of the settings.

    A fault is only a note: calls still work without vectors, except for a semantic search.
    """
    with record_errors(findings, "embeddings"):
        configured = choose_embedder(settings)  # if this raises, no server would start
        if configured is None:
            message = "none: search goes by keywords alone"
            findings.append(Finding("embeddings", "note", message))
            return
        await configured.aclose()
        try:
            findings.append(await _ask(settings, active or configured.name))
        except (EmbeddingUnavailable, StartRefused) as reason:
            message = f"{active or configured.name} cannot be asked: {reason}. {_WITHOUT_VECTORS}"
            findings.append(Finding("embeddings", "note", message))


_WITHOUT_VECTORS = "Until it can, search goes by keywords alone, and facts wait for their vectors"


async def _ask(settings: Settings, name: str) -> Finding:
    embedder = choose_named(settings, name)
    if embedder is None:
        raise StartRefused(f"no provider makes {name}")
    try:
        await embedder.warm()
        start = time.perf_counter()
        [vector] = await embedder.embed_documents([_TEXT])
        milliseconds = (time.perf_counter() - start) * 1000
    finally:
        await embedder.aclose()
    message = f"{embedder.name}: {len(vector)} dimensions, one text in {milliseconds:.1f} ms"
    return Finding("embeddings", "ok", message)
