"""Trial calls of `textrawl doctor`, which check access and the LLM."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from textrawl.access.directory import Directory
from textrawl.access.principal import WRITES_OR_PROPOSES, Caller, Principal
from textrawl.distribution.opening import asks_cells, open_connection
from textrawl.embeddings.active_model import Models
from textrawl.errors import (
    LlmFailed,
    NotAuthenticated,
    ScopeMissing,
)
from textrawl.examination.findings import Finding, record_errors
from textrawl.llm import Prompt, choose_llm
from textrawl.postgres.inspection import rehearse
from textrawl.settings import Settings
from textrawl.store.store import Store
from textrawl.toolsets.memory.operations import MemoryOperations, Question

_TEXT = "textrawl doctor: is anybody there?"
_NAME = "textrawl doctor"  # an entity that exists only within the trial


async def try_call(
    conninfo: str,
    credential: bytes | None,
    settings: Settings,
    findings: list[Finding],
    *,
    person: str | None = None,
) -> None:
    """Check that a server would answer a call, and report what the caller can read and write.

    `person` is the author of the caller's facts, or None if the author is the caller's actor.
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
            if not settings.read_only:
                await _try_write(memory, caller, findings)


async def _try_write(memory: Store, caller: Caller, findings: list[Finding]) -> None:
    """Store a fact as remember_fact does, and roll it back."""
    home = caller.principal.home_space
    if home is None or not home.scopes & {*WRITES_OR_PROPOSES} or home.tier is not None:
        return
    if await asks_cells(memory.database):
        return  # `try_cluster` checks the workers, and their cells cannot be rolled back from here
    with record_errors(findings, "write"):
        fact = {"entity": _NAME, "type": "concept", "observation": _TEXT}
        await rehearse(memory.database, "remember_fact", **fact, **caller.writing)
        message = f"a fact was stored in {home.name} and rolled back"
        findings.append(Finding("write", "ok", message))


_NO_CALLER = (
    "A server over stdio needs an access token: set TEXTRAWL_ACCESS_TOKEN to a token that "
    "`textrawl token create` made. For a server over HTTP, whose clients send their own tokens, "
    "run `textrawl doctor --http`"
)


@asynccontextmanager
async def _open_memory(conninfo: str, settings: Settings) -> AsyncGenerator[Store]:
    """Open the memory as a server does, but without the model, which `try_model` checks."""
    async with open_connection(conninfo, timeout=settings.database_timeout) as database:
        yield Store(database, Models(database, None, read_only=True))


async def try_issuer(
    conninfo: str, credential: bytes | None, settings: Settings, findings: list[Finding]
) -> None:
    """Check that a server over HTTP can accept tokens of its identity provider."""
    with record_errors(findings, "access"):
        async with _open_memory(conninfo, settings) as memory:
            principal = await Directory(memory.database).find(credential) if credential else None
            if principal is None:
                raise NotAuthenticated(
                    "With TEXTRAWL_OAUTH_ISSUER the server needs an access token of its own: set "
                    "TEXTRAWL_ACCESS_TOKEN to a valid token with the scope admin"
                )
            if not any("admin" in space.scopes for space in principal.spaces):
                raise ScopeMissing(
                    "admin",
                    f"the TEXTRAWL_ACCESS_TOKEN of {principal.actor} does not have it in any space",
                )
            message = f"{principal.actor} can register tokens of {settings.oauth_issuer}"
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


async def try_llm(settings: Settings, findings: list[Finding]) -> None:
    """Ask the LLM for one word, if the settings name an LLM.

    A fault is only a note, because only consolidation and extraction need the LLM.
    """
    with record_errors(findings, "llm"):
        llm = choose_llm(settings)  # if this raises, servers do not start either
        if llm is None:
            return
        start = time.perf_counter()
        try:
            await llm.complete_text(_PROMPT)
        except LlmFailed as failure:
            findings.append(Finding("llm", "note", f"{failure}. {_WITHOUT_LLM}"))
        else:
            seconds = time.perf_counter() - start
            findings.append(Finding("llm", "ok", f"{llm.name}: an answer in {seconds:.1f} s"))
        finally:
            await llm.aclose()


_PROMPT = Prompt("You check a connection. Answer with one word.", "Are you there?", max_tokens=500)
_WITHOUT_LLM = "Until it works, the journal is not consolidated, and nothing is extracted"
